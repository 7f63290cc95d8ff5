package notice

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Quiet collects the events during the person's quiet hours, and reports them in one
// alert when the quiet hours end:
//
//	record:   the event gets the end of the quiet hours (Event.Quiet), durable in the list
//	keep:     the lead's listener puts it into quiet.json instead of the mailbox
//	Tell:     after the end, quiet.json is closed -> one alert -> quiet.json is marked as told
//
// Each step can be repeated, because events and the alert have keys. Facts are never
// added to a closed file, so an alert that is repeated after a crash has the same key and
// contains no new facts.
//
// It is safe for concurrent use.
type Quiet struct {
	teller *Teller
	now    Now

	mu  sync.Mutex // makes keep and tell exclude each other
	doc *durable.Doc[journal.KeptFile]
}

// Now answers what [Quiet] asks about the swarm.
type Now struct {
	// Until returns the end of the quiet hours that contain a time, or the zero time if
	// the time is outside quiet hours.
	Until func(time.Time) time.Time
	// Grave reports whether all agents are stopped, paused or parked.
	Grave func() bool
	// Hold returns an agent's hold, or false if there is no such agent.
	Hold func(agent string) (journal.Hold, bool)
	// Limited reports whether an agent waits for the end of a limit of its account.
	Limited func(agent string) bool
	// Unclaimed reports whether published work still waits for an agent.
	Unclaimed func(publication string) bool
}

// OpenQuiet reads the facts that an earlier daemon kept.
func OpenQuiet(t *Teller, now Now) (*Quiet, error) {
	doc, err := durable.OpenDoc[journal.KeptFile](t.Home.Files(), quietFile(t.Home), durable.DocOptions{})
	return &Quiet{teller: t, now: now, doc: doc}, err
}

// mark sets the end of the quiet hours in an event that would otherwise reach the person
// during the quiet hours. It skips facts that are told at once, and errors that occur
// while no agent can work, because those are reported to the person immediately. It does
// nothing if q is nil, as it is in programs other than the daemon.
func (q *Quiet) mark(ev *journal.Event) {
	if q == nil || !tellsPerson(*ev) || rowOf(ev.Key).atOnce {
		return
	}
	at := ev.At
	if at.IsZero() {
		at = time.Now()
	}
	end := q.now.Until(at)
	if end.IsZero() || isError(*ev) && q.now.Grave() {
		return
	}
	ev.Quiet = end.UTC().Round(0)
}

// tellsPerson reports whether the daemon reports an event to the person, as an alert, a
// notice, a question or a dead letter.
func tellsPerson(ev journal.Event) bool {
	switch {
	case ev.Message == nil:
		return false
	case ev.Kind == journal.Alert:
		return ev.To == dropbox.Lead // quiet hours do not apply to a lead agent
	case ev.Kind == journal.Mail:
		// An alert that is already in the mailbox is not withheld, because the person may
		// have seen it.
		return ev.To == dropbox.Lead && ev.Message.From == dropbox.Swarm && ev.Message.Type == dropbox.Question
	}
	if ev.Word() == journal.AgentQuestion {
		return false // an agent is waiting for the answer, as for a question in the lead's mailbox
	}
	return ev.Notice != nil || ev.Kind == journal.Dead
}

// isError reports whether an event is more severe than information.
func isError(ev journal.Event) bool {
	if ev.Notice != nil {
		return ev.Notice.Word.Severity() != journal.Info
	}
	return rowOf(ev.Key).severity != journal.Info
}

// shownByMorning reports whether the morning alert contains an event. It returns false
// for events that do not require action by a person, and for events that another event
// repeats.
func shownByMorning(ev journal.Event) bool {
	switch ev.Kind {
	case journal.Alert, journal.Mail:
		return true
	case journal.Dead:
		return ev.Notice != nil // without a notice, a person aborted the turn and knows it
	case journal.Noticed:
		return ev.Notice.Word.Severity() != journal.Info
	}
	return false
}

// keep stores an event until the quiet hours end.
func (q *Quiet) keep(ev journal.Event) error {
	if !shownByMorning(ev) {
		return nil
	}
	k := journal.Kept{Seq: ev.Seq, At: ev.At, Key: ev.Key, Agent: ev.Agent, Subject: ev.Message.Subject, Body: strings.TrimSpace(ev.Message.Body)}
	if ev.Notice != nil {
		k.Word = ev.Notice.Word
	}
	switch ev.Kind {
	case journal.Mail:
		k.About, k.Asks = ev.About, true
		k.Subject = screen.Truncate(screen.OneLine(ev.Message.Mail().Gist()), 200)
		k.Body = "claude-swarm read " + ev.About
	case journal.Dead:
		k.About, k.Dead = ev.About, true
		if k.Body = strings.TrimSpace(ev.Message.Body); !strings.Contains(k.Body, "claude-swarm dead ") {
			k.Body += "\nclaude-swarm dead show " + ev.About
		}
	case journal.Noticed:
		k.Subject, k.Body = ev.Notice.Text(), ""
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if f := q.doc.Get(); f.Closed && !f.Told {
		if err := q.tell(); err != nil {
			return err
		}
	}
	next := q.doc.Get()
	if slices.Contains(next.Before, k.Key) || slices.ContainsFunc(next.Kept, func(o journal.Kept) bool { return o.Key == k.Key }) {
		return nil // the event was kept before a power cut
	}
	if next.Told {
		next = journal.KeptFile{Before: keysOf(next.Kept)}
	}
	if len(next.Kept) == 0 {
		next.First = ev.Seq
	}
	if ev.Quiet.After(next.Until) {
		next.Until = ev.Quiet
	}
	next.Kept = append(slices.Clone(next.Kept), k)
	return q.save(next)
}

func keysOf(all []journal.Kept) (keys []string) {
	for _, k := range all {
		keys = append(keys, k.Key)
	}
	return keys
}

// save writes quiet.json. If the write fails, the copy in memory does not change.
func (q *Quiet) save(f journal.KeptFile) error {
	err := q.doc.Change(func(is *journal.KeptFile) bool { *is = f; return true })
	if err != nil {
		return fmt.Errorf("keep notices for the end of the quiet hours: %w", err)
	}
	return nil
}

// Tell reports the kept facts to the person once the quiet hours are over. The daemon
// calls Tell each time it checks the folders. If the clock is set back, the wait is
// longer. If the configuration no longer has quiet hours for the current time, the wait
// ends.
func (q *Quiet) Tell(now time.Time) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if f := q.doc.Get(); len(f.Kept) == 0 || f.Told || now.Before(f.Until) && !q.now.Until(now).IsZero() {
		return nil
	}
	return q.tell()
}

// tell implements Tell. The caller must hold mu.
func (q *Quiet) tell() error {
	f := q.doc.Get()
	if !f.Closed {
		f.Closed = true
		if err := q.save(f); err != nil {
			return err
		}
	}
	all := q.current()
	if subject, body := morning(all, f.Kept[0].At); subject != "" {
		key := fmt.Sprintf("quiet:%d", f.First)
		ev := journal.Event{Kind: journal.Alert, Key: key, To: dropbox.Lead, At: time.Now().UTC(), Gathers: wordsOf(all), Message: &journal.Message{
			From: dropbox.Swarm, To: []string{dropbox.Lead}, Type: dropbox.Status, Subject: subject, Key: key, Body: body,
		}}
		if err := q.teller.record(ev); err != nil {
			return err
		}
	}
	f.Told = true
	return q.save(f)
}

// wordsOf returns the sorted words of the facts' notices, without duplicates.
func wordsOf(all []journal.Kept) (words []journal.Word) {
	for _, k := range all {
		if k.Word != "" {
			words = append(words, k.Word)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// quietFile returns the path of the file that contains the kept facts.
func quietFile(home journal.Home) string { return filepath.Join(home.Dir(), journal.KeptName) }
