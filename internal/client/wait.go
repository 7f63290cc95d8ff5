package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// lookAgain is the interval at which a wait looks for an outcome even without an event,
// because a file system may drop events.
const lookAgain = 2 * time.Second

// noAnswerAfter is how long the answer from a successful turn may take to arrive. The
// daemon delivers the answer right after the receipt, but may be restarted between these
// two steps.
const noAnswerAfter = 10 * time.Second

// A NoAnswerError explains why there is no answer to a message.
type NoAnswerError struct {
	Sent   dropbox.Delivery
	Bounce *dropbox.Message // the daemon's bounce, if there is one
	State  dropbox.State    // if there is no bounce: dead, refused, or done without an answer
	Reason string           // why the message is dead or refused; "" if no reason is recorded
}

func (e *NoAnswerError) Error() string {
	switch {
	case e.Bounce != nil:
		return strings.TrimSpace(string(e.Bounce.Body))
	case e.State == dropbox.Dead:
		return fmt.Sprintf("%s did not do %s: %s", e.Sent.To, e.Sent.ID, cmp.Or(e.Reason, "no reason is recorded"))
	case e.State == dropbox.Refused:
		return fmt.Sprintf("%s was refused on its way to %s: %s", e.Sent.ID, e.Sent.To, cmp.Or(e.Reason, "no reason is recorded"))
	}
	return fmt.Sprintf("%s finished %s without an answer", e.Sent.To, e.Sent.ID)
}

// An Answer is a message in the asker's mailbox that answers a message from the asker.
type Answer struct {
	*dropbox.Message
	entry dropbox.Entry
	box   *dropbox.Mailbox
}

// File files the answer, so that the answer wakes no agent.
func (a *Answer) File() error { return a.box.File(a.entry) }

// An Outcome contains the answer to one message, or the reason why no answer can arrive.
type Outcome struct {
	Answer *Answer        // a result or a question; nil if there is no answer
	None   *NoAnswerError // why there is no answer; nil if there is one
}

// A Wait looks in the sender's mailbox for the answers to messages. It is not safe for
// concurrent use.
type Wait struct {
	// Pending contains the messages that have no outcome yet. States contains the last
	// known states of the messages.
	Pending []dropbox.Delivery
	States  map[string]dropbox.State
	// Proven restricts the wait to answers that are proven to be from the recipient of the
	// message or from a person; see [mail.MayAnswer]. Other answers stay in the mailbox.
	Proven bool
	// If Agents is set, proven answers from any agent are also accepted.
	Agents bool

	client *Client
	box    *dropbox.Mailbox // the sender's
	wakes  <-chan struct{}
	stop   func()
	// seen contains the files that are not answers, so that each is read only once.
	seen map[string]bool
	// ended contains, for each finished message, the time when the wait first noticed
	// that it was finished.
	ended map[string]time.Time
}

// Wait starts waiting for the answers to messages. The caller must close the result.
func (c *Client) Wait(sent []dropbox.Delivery) (*Wait, error) {
	box, err := c.Own()
	if err != nil {
		return nil, err
	}
	w := &Wait{
		Pending: slices.Clone(sent), States: map[string]dropbox.State{},
		client: c, box: box, seen: map[string]bool{}, ended: map[string]time.Time{},
	}
	w.wakes, w.stop = watchFolder(filepath.Join(c.Store.Dir(), c.Me.Name, "new"))
	return w, nil
}

// Close stops listening.
func (w *Wait) Close() { w.stop() }

// Wakes returns a channel that receives a value when there may be a new outcome.
func (w *Wait) Wakes() <-chan struct{} { return w.wakes }

// Next waits for the outcome of one of the messages, and removes the message from Pending.
// The error comes from ctx or from the store.
func (w *Wait) Next(ctx context.Context) (*Outcome, error) {
	for {
		if got, err := w.Look(time.Now()); got != nil || err != nil {
			return got, err
		}
		select {
		case <-w.wakes:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Look checks for an outcome without waiting. It returns nil if there is none yet.
func (w *Wait) Look(now time.Time) (*Outcome, error) {
	if got, err := w.look(); got != nil || err != nil {
		return got, err
	}
	return w.fate(now)
}

// watchFolder wakes the receiver when a file appears in dir, and at least once per
// [lookAgain]. The timer works even if the system's limits do not allow another file
// watch.
func watchFolder(dir string) (wakes <-chan struct{}, stop func()) {
	out := make(chan struct{}, 1)
	quit, done := make(chan struct{}), make(chan struct{})
	var events chan fsnotify.Event
	var failures chan error
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		_ = watcher.Add(dir) // if there is no watch, only the timer wakes the receiver
		events, failures = watcher.Events, watcher.Errors
	}
	// stop waits for this goroutine to end.
	go func() {
		defer close(done)
		every := time.NewTicker(lookAgain)
		defer every.Stop()
		for {
			select {
			case <-events:
			case <-failures:
			case <-every.C:
			case <-quit:
				return
			}
			select {
			case out <- struct{}{}:
			default:
			}
		}
	}()
	stop = func() {
		close(quit)
		<-done
		if watcher != nil {
			watcher.Close()
		}
	}
	return out, stop
}

// look finds the first answer in the sender's mailbox, among the new messages and those that
// another terminal has marked as read in the meantime.
func (w *Wait) look() (*Outcome, error) {
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
			continue // moved in the meantime; the next call finds it
		}
		w.seen[e.Base()] = true
		at := slices.IndexFunc(w.Pending, func(d dropbox.Delivery) bool { return err == nil && d.ID == m.ReplyTo })
		if at < 0 || m.Type != dropbox.Result && m.Type != dropbox.Question && m.From != dropbox.Swarm {
			continue
		}
		sent := w.Pending[at]
		if w.Proven && !w.mayAnswer(m, sent.To) {
			continue
		}
		w.settled(sent.ID)
		if m.From == dropbox.Swarm {
			return &Outcome{None: &NoAnswerError{Sent: sent, Bounce: m}}, nil
		}
		return &Outcome{Answer: &Answer{Message: m, entry: e, box: w.box}}, nil
	}
	return nil, nil
}

// mayAnswer reports whether the sender of m, a message in the caller's mailbox, may answer
// a message that the caller sent. to is the mailbox to which the caller's message was
// delivered.
func (w *Wait) mayAnswer(m *dropbox.Message, to string) bool {
	c := w.client
	tokens, err := c.Home.Tokens()
	if err != nil {
		return false
	}
	if w.Agents && mail.IsAgent(m.From) {
		to = m.From
	}
	return mail.MayAnswer(m, to, c.Me.Name, func(name string) string { return tokens[name] })
}

func (w *Wait) settled(id string) {
	w.Pending = slices.DeleteFunc(w.Pending, func(d dropbox.Delivery) bool { return d.ID == id })
}

// fate reads the states of the messages. If one of them can no longer get an answer, fate
// returns its outcome.
func (w *Wait) fate(now time.Time) (*Outcome, error) {
	for _, d := range w.Pending {
		found, err := w.client.Store.Find(d.ID)
		if err != nil {
			continue
		}
		w.States[d.ID] = found.State
		none := &NoAnswerError{Sent: d, State: found.State}
		switch found.State {
		case dropbox.Dead, dropbox.Refused:
			none.Reason = w.client.Reason(found)
		case dropbox.Done:
			if dropbox.IsBridge(d.To) {
				continue // the bridge has posted it, and people need time to answer
			}
			first := w.ended[d.ID].IsZero()
			if first {
				w.ended[d.ID] = now
			}
			late := now.Sub(w.ended[d.ID]) > noAnswerAfter
			if first && d.Duplicate || late {
				if got, err := w.filed(d, found.Entry.Created, now); got != nil || err != nil {
					return got, err
				}
			}
			if !late {
				continue
			}
		default:
			continue
		}
		// The daemon's bounce has more details; it is delivered before or right after the
		// message becomes a dead letter.
		if got, err := w.look(); got != nil || err != nil {
			return got, err
		}
		w.settled(d.ID)
		return &Outcome{None: none}, nil
	}
	return nil, nil
}

// filed looks for the answer to a message among the sender's filed messages. The answer
// may be there because an earlier wait for the same key printed it, or because a person
// has read it in the meantime. A filed question does not count as an answer, because it
// has been answered itself.
func (w *Wait) filed(sent dropbox.Delivery, since, now time.Time) (*Outcome, error) {
	// Start one day earlier, because the clocks of two machines may differ.
	for day := since.AddDate(0, 0, -1); !day.After(now.AddDate(0, 0, 1)); day = day.AddDate(0, 0, 1) {
		list, err := w.box.Filed(day)
		if err != nil {
			return nil, err
		}
		for _, f := range list {
			m, err := w.client.Store.Load(f)
			if err != nil || m.ReplyTo != sent.ID || m.Type != dropbox.Result || w.Proven && !w.mayAnswer(m, sent.To) {
				continue // an unreadable file does not count as an answer
			}
			w.settled(sent.ID)
			if m.From == dropbox.Swarm {
				return &Outcome{None: &NoAnswerError{Sent: sent, Bounce: m}}, nil
			}
			return &Outcome{Answer: &Answer{Message: m, entry: f.Entry, box: w.box}}, nil
		}
	}
	return nil, nil
}
