package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// lookAgain is how often a waiting send looks by itself, for what the watcher
// did not tell: a file system may drop events.
const lookAgain = 2 * time.Second

// noAnswerAfter is how long after the good end of a turn its answer may come.
// The daemon delivers it right after the receipt; a restart may lie between.
const noAnswerAfter = 10 * time.Second

// An answerWait looks for answers in the sender's own mailbox.
type answerWait struct {
	*post
	box     *dropbox.Mailbox   // the sender's
	pending []dropbox.Delivery // what has no answer yet
	waiting []string           // agents in whose mailboxes it waits
	show    *progress
	holds   *holdups
	rings   <-chan struct{}
	every   *time.Ticker
	stop    func()
	// seen are the files that are known to be no answer, so that each is read
	// once only.
	seen map[string]bool
	// ended is when each message was first seen to be finished.
	ended map[string]time.Time
}

// An answer is a message that answers, where it lies.
type answer struct {
	box     *dropbox.Mailbox
	entry   dropbox.Entry
	message *dropbox.Message
}

// An outcome is what one message has come to: an answer, or none.
type outcome struct {
	answer *answer
	failed error // why there is none
}

// newAnswerWait begins to listen. The caller closes it.
func (p *post) newAnswerWait(c *cli.Context, sent []dropbox.Delivery) (*answerWait, error) {
	box, err := p.own()
	if err != nil {
		return nil, err
	}
	show := newProgress(c.App.ErrWriter)
	w := &answerWait{
		post: p, box: box, pending: slices.Clone(sent), show: show, holds: newHoldups(c, p, show),
		every: time.NewTicker(lookAgain), seen: map[string]bool{}, ended: map[string]time.Time{},
	}
	w.rings, w.stop = watchFolder(filepath.Join(p.store.Dir(), p.me.Name, "new"))
	return w, nil
}

func (w *answerWait) close() {
	w.stop()
	w.every.Stop()
	w.holds.close()
}

// next waits for the outcome of one of the messages, which is then no longer
// pending. It looks whenever something comes to the mailbox, and now and then by
// itself.
func (w *answerWait) next(ctx context.Context) (outcome, error) {
	redraw := w.show.every()
	defer redraw.Stop()
	for {
		got, err := w.look()
		if got == nil && err == nil {
			got, err = w.fate(time.Now())
		}
		if err != nil {
			return outcome{}, err
		} else if got != nil {
			return *got, nil
		}
		w.holds.of(ctx, w.waiting)
		for ring := false; !ring; {
			select {
			case <-w.rings:
				ring = true
			case <-w.every.C:
				ring = true
			case <-w.holds.rung:
				w.holds.look(ctx)
			case <-redraw.C:
				w.show.draw(time.Now())
			case <-ctx.Done():
				return outcome{}, ctx.Err()
			}
		}
	}
}

// watchFolder rings when something appears in dir. Without a watcher (the
// limits of the machine are reached) it never rings, and the caller's clock
// does the work.
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

// look finds the first answer among what lies in the sender's mailbox: what is
// new there, and what was marked as read in another terminal meanwhile.
func (w *answerWait) look() (*outcome, error) {
	fresh, err := w.box.Peek()
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
		w.seen[e.Base()] = true
		if err != nil || !w.answers(m) {
			continue
		}
		w.settled(m.ReplyTo)
		if m.From == dropbox.Swarm {
			return &outcome{failed: fail(exitFailed, "claude-swarm trace "+m.ReplyTo, "%s", strings.TrimSpace(plain(string(m.Body))))}, nil
		}
		return &outcome{answer: &answer{box: w.box, entry: e, message: m}}, nil
	}
	return nil, nil
}

// answers tells whether m is what is waited for.
func (w *answerWait) answers(m *dropbox.Message) bool {
	mine := slices.ContainsFunc(w.pending, func(d dropbox.Delivery) bool { return d.ID == m.ReplyTo })
	return mine && (m.Type == dropbox.Result || m.Type == dropbox.Question || m.From == dropbox.Swarm)
}

func (w *answerWait) settled(id string) {
	w.pending = slices.DeleteFunc(w.pending, func(d dropbox.Delivery) bool { return d.ID == id })
}

// fate looks what became of the messages: in whose mailboxes they wait, and
// whether no answer to one can come.
func (w *answerWait) fate(now time.Time) (*outcome, error) {
	w.waiting = nil
	for i, d := range w.pending {
		found, err := w.store.Find(d.ID)
		if err != nil {
			continue
		}
		if i == 0 {
			w.show.say(d, found.State, now)
		}
		var over error
		switch found.State {
		case dropbox.Waiting:
			if d.To != dropbox.Lead {
				w.waiting = append(w.waiting, d.To)
			}
		case dropbox.Dead:
			reason := w.reasonOf(found)
			over = fail(exitFailed, "claude-swarm dead show "+d.ID, "%s did not do %s: %s", d.To, d.ID, cmp.Or(reason, "no reason is kept"))
		case dropbox.Done:
			if w.ended[d.ID].IsZero() {
				w.ended[d.ID] = now
			}
			if now.Sub(w.ended[d.ID]) > noAnswerAfter {
				over = fail(exitFailed, "claude-swarm trace "+d.ID, "%s finished %s without an answer", d.To, d.ID)
			}
		}
		if over == nil {
			continue
		}
		// The bounce is a better answer than ours; it is delivered before or right
		// after the message is buried.
		if got, err := w.look(); got != nil || err != nil {
			return got, err
		}
		w.settled(d.ID)
		return &outcome{failed: over}, nil
	}
	return nil, nil
}
