package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/webhook"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// checkOutside checks the external resources to which a configuration refers: the agents'
// folders and the webhooks' secrets.
func checkOutside(f *config.File) error {
	if err := f.CheckFolders(); err != nil {
		return err
	}
	_, err := f.Hooks(os.Getenv)
	return err
}

// A hookService posts the events of a daemon to webhooks. Its errors are logged and shown in
// the status, and do not affect agents.
type hookService struct {
	*webhook.Service
	log     *slog.Logger
	tell    func(notice.Fact) // tells the lead
	trouble word
	on      atomic.Bool // the configuration has webhooks

	cancel context.CancelFunc
	ended  sync.WaitGroup
}

// newHookService creates the service. The caller must set the field tell before it calls
// begin. The announcer determines the IRC channel that shows a result.
func newHookService(p *project, store *dropbox.Store, announcer *ircAnnouncer, log *slog.Logger) (*hookService, error) {
	tokens, err := p.home.Tokens(dropbox.Swarm)
	if err != nil {
		return nil, err
	}
	s := &hookService{log: log}
	s.on.Store(len(p.file.Webhooks) > 0)
	s.Service, err = webhook.New(webhook.Options{
		Store: store, Home: p.home.Dir(), Project: filepath.Base(p.file.Dir), Token: tokens[dropbox.Swarm], Log: log,
		Secrets: p.home.Secrets(), Lost: s.lost, Notice: func(ev journal.Event) journal.Notice { return noticeOf(announcer.section.Load(), ev) },
	})
	return s, err
}

// listener returns the listener for events. It is off without webhooks, so that a webhook
// added by a reload gets only the events after the reload.
func (s *hookService) listener() notice.Listener {
	return notice.Listener{Name: "webhooks", Behind: "webhooks miss events", Hear: s.Hear, Acts: webhook.IsPosted, On: s.on.Load}
}

// lost tells the lead that a webhook has given up on an event. After a call, the service
// calls it again only if the receiver has accepted another event in the meantime.
func (s *hookService) lost(hook, why string) {
	s.tell(notice.WebhookFails{Hook: hook, Why: why, At: time.Now()})
}

// follow applies the webhooks of a configuration.
func (s *hookService) follow(f *config.File) error {
	hooks, err := f.Hooks(os.Getenv)
	if err != nil {
		return err
	}
	s.on.Store(len(hooks) > 0)
	return s.Set(hooks)
}

// begin starts the service. Call stop to stop it.
func (s *hookService) begin(ctx context.Context, f *config.File) error {
	if err := s.follow(f); err != nil {
		return err
	}
	ctx, s.cancel = context.WithCancel(ctx)
	s.ended.Go(func() { // stop waits for this goroutine
		keepRunning(ctx, s.log, "webhooks", &s.trouble, s.Run)
	})
	return nil
}

// drain waits until the service has posted the events of the last turns, or until
// lastWords has passed.
func (s *hookService) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	s.Drain(ctx)
}

// stop stops the service and waits until it has stopped.
func (s *hookService) stop() {
	s.cancel()
	s.ended.Wait()
}

// problems returns the webhook problems that the status shows.
func (s *hookService) problems(now time.Time) (list []swarm.Problem) {
	if what := s.trouble.get(); what != "" {
		list = append(list, swarm.Problem{Why: what})
	}
	for _, f := range s.Failures() {
		list = append(list, swarm.Problem{
			Why:  fmt.Sprintf("webhook %s has been failing since %s: %s", f.Hook, screen.Clock(f.Since, now), f.Why),
			Next: "claude-swarm webhooks test " + f.Hook,
		})
	}
	return list
}
