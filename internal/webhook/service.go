package webhook

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Options are the options of a [Service]. All fields except the last five are required.
type Options struct {
	Store   *dropbox.Store
	Home    string // the daemon's folder, which contains the state file
	Project string // the name of the project's folder, for the payloads
	Token   string // the daemon's token, which proves that the daemon wrote a message in the mailbox
	Log     *slog.Logger

	Secrets *tokens.Source // the agents' tokens, which are removed from payloads
	// Notice returns the notice of an event, in the form that is shown to people. It is
	// called only for events that have a notice. If Notice is nil, the event's notice is
	// used unchanged.
	Notice func(journal.Event) journal.Notice
	// Lost is called for the first message that a webhook loses, and again for the first
	// message that it loses after its receiver has accepted one. It is also called for every
	// message that is given up after a panic. It must not block.
	Lost  func(hook, why string)
	Waits []time.Duration // the waits between the attempts to post a message; nil means [DefaultWaits]
	Post  PosterOptions
}

// These are the keys in log entries.
const (
	keyHook    = "webhook"
	keyMessage = "message"
	keyErr     = "err"
	keyWhy     = "why"
)

// A Service puts events into the webhooks' mailbox and posts them from there. Its methods
// are safe for concurrent use.
type Service struct {
	o    Options
	wake chan struct{} // has a buffer for one wake

	mu    sync.Mutex
	hooks []Hook
	state State
	busy  int // number of running attempts, including the disk steps that follow them
}

// New creates a Service. The Service posts nothing until [Service.Run] is called.
func New(o Options) (*Service, error) {
	if o.Waits == nil {
		o.Waits = DefaultWaits()
	}
	if o.Notice == nil {
		o.Notice = func(ev journal.Event) journal.Notice { return *ev.Notice }
	}
	if o.Lost == nil {
		o.Lost = func(string, string) {}
	}
	state, err := ReadState(o.Home)
	if err != nil {
		return nil, err
	}
	return &Service{o: o, wake: make(chan struct{}, 1), state: state}, nil
}

// Set replaces the webhooks. An attempt that is already running keeps using the old
// webhook until it ends. An error means that the mailbox cannot be created.
func (s *Service) Set(hooks []Hook) error {
	var err error
	if len(hooks) > 0 {
		err = s.o.Store.MakeMailbox(dropbox.Hooks)
	}
	s.mu.Lock()
	s.hooks = slices.Clone(hooks)
	for name := range s.state.Hooks {
		if _, ok := s.hookLocked(name); !ok {
			delete(s.state.Hooks, name)
		}
	}
	s.mu.Unlock()
	s.Wake()
	return err
}

// Wake makes the service check its mailbox.
func (s *Service) Wake() {
	select {
	case s.wake <- struct{}{}:
	default: // a wake is already pending
	}
}

func (s *Service) hook(name string) (Hook, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hookLocked(name)
}

func (s *Service) hookLocked(name string) (Hook, bool) {
	i := slices.IndexFunc(s.hooks, func(h Hook) bool { return h.Name == name })
	if i < 0 {
		return Hook{}, false
	}
	return s.hooks[i], true
}

// A Failure is a webhook that is not working.
type Failure struct {
	Hook  string
	Since time.Time
	Why   string
}

// failing is the number of consecutive attempts that must fail before people see the
// failure. A single failure may mean only that the receiver is restarting.
const failing = 2

// Failures returns the webhooks that are not working, in the order in which the
// configuration lists them.
func (s *Service) Failures() (list []Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.hooks {
		if stand := s.state.Hooks[h.Name]; stand.Failed >= failing {
			list = append(list, Failure{h.Name, stand.Since, stand.Why})
		}
	}
	return list
}

// Drain waits until each working webhook has tried to post all of its messages, or until
// ctx is done.
func (s *Service) Drain(ctx context.Context) {
	box, err := s.o.Store.Mailbox(dropbox.Hooks)
	if err != nil {
		return // without a mailbox, there are no messages
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	names := map[string]string{}
	for s.due(box, names, time.Now()) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// due reports whether an attempt is running, or whether a working webhook has a message that
// it has not tried to post yet. names contains the webhooks of messages, as in [Service.hookOf].
func (s *Service) due(box *dropbox.Mailbox, names map[string]string, now time.Time) bool {
	entries, _ := box.Peek()
	s.mu.Lock()
	busy, works := s.busy > 0, map[string]bool{}
	for _, h := range s.hooks {
		stand := s.state.Hooks[h.Name]
		works[h.Name] = stand.Failed == 0 && !now.Before(stand.Rest)
	}
	s.mu.Unlock()
	return busy || slices.ContainsFunc(entries, func(e dropbox.Entry) bool {
		if e.Failed > 0 {
			return false
		}
		name, err := s.hookOf(box, names, e)
		return err == nil && works[name]
	})
}

// settled records the outcome of an attempt. It returns the reason if the message is the
// first one that the webhook has lost since its receiver last accepted one, and otherwise "".
func (s *Service) settled(h Hook, e dropbox.Entry, p Payload, a Answer, lost bool, now time.Time) (tell string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.hookLocked(h.Name); !ok {
		return "" // the webhook is no longer in the configuration
	}
	stand := s.state.Hooks[h.Name]
	stand.Status, stand.Why, stand.Event, stand.At = a.Status, a.Why, string(p.Type), now.UTC()
	if a.Taken() {
		if stand.Failed >= failing { // the webhook works again, so its waiting messages are due now
			for id, w := range s.state.Waits {
				if w.Hook == h.Name {
					w.Next = now.UTC()
					s.state.Waits[id] = w
				}
			}
		}
		stand.Taken, stand.Failed, stand.Since, stand.Rest, stand.Told = now.UTC(), 0, time.Time{}, time.Time{}, false
		delete(s.state.Waits, e.ID)
	} else {
		if stand.Failed++; stand.Failed == 1 {
			stand.Since = now.UTC()
		}
		if stand.Rest = (time.Time{}); a.Rest > 0 {
			stand.Rest = now.Add(a.Rest).UTC()
		}
		wait, again := next(s.o.Waits, e.Failed+1, a.Rest)
		if again {
			s.state.Waits[e.ID] = Waited{now.Add(wait).UTC(), a.Why, h.Name}
		} else {
			delete(s.state.Waits, e.ID)
		}
		if lost && !stand.Told {
			stand.Told, tell = true, a.Why
		}
	}
	s.state.Hooks[h.Name] = stand
	s.saveLocked()
	return tell
}

// saveLocked writes the state. If the file is missing, all waiting messages are due after
// a restart.
func (s *Service) saveLocked() {
	if err := s.state.write(s.o.Home); err != nil {
		s.o.Log.Warn("webhook state was not written", keyErr, err)
	}
}
