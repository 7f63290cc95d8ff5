package swarm

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// A leadAnnouncer announces the lead's mail, which no agent works on, and the agents'
// questions to people. It runs in one goroutine.
type leadAnnouncer struct {
	home    journal.Home
	store   *dropbox.Store
	mail    *mail.Service
	notices *notice.Teller
	log     *slog.Logger
	running func() []string // returns the running turns
	asking  map[string]bool // turns whose questions must be checked again
	wakeup  wakeup
	seen    map[string]bool // ids of the messages that the last check found
	doc     *durable.Doc[announcedUntil]
	until   time.Time // see announcedUntil; more recent than doc
	saved   time.Time
}

// announcedUntil is the delivery time up to which the lead's mail was shown.
type announcedUntil struct {
	V     durable.Version1 `json:"v"`
	Until time.Time        `json:"until"`
}

const (
	// announceSlack is how long after newer messages an older one may still appear. The
	// event keys prevent messages from being shown twice.
	announceSlack = time.Minute
	// oldMail is the age above which mail and turns' questions are not shown after a
	// restart of the daemon.
	oldMail = 24 * time.Hour
)

func newLeadAnnouncer(m *mail.Service, running func() []string) *leadAnnouncer {
	return &leadAnnouncer{home: m.Home, store: m.Store, mail: m, notices: m.Notices, log: m.Log, running: running, wakeup: newWakeup(), asking: map[string]bool{}, seen: map[string]bool{}}
}

func (l *leadAnnouncer) run(stop context.Context) {
	doc, err := durable.OpenDoc[announcedUntil](l.home.Files(), l.home.MirrorFile(), durable.DocOptions{})
	if err != nil {
		l.log.Warn("mail for the lead may be shown late or not at all", keyErr, err)
	}
	l.doc, l.until = doc, doc.Get().Until
	if now := time.Now().UTC(); l.until.IsZero() || l.until.After(now) {
		l.until = now
		l.save(now)
	} else if now.Sub(l.until) > oldMail {
		l.until = now.Add(-oldMail)
	}
	since := l.until.Add(-announceSlack)
	left, err := journal.AskedSince(l.home, time.Now().Add(-oldMail))
	l.mail.Note(err)
	for _, turn := range left {
		l.asking[turn] = true
	}
	l.wakeup.wake()
	for wait := forever; ; {
		l.wakeup.wait(stop, wait)
		last := stop.Err() != nil
		wait = l.lookAtQuestions()
		if last {
			l.save(time.Now())
			return
		}
		l.look(since)
	}
}

// lookAtQuestions tells people about the turns' questions, and returns how long to wait
// before the next check.
func (l *leadAnnouncer) lookAtQuestions() time.Duration {
	running := map[string]bool{}
	for _, turn := range l.running() {
		running[turn] = true
	}
	for _, rec := range l.home.AttachedTurns(time.Now()) {
		running[rec.Turn] = true
	}
	maps.Copy(l.asking, running)
	wait := forever
	for turn := range l.asking {
		again, err := l.mail.TellAsked(turn)
		if err != nil {
			l.mail.Note(err)
			again = time.Now().Add(time.Second)
		}
		if again.IsZero() {
			if !running[turn] { // a running turn may ask, and end, before the next check
				delete(l.asking, turn)
			}
			continue
		}
		wait = min(wait, max(time.Until(again), time.Millisecond))
	}
	return wait
}

func (l *leadAnnouncer) save(now time.Time) {
	l.saved = now
	l.mail.Note(l.doc.Change(func(file *announcedUntil) bool {
		file.Until = l.until
		return true
	}))
}

// look shows the messages delivered since the given time.
func (l *leadAnnouncer) look(since time.Time) {
	box, err := l.store.Mailbox(dropbox.Lead)
	if err != nil {
		return // the folder check reports it
	}
	entries, err := box.Peek()
	if err != nil {
		l.log.Warn("mailbox could not be read", keyAgent, dropbox.Lead, keyErr, err)
		return
	}
	still := make(map[string]bool, len(entries))
	for _, e := range entries {
		still[e.ID] = true
		if l.seen[e.ID] || e.Created.Before(since) {
			continue
		}
		m, err := box.Read(e)
		if err != nil {
			continue // the person has just read it, or it is not a message
		}
		if err := l.notices.Arrived(m, dropbox.Lead, ""); err != nil {
			l.mail.Note(err)
			delete(still, e.ID) // the next check shows it
			continue
		}
		if e.Created.After(l.until) {
			l.until = e.Created
		}
	}
	l.seen = still
	if now := time.Now(); now.Sub(l.saved) > announceSlack {
		l.save(now)
	}
}
