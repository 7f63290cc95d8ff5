package door

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// lookAgain is how often who waits looks by itself, for what the watcher did not
// tell: a file system may drop events.
const lookAgain = 2 * time.Second

// noAnswerAfter is how long after the good end of a turn its answer may come. The
// daemon delivers it right after the receipt; a restart may lie between.
const noAnswerAfter = 10 * time.Second

// A NoAnswerError says that none can come any more.
type NoAnswerError struct {
	Sent   dropbox.Delivery // the message that was not answered
	State  dropbox.State    // dead, or done without a word
	Reason string           // of a dead one; "" when none is kept
}

func (e *NoAnswerError) Error() string {
	if e.State == dropbox.Dead {
		reason := e.Reason
		if reason == "" {
			reason = "no reason is kept"
		}
		return fmt.Sprintf("%s did not do %s: %s", e.Sent.To, e.Sent.ID, reason)
	}
	return fmt.Sprintf("%s finished %s without an answer", e.Sent.To, e.Sent.ID)
}

// An Answer is a message that answers, where it lies in the mailbox of who asked.
type Answer struct {
	*dropbox.Message
	Entry dropbox.Entry
	box   *dropbox.Mailbox
}

// File files the answer, so that it wakes nobody.
func (a *Answer) File() error { return a.box.File(a.Entry) }

// Refused tells whether it is the daemon's word that the message will not be done.
func (a *Answer) Refused() bool { return a.From == dropbox.Swarm }

// Await waits for the first answer to one of the messages: a result, a question, or
// the daemon's word that it will not be done. The error is that of ctx, or a
// [*NoAnswerError]. told, unless it is nil, is called with where the first message
// is, at every look.
func (d *Door) Await(ctx context.Context, sent []dropbox.Delivery, told func(dropbox.State)) (*Answer, error) {
	box, err := d.Own()
	if err != nil {
		return nil, err
	}
	w := &wait{Door: d, box: box, sent: sent, told: told, seen: map[string]bool{}, ended: map[string]time.Time{}}
	return w.run(ctx)
}

// A wait looks for an answer in the sender's own mailbox.
type wait struct {
	*Door
	box  *dropbox.Mailbox // the sender's
	sent []dropbox.Delivery
	told func(dropbox.State)
	// seen are the files that are known to be no answer, so that each is read once
	// only.
	seen map[string]bool
	// ended is when each message was first seen to be finished.
	ended map[string]time.Time
}

// run looks whenever something comes to the mailbox, and now and then by itself.
func (w *wait) run(ctx context.Context) (*Answer, error) {
	rings, stop := watchFolder(filepath.Join(w.Store.Dir(), w.Me.Name, "new"))
	defer stop()
	every := time.NewTicker(lookAgain)
	defer every.Stop()
	for {
		found, err := w.look()
		if found != nil || err != nil {
			return found, err
		}
		if found, err := w.fate(time.Now()); found != nil || err != nil {
			return found, err
		}
		select {
		case <-rings:
		case <-every.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// watchFolder rings when something appears in dir. Without a watcher (the limits of
// the machine are reached) it never rings, and the caller's clock does the work.
func watchFolder(dir string) (rings <-chan struct{}, stop func()) {
	out := make(chan struct{}, 1)
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return out, func() {}
	}
	done := make(chan struct{})
	// The caller waits for it in stop.
	go func() {
		defer close(done)
		for {
			select {
			case _, ok := <-watcher.Events:
				if !ok {
					return
				}
			case _, ok := <-watcher.Errors:
				if !ok {
					return
				}
			}
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}()
	stop = func() {
		watcher.Close()
		<-done
	}
	// A folder that cannot be watched is looked at by the clock.
	_ = watcher.Add(dir)
	return out, stop
}

// look finds the first answer among what lies in the sender's mailbox: what is new
// there, and what was marked as read in another terminal meanwhile.
func (w *wait) look() (*Answer, error) {
	fresh, err := w.box.List()
	if err != nil {
		return nil, err
	}
	read, err := w.box.Claimed()
	if err != nil {
		return nil, err
	}
	for _, e := range append(fresh, read...) {
		if w.seen[e.Base()] {
			continue
		}
		m, err := w.box.Read(e)
		if errors.Is(err, dropbox.ErrGone) {
			continue // moved while we looked: seen at the next look
		}
		if err == nil && w.answers(m) {
			return &Answer{Message: m, Entry: e, box: w.box}, nil
		}
		w.seen[e.Base()] = true
	}
	return nil, nil
}

// answers tells whether m is what is waited for.
func (w *wait) answers(m *dropbox.Message) bool {
	mine := slices.ContainsFunc(w.sent, func(d dropbox.Delivery) bool { return d.ID == m.ReplyTo })
	return mine && (m.Type == dropbox.Result || m.Type == dropbox.Question || m.From == dropbox.Swarm)
}

// fate looks what became of the messages, and tells when no answer can come.
func (w *wait) fate(now time.Time) (*Answer, error) {
	over := 0
	var last error
	for i, d := range w.sent {
		found, err := w.Store.Find(d.ID)
		if err != nil {
			continue
		}
		if i == 0 && w.told != nil {
			w.told(found.State)
		}
		switch found.State {
		case dropbox.Dead:
			over++
			last = &NoAnswerError{d, dropbox.Dead, w.Reason(found)}
		case dropbox.Done:
			if w.ended[d.ID].IsZero() {
				w.ended[d.ID] = now
			}
			if now.Sub(w.ended[d.ID]) > noAnswerAfter {
				over++
				last = &NoAnswerError{d, dropbox.Done, ""}
			}
		}
	}
	if over < len(w.sent) {
		return nil, nil
	}
	// The bounce is a better answer than ours; it is delivered before or right
	// after the message is buried.
	if found, err := w.look(); found != nil || err != nil {
		return found, err
	}
	return nil, last
}
