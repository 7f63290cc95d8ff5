package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/internal/webhook"
)

func webhooksCommand() *cli.Command {
	return &cli.Command{
		Name: "webhooks", Category: groupDaemon,
		Usage: "list the webhooks, or test them",
		Description: `Lists the webhooks in the configuration: what they post, when their receiver
last accepted an event, how many are waiting, and how many were given up. The
latter are kept: claude-swarm dead list hooks.

docs/webhooks.md describes what is posted and how a receiver checks it.` +
			examples("claude-swarm webhooks", "claude-swarm webhooks --json"),
		Flags:  []cli.Flag{jsonFlag()},
		Action: withPost(webhooksList), // without a subcommand, it lists the webhooks
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list them",
				Description: `Lists the webhooks, as claude-swarm webhooks does.` + examples("claude-swarm webhooks list"),
				Flags:       []cli.Flag{jsonFlag()}, Action: withPost(webhooksList),
			},
			{
				Name: "test", Usage: "post a test event now, and print the answer", ArgsUsage: "NAME",
				Description: `Posts one event of the type test, once, and prints what the receiver answered.
The exit status is 1 if it did not accept the event. It needs no daemon, and
reads secrets from the environment of this shell. Only you may do this, not an
agent.` +
					examples("claude-swarm webhooks test ops"),
				Flags: []cli.Flag{jsonFlag()}, Action: withPost(webhooksTest),
			},
		},
	}
}

// noWebhooks is the hint for a configuration without webhooks.
const noWebhooks = `webhooks: [{name: ops, url: "https://example.com/hooks"}]   in claude-swarm.yaml; see docs/webhooks.md`

func webhooksList(c *cli.Context, p *post) error {
	if err := noArguments(c); err != nil {
		return err
	}
	list, err := view.Webhooks(p.file, p.home.Dir(), p.Store)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V        int            `json:"v"`
			Webhooks []view.Webhook `json:"webhooks"`
		}{1, list})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintf(c.App.Writer, "no webhooks   next: %s\n", noWebhooks)
		return err
	}
	t, now := table{width: screenWidth(c.App.Writer)}, time.Now()
	t.add("NAME", "KIND", "WAITING", "DEAD", "LAST", "EVENTS")
	for _, w := range list {
		t.add(w.Name, w.Kind, number(w.Waiting), number(w.Dead), lastTry(w, now), strings.Join(w.Events, " "))
		if w.FailingSince != nil {
			t.last().below = append(t.last().below, tableLine{text: fmt.Sprintf("has been failing since %s: %s", screen.Clock(*w.FailingSince, now), screen.OneLine(w.Last.Why)), whole: true})
		}
		if text := triesAgain(w, now); text != "" {
			t.last().below = append(t.last().below, tableLine{text: text, whole: true})
		}
		if w.Next != "" {
			t.last().below = append(t.last().below, tableLine{text: "next: " + w.Next, whole: true})
		}
	}
	t.write(c.App.Writer, nil)
	return nil
}

// triesAgain says when failed events will be sent again, or returns "" if no event has
// failed.
func triesAgain(w view.Webhook, now time.Time) string {
	switch {
	case w.NextTry == nil:
		return ""
	case w.NextTry.After(now):
		return fmt.Sprintf("tries again at %s; once an event is accepted, the others follow", screen.Ahead(*w.NextTry, now))
	}
	return "tries again now, if a daemon is running"
}

// lastTry briefly describes the outcome of a webhook's last attempt.
func lastTry(w view.Webhook, now time.Time) string {
	switch {
	case w.Last == nil:
		return "never"
	case w.Last.Why == "":
		return "ok " + screen.Clock(w.Last.At, now)
	case w.Last.Status > 0:
		return fmt.Sprintf("%d %s", w.Last.Status, screen.Clock(w.Last.At, now))
	}
	return "failed " + screen.Clock(w.Last.At, now)
}

func webhooksTest(c *cli.Context, p *post) error {
	names := webhookNames(p.file)
	if c.NArg() != 1 {
		return usagef("claude-swarm webhooks test "+append(names, "ops")[0], "webhooks test: name one webhook")
	}
	name := c.Args().First()
	if len(names) == 0 {
		return fail(exitUnknown, noWebhooks, "there are no webhooks")
	}
	if !slices.Contains(names, name) {
		return unknownWebhook(name, names)
	}
	hooks, err := p.file.Hooks(os.Getenv)
	i := slices.IndexFunc(hooks, func(h webhook.Hook) bool { return h.Name == name })
	if i < 0 {
		return badConfig(onlyAbout(err, name))
	}
	body := webhook.TestPayload(name, filepath.Base(p.file.Dir), time.Now()).JSON()
	a := webhook.NewPoster(hooks[i], webhook.PosterOptions{}).Post(c.Context, "msg_test_"+dropbox.NewID(), body)
	if err := c.Context.Err(); errors.Is(err, context.Canceled) {
		return err
	}
	if c.Bool("json") {
		err := printJSON(c.App.Writer, struct {
			V      int    `json:"v"`
			Name   string `json:"name"`
			Taken  bool   `json:"taken"`
			Status int    `json:"status"` // HTTP status; 0 means no response
			MS     int64  `json:"ms"`
			Why    string `json:"why"` // why the receiver did not accept the event
		}{1, name, a.Taken(), a.Status, a.Took.Milliseconds(), a.Why})
		if err != nil {
			return err
		}
	} else if a.Taken() {
		if _, err := fmt.Fprintf(c.App.Writer, "%s accepted it: %d %s, in %s\n", name, a.Status, http.StatusText(a.Status), screen.Span(a.Took)); err != nil {
			return err
		}
		return sayWaiting(c, p, name)
	}
	if !a.Taken() {
		return fail(exitFailed, whatHelps(a), "webhook %s: %s", name, a.Why)
	}
	return nil
}

// sayWaiting prints when the failed events that are still waiting will be sent again. It
// is called after a successful test.
func sayWaiting(c *cli.Context, p *post, name string) error {
	list, err := view.Webhooks(p.file, p.home.Dir(), p.Store)
	i := slices.IndexFunc(list, func(w view.Webhook) bool { return w.Name == name })
	if err != nil || i < 0 || list[i].NextTry == nil {
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s: %s\n", screen.Count(list[i].Waiting, "event")+" waiting", triesAgain(list[i], time.Now()))
	return err
}

// whatHelps returns the hint for a failed attempt.
func whatHelps(a webhook.Answer) string {
	switch {
	case strings.Contains(a.Why, "private: true"):
		return "private: true for this webhook in claude-swarm.yaml, if its receiver is in your network"
	case a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden:
		return "check the webhook's secret and address in claude-swarm.yaml"
	case a.Status == http.StatusTooManyRequests:
		return "wait a while, then try again; the daemon obeys Retry-After on its own"
	case a.Status >= 500:
		return "read the receiver's log: the request reached it"
	case a.Status >= 300 && a.Status < 500:
		return "check the webhook's address in claude-swarm.yaml"
	}
	return "check that the receiver is running and can be reached from this machine"
}

// onlyAbout returns only the configuration errors that are about the named webhook.
func onlyAbout(err error, name string) error {
	errs, ok := errors.AsType[config.Errors](err)
	if !ok {
		return err
	}
	return slices.DeleteFunc(slices.Clone(errs), func(e *config.Error) bool { return !strings.Contains(e.Problem, "webhook "+name+":") })
}

func webhookNames(f *config.File) (names []string) {
	for _, w := range f.Webhooks {
		names = append(names, w.Name)
	}
	return names
}

func unknownWebhook(name string, names []string) error {
	near := dropbox.Nearest(name, names)
	if len(near) == 0 {
		return fail(exitUnknown, "claude-swarm webhooks", "no webhook named %q in claude-swarm.yaml", name)
	}
	return fail(exitUnknown, "claude-swarm webhooks test "+near[0], "no webhook named %q in claude-swarm.yaml; did you mean %s?", name, strings.Join(near, " or "))
}

// webhooks offers the names of the webhooks as completions.
func (f *finder) webhooks() {
	p, err := loadProject(f.c)
	if err != nil {
		return
	}
	for _, w := range p.file.Webhooks {
		f.offer(w.Name, w.Kind)
	}
}
