package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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

// await waits for the first answer to one of the messages, prints it and files
// it, so that it wakes nobody. limit 0 is no limit. What it prints:
//
//	a result or question   the body, exit status 0
//	the daemon's bounce    an error that says why, exit status 1
//	nothing in time        an error, exit status 5
func (p *post) await(c *cli.Context, sent []dropbox.Delivery, limit time.Duration) error {
	ctx := c.Context
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	show := newProgress(c.App.ErrWriter)
	w := &answerWait{post: p, sent: sent, show: show}
	answer, err := w.run(ctx)
	show.clear()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fail(exitTimeout, "claude-swarm trace "+sent[0].ID, "no answer to %s within %s; it will come to the mailbox of %s", sent[0].ID, limit, p.me.Name)
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(c.App.ErrWriter, "claude-swarm: waits no longer; the answer to %s will come to the mailbox of %s\n", sent[0].ID, p.me.Name)
		return err
	case err != nil:
		return err
	}
	m := answer.message
	if m.From == dropbox.Swarm {
		return fail(exitFailed, "claude-swarm trace "+m.ReplyTo, "%s", strings.TrimSpace(plain(string(m.Body))))
	}
	if c.Bool("json") {
		if err := printJSON(c.App.Writer, answerView{V: 1, Sent: ids(sent), Answer: p.view(p.me.Name, dropbox.Waiting, m)}); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(c.App.Writer, strings.TrimRight(printable(c.App.Writer, m.Body), "\n"))
		for _, a := range m.Attachments {
			fmt.Fprintf(c.App.Writer, "attached: %s (%s)\n", p.attachmentPath(a), byteCount(int(a.Size)))
		}
	}
	if err := printed(c.App.Writer); err != nil {
		return err // nobody saw the answer, so it stays where it is
	}
	if m.Type == dropbox.Question {
		fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %s asks this\n  try: claude-swarm reply %s \"…\"\n", m.From, m.ID)
		return nil // a question stays in the mailbox until it is answered
	}
	return answer.box.File(answer.entry)
}

// printable is text as w may have it: whole for a program, and without what
// could steer a terminal for a person.
func printable(w io.Writer, text []byte) string {
	if isTerminal(w) {
		return plain(string(text))
	}
	return string(text)
}

// An answerView is what send --wait --json prints.
type answerView struct {
	V      int          `json:"v"`
	Sent   []string     `json:"sent"`
	Answer *messageView `json:"answer"`
}

func ids(sent []dropbox.Delivery) []string {
	var list []string
	for _, d := range sent {
		list = append(list, d.ID)
	}
	return list
}

// An answerWait looks for an answer in the sender's own mailbox.
type answerWait struct {
	*post
	box  *dropbox.Mailbox // the sender's
	sent []dropbox.Delivery
	show *progress
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

// run looks whenever something comes to the mailbox, and now and then by
// itself.
func (w *answerWait) run(ctx context.Context) (_ *answer, err error) {
	if w.box, err = w.own(); err != nil {
		return nil, err
	}
	w.seen, w.ended = map[string]bool{}, map[string]time.Time{}
	rings, stop := watchFolder(filepath.Join(w.store.Dir(), w.me.Name, "new"))
	defer stop()
	every := time.NewTicker(lookAgain)
	defer every.Stop()
	redraw := w.show.every()
	defer redraw.Stop()
	for {
		found, err := w.look()
		if found != nil || err != nil {
			return found, err
		}
		if err := w.fate(time.Now()); err != nil {
			return nil, err
		}
		for ring := false; !ring; {
			select {
			case <-rings:
				ring = true
			case <-every.C:
				ring = true
			case <-redraw.C:
				w.show.draw(time.Now())
			case <-ctx.Done():
				return nil, ctx.Err()
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
func (w *answerWait) look() (*answer, error) {
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
		if err == nil && w.answers(m) {
			return &answer{box: w.box, entry: e, message: m}, nil
		}
		w.seen[e.Base()] = true
	}
	return nil, nil
}

// answers tells whether m is what is waited for.
func (w *answerWait) answers(m *dropbox.Message) bool {
	mine := slices.ContainsFunc(w.sent, func(d dropbox.Delivery) bool { return d.ID == m.ReplyTo })
	return mine && (m.Type == dropbox.Result || m.Type == dropbox.Question || m.From == dropbox.Swarm)
}

// fate looks what became of the messages, and tells when no answer can come.
func (w *answerWait) fate(now time.Time) error {
	over := 0
	var last error
	for i, d := range w.sent {
		found, err := w.store.Find(d.ID)
		if err != nil {
			continue
		}
		if i == 0 {
			w.show.say(d, found.State, now)
		}
		switch found.State {
		case dropbox.Dead:
			over++
			reason := w.reasonOf(found)
			last = fail(exitFailed, "claude-swarm dead show "+d.ID, "%s did not do %s: %s", d.To, d.ID, cmp.Or(reason, "no reason is kept"))
		case dropbox.Done:
			if w.ended[d.ID].IsZero() {
				w.ended[d.ID] = now
			}
			if now.Sub(w.ended[d.ID]) > noAnswerAfter {
				over++
				last = fail(exitFailed, "claude-swarm trace "+d.ID, "%s finished %s without an answer", d.To, d.ID)
			}
		}
	}
	if over < len(w.sent) {
		return nil
	}
	// The bounce is a better answer than ours; it is delivered before or right
	// after the message is buried.
	if a, err := w.look(); a != nil || err != nil {
		return err
	}
	return last
}

// progress tells a person at a terminal where the message is, on one line that
// is drawn again. Elsewhere it says nothing.
type progress struct {
	w     io.Writer
	on    bool
	drawn bool
	text  string
	since time.Time
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, on: isTerminal(w), since: time.Now()}
}

// every is the clock by which the line is drawn again. Where there is no line
// it never rings.
func (s *progress) every() *time.Ticker {
	t := time.NewTicker(time.Second)
	if !s.on {
		t.Stop()
	}
	return t
}

func (s *progress) say(d dropbox.Delivery, state dropbox.State, now time.Time) {
	switch {
	case d.To == dropbox.Lead:
		s.text = "waits for the lead"
	case state == dropbox.Claimed:
		s.text = d.To + " works on it"
	case state == dropbox.Done:
		s.text = d.To + " has done it"
	default:
		s.text = "waits in the mailbox of " + d.To
	}
	s.draw(now)
}

func (s *progress) draw(now time.Time) {
	if !s.on || s.text == "" {
		return
	}
	fmt.Fprintf(s.w, "\r\033[K%s · %s", s.text, span(now.Sub(s.since)))
	s.drawn = true
}

func (s *progress) clear() {
	if s.drawn {
		fmt.Fprint(s.w, "\r\033[K")
		s.drawn = false
	}
}
