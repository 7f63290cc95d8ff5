package webhook

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/outbox"
)

// These are the intervals and timeouts of the loop.
const (
	sweepEvery = 30 * time.Second // interval between checks of the mailbox that do not depend on the watcher
	lastWords  = 3 * time.Second  // time for attempts that are still running when the service ends
	diskAgain  = 5 * time.Second  // wait before a webhook is used again after a message could not be claimed
)

// A run is the state of a running Service. Only the loop's goroutine uses the map.
type run struct {
	*Service
	mailbox *dropbox.Mailbox
	box     *outbox.Box     // the target of an attempt is its webhook
	post    context.Context // the context of the attempts
	tries   sync.WaitGroup
	ended   chan string // for each attempt that has ended, the panic that ended it, with its stack; "" if there was none

	hooks map[string]string // the webhooks of the waiting messages, by message id
}

func (s *Service) newRun(mailbox *dropbox.Mailbox, post context.Context) *run {
	return &run{
		Service: s, mailbox: mailbox, box: outbox.New(mailbox, outbox.Options{Pause: diskAgain}),
		post: post, ended: make(chan string), hooks: map[string]string{},
	}
}

// Run posts the messages in the mailbox until ctx is done, and then returns nil. Running
// attempts get a few seconds to end; a message whose attempt has not ended by then is put
// back. Only the process that holds the store's lock may call Run. An error means that a
// disk error prevents all work.
func (s *Service) Run(ctx context.Context) error {
	mailbox, err := s.o.Store.Mailbox(dropbox.Hooks)
	for errors.Is(err, dropbox.ErrNoMailbox) {
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake: // the mailbox may exist now
		}
		mailbox, err = s.o.Store.Mailbox(dropbox.Hooks)
	}
	if err != nil {
		return err
	}
	post, cancel := outbox.Patience(ctx, lastWords)
	defer cancel()
	r := s.newRun(mailbox, post)
	if err := r.box.Recover(); err != nil {
		return err
	}
	watcher, err := s.o.Store.Watch(func(dropbox.Change) { s.Wake() }, dropbox.Hooks)
	if err != nil {
		return err
	}
	defer watcher.Close()
	last := sync.OnceFunc(func() {
		go func() { // ends when all attempts have ended; both readers of r.ended wait for this
			r.tries.Wait()
			close(r.ended)
		}()
	})
	defer func() { // after a panic, the attempts end without a result
		cancel()
		last()
		for panicked := range r.ended {
			if panicked != "" {
				s.o.Log.Error("another attempt panicked", keyErr, panicked)
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.busy = 0 // no attempt is running, whatever the loop was counting when it panicked
	}()
	r.loop(ctx, func() {
		if _, err := watcher.Rewatch(); err != nil {
			s.o.Log.Debug("mailbox could not be watched", keyErr, err)
		}
	})
	last()
	for panicked := range r.ended {
		r.end(panicked)
	}
	return nil
}

// loop starts attempts until ctx is done.
func (r *run) loop(ctx context.Context, rewatch func()) {
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	again := time.NewTimer(0)
	defer again.Stop()
	for {
		if after, ok := r.begin(time.Now()); ok {
			again.Reset(after)
		}
		select {
		case <-ctx.Done():
			return
		case panicked := <-r.ended:
			r.end(panicked)
		case <-r.wake:
			r.box.LookAgain()
			if err := r.box.Retry(); err != nil {
				r.o.Log.Debug("disk still refused writes", keyErr, err)
			}
		case <-again.C:
		case <-sweep.C:
			rewatch()
			if err := r.box.TakeUp(); err != nil {
				r.o.Log.Error("webhook mailbox was not repaired", keyErr, err)
			}
		}
	}
}

// begin starts an attempt for each webhook that has a message due and no running attempt.
// It returns the time until the next message is due, or false if no message will become
// due.
func (r *run) begin(now time.Time) (after time.Duration, ok bool) {
	if r.box.Halted() {
		return 0, false // the watcher reports when HALT is removed
	}
	held := r.box.Held()
	entries, err := r.mailbox.List()
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			r.o.Log.Error("webhook mailbox was not listed", keyErr, err)
		}
		return 0, false
	}
	r.forget(entries, held)
	for _, e := range entries {
		if held[e.ID] {
			continue
		}
		name, err := r.hookOf(r.mailbox, r.hooks, e)
		if err != nil {
			continue // the message has been moved in the meantime
		}
		h, known := r.hook(name)
		if r.box.Busy(name) > 0 {
			continue
		}
		wait := r.dueAt(e.ID, name, known).Sub(now)
		if wait <= 0 {
			r.count(1) // before the message leaves new/; otherwise Drain might see neither
			a, err := r.box.Take(e, name)
			if err == nil {
				r.tries.Go(func() {
					r.ended <- r.attempt(h, known, name, a)
				})
				continue
			}
			r.count(-1)
			switch {
			case errors.Is(err, dropbox.ErrGone):
				continue
			case errors.Is(err, dropbox.ErrHalted):
				return 0, false
			}
			r.refused(name, e, err)
			wait = diskAgain
		}
		if !ok || wait < after {
			after, ok = wait, true
		}
	}
	return after, ok
}

// refused handles a message that the disk did not let us claim. It is still waiting, and its
// webhook pauses.
func (r *run) refused(hook string, e dropbox.Entry, err error) {
	r.o.Log.Error("message was not claimed", keyMessage, e.ID, keyErr, err)
	r.box.Pause(hook)
}

func (r *run) count(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy += n
}

// end counts an attempt that has ended. A panic of the attempt becomes a panic of the loop, which
// ends the run.
func (r *run) end(panicked string) {
	r.count(-1)
	if panicked != "" {
		panic(panicked)
	}
}

// dueAt returns the time at which a message may be posted; the zero time means now. A
// message for an unknown webhook waits only if it could not be claimed.
func (r *run) dueAt(id, hook string, known bool) time.Time {
	paused := r.box.PausedUntil(hook)
	if !known {
		return paused
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.MaxFunc([]time.Time{r.state.Waits[id].Next, r.state.Hooks[hook].Rest, paused}, time.Time.Compare)
}

// forget removes the recorded webhooks and waits of messages that are no longer in the
// mailbox. held contains the messages that had an attempt before entries were listed.
func (r *run) forget(entries []dropbox.Entry, held map[string]bool) {
	there := make(map[string]bool, len(entries))
	for _, e := range entries {
		there[e.ID] = true
	}
	for id := range r.hooks {
		if !there[id] {
			delete(r.hooks, id)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.state.Waits {
		if !there[id] && !held[id] {
			delete(r.state.Waits, id)
		}
	}
}

// hookOf returns the name of a message's webhook, or "" if the message is not an event that
// the daemon wrote. It remembers the names in names, by message id. An error means that the
// message could not be read.
func (s *Service) hookOf(box *dropbox.Mailbox, names map[string]string, e dropbox.Entry) (string, error) {
	if name, ok := names[e.ID]; ok {
		return name, nil
	}
	m, err := box.Read(e)
	name := ""
	switch {
	case errors.Is(err, dropbox.ErrInvalid), errors.Is(err, dropbox.ErrTooLarge):
	case err != nil:
		return "", err
	case s.ours(m):
		if p, err := decode(m.Body); err == nil {
			name = p.Data.Webhook
		}
	}
	names[e.ID] = name
	return name, nil
}

// ours reports whether the daemon wrote a message.
func (s *Service) ours(m *dropbox.Message) bool {
	return m.From == dropbox.Swarm && dropbox.Proven(s.o.Token, m, dropbox.Hooks)
}
