package webhook

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// These are the intervals and timeouts of the loop.
const (
	sweepEvery = 30 * time.Second // interval between checks of the mailbox that do not depend on the watcher
	lastWords  = 3 * time.Second  // time for attempts that are still running when the service ends
	diskAgain  = 5 * time.Second  // wait before a webhook is used again after a message could not be claimed
)

// A run is the state of a running Service. Only the loop's goroutine uses the maps.
type run struct {
	*Service
	box   *dropbox.Mailbox
	post  context.Context // the context of the attempts
	tries sync.WaitGroup
	ended chan ended

	hooks map[string]string       // the webhooks of the waiting messages, by message id
	held  map[string]bool         // messages that are being posted or settled, by id
	taken map[string]bool         // webhooks that are posting a message
	left  map[string]func() error // steps that failed on disk and must be retried, by message id
	pause map[string]time.Time    // the time until which a webhook waits because a message could not be claimed
}

// ended tells the loop how an attempt ended.
type ended struct {
	id, hook string
	result
	panicked string // the panic that ended the attempt, with its stack; "" if there was none
}

// Run posts the messages in the mailbox until ctx is done, and then returns nil. Running
// attempts get a few seconds to end; a message whose attempt has not ended by then is put
// back. Only the process that holds the store's lock may call Run. An error means that a
// disk error prevents all work.
func (s *Service) Run(ctx context.Context) error {
	box, err := s.o.Store.Mailbox(dropbox.Hooks)
	for errors.Is(err, dropbox.ErrNoMailbox) {
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake: // the mailbox may exist now
		}
		box, err = s.o.Store.Mailbox(dropbox.Hooks)
	}
	if err != nil {
		return err
	}
	post, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	r := &run{
		Service: s, box: box, post: post, ended: make(chan ended),
		hooks: map[string]string{}, held: map[string]bool{}, taken: map[string]bool{}, left: map[string]func() error{}, pause: map[string]time.Time{},
	}
	if err := box.Recover(); err != nil {
		return err
	}
	if err := r.takeUp(); err != nil {
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
		for e := range r.ended {
			r.count(-1)
			if e.panicked != "" {
				s.o.Log.Error("another attempt panicked", keyErr, e.panicked)
			}
		}
	}()
	r.loop(ctx, func() {
		if _, err := watcher.Rewatch(); err != nil {
			s.o.Log.Debug("mailbox could not be watched", keyErr, err)
		}
	})
	patience := time.AfterFunc(lastWords, cancel)
	defer patience.Stop()
	last()
	for e := range r.ended {
		r.end(e)
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
		case e := <-r.ended:
			r.end(e)
		case <-r.wake:
			if err := r.settleRest(); err != nil {
				r.o.Log.Debug("disk still refused writes", keyErr, err)
			}
		case <-again.C:
		case <-sweep.C:
			rewatch()
			if err := r.takeUp(); err != nil {
				r.o.Log.Error("webhook mailbox was not repaired", keyErr, err)
			}
		}
	}
}

// takeUp settles the messages in cur/ that no attempt is handling, either because of a
// crash or because their last step failed on disk.
func (r *run) takeUp() error {
	if err := r.settleRest(); err != nil {
		return err
	}
	receipts, err := r.box.Receipts()
	if err != nil {
		return err
	}
	for _, e := range receipts {
		if !r.held[e.ID] {
			if err := r.box.Finish(e); err != nil {
				return err
			}
		}
	}
	reasons, err := r.box.Reasons()
	if err != nil {
		return err
	}
	for _, e := range reasons {
		if r.held[e.ID] {
			continue
		}
		reason, err := r.box.Reason(e)
		if err == nil {
			err = r.box.GiveUp(e, reason)
		}
		if err != nil {
			return err
		}
	}
	claimed, err := r.box.Claimed()
	if err != nil {
		return err
	}
	for _, e := range claimed {
		if r.held[e.ID] {
			continue
		}
		if _, err := r.box.PutBack(e, false); err != nil && !errors.Is(err, dropbox.ErrGone) {
			return err
		}
	}
	return nil
}

// settleRest retries the last steps that failed on disk.
func (r *run) settleRest() error {
	for id, settle := range r.left {
		if err := settle(); err != nil {
			return err
		}
		delete(r.left, id)
		delete(r.held, id)
	}
	return nil
}

// begin starts an attempt for each webhook that has a message due and no running attempt.
// It returns the time until the next message is due, or false if no message will become
// due.
func (r *run) begin(now time.Time) (after time.Duration, ok bool) {
	if r.o.Store.Halted() {
		return 0, false // the watcher reports when HALT is removed
	}
	entries, err := r.box.List()
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			r.o.Log.Error("webhook mailbox was not listed", keyErr, err)
		}
		return 0, false
	}
	r.forget(entries)
	for _, e := range entries {
		if r.held[e.ID] {
			continue
		}
		name, err := r.hookOf(r.box, r.hooks, e)
		if err != nil {
			continue // the message has been moved in the meantime
		}
		h, known := r.hook(name)
		if r.taken[name] {
			continue
		}
		if wait := r.dueAt(e.ID, name, known).Sub(now); wait > 0 {
			if !ok || wait < after {
				after, ok = wait, true
			}
			continue
		}
		r.held[e.ID], r.taken[name] = true, true
		r.count(1)
		r.tries.Go(func() {
			r.ended <- r.attempt(h, known, name, e)
		})
	}
	return after, ok
}

func (r *run) count(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy += n
}

// end updates the state of the loop after an attempt has ended. A panic of the attempt
// becomes a panic of the loop, which ends the run.
func (r *run) end(e ended) {
	r.count(-1)
	if e.panicked != "" {
		panic(e.panicked)
	}
	delete(r.taken, e.hook)
	delete(r.pause, e.hook)
	if e.refused {
		r.pause[e.hook] = time.Now().Add(diskAgain)
	}
	if e.settle != nil {
		r.left[e.id] = e.settle // the message remains in held; otherwise it would be posted again
		return
	}
	delete(r.held, e.id)
}

// dueAt returns the time at which a message may be posted; the zero time means now. A
// message for an unknown webhook waits only if it could not be claimed.
func (r *run) dueAt(id, hook string, known bool) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !known {
		return r.pause[hook]
	}
	return slices.MaxFunc([]time.Time{r.state.Waits[id].Next, r.state.Hooks[hook].Rest, r.pause[hook]}, time.Time.Compare)
}

// forget removes the recorded webhooks and waits of messages that are no longer in the
// mailbox.
func (r *run) forget(entries []dropbox.Entry) {
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
		if !there[id] && !r.held[id] {
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
