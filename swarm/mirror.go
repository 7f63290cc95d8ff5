package swarm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A Mirror shows people elsewhere, such as in the channels of IRC, what the swarm
// does: the daemon delivers copies into the mailbox of a bridge, which works that off. A copy wakes nobody, is not asked of the gate, and no agent waits for it. It is
// asked by one goroutine at a time, and must not block.
type Mirror interface {
	// Copies says where something is to be seen; none is nowhere.
	Copies(Moment) []Copy
	// Bridge is the name of the bridge, and so of its mailbox. It is always the same.
	Bridge() string
}

// A Moment is something that people may want to see.
type Moment struct {
	// Kind is [journal.Alert] also where an alert arrived in the mailbox of whoever leads.
	Kind    journal.Kind
	Message *dropbox.Message // what is shown; never changed
	To      string           // the mailbox that it is for
	About   string           // id of what one may read to know more
	Agent   string           // whose turn it is about; "" for mail and for what is about no agent
	// Of is the message of the turn; the same as Message where it begins, nil where
	// there was no turn.
	Of *dropbox.Message

	// Task is what a person asked for, where this moment is the end of all that came of it:
	// the task that the turn worked on, or one that it was delegated from. Else it is nil.
	Task *dropbox.Message

	key string // with the place: what makes a copy of it unique
}

// A Copy is one place where a moment is shown.
type Copy struct {
	Where string // the channel: one copy for each
	Extra string // lines of YAML, for the bridge: see [dropbox.Message]
	Text  string // what is shown there, as a note, for subject and body; "" is these
}

// mostCopies bounds the copies that wait for a bridge which does not come: who looks
// an hour later wants to know how things stand, not each step. What people must see
// (mail, alerts, dead letters) is not counted.
const mostCopies = 1000

// mirroring is the daemon's side of a [Mirror]. It is safe for several goroutines.
type mirroring struct {
	Mirror

	mu      sync.Mutex
	waiting int // in the mailbox of the bridge, and the copies that came since it was counted
}

// mirrorListener is the mirror as one that listens.
func (h *house) mirrorListener() Listener {
	return Listener{Name: "irc", Behind: "IRC misses what happens", Hear: h.mirrorEvents}
}

// mirrorEvents delivers the copies of what happened. To repeat it is harmless: the keys
// make them the same.
func (h *house) mirrorEvents(_ context.Context, events []journal.Event) error {
	for _, ev := range events {
		mo, shown := momentOf(ev)
		if !shown || time.Since(ev.At) > oldMail {
			continue
		}
		for _, c := range h.mirror.Copies(mo) {
			m := mo.copyFor(c, h.mirror.Bridge())
			err := h.deliverCopy(mo.Kind, m)
			switch {
			case errors.Is(err, errNoBridge): // what waits for the bridge holds nothing else up
				h.trouble.until("mirror", "IRC misses what happens: "+err.Error(), func() error { return h.deliverCopy(mo.Kind, m) })
			case undeliverable(err):
				h.log.Warn("copy could not be delivered", keyMessage, mo.About, "moment", string(mo.Kind), keyErr, err)
			case err != nil:
				return err
			}
		}
	}
	return nil
}

// momentOf is what people see of an event; false where they see nothing.
func momentOf(ev journal.Event) (Moment, bool) {
	mo := Moment{
		Kind: ev.Kind, Message: ev.Message.Mail(), To: ev.To, About: ev.About, Agent: ev.Agent, Of: ev.Of.Mail(), Task: ev.Task.Mail(), key: ev.Key,
	}
	switch {
	case mo.Message == nil, ev.Kind == journal.Alert:
		return mo, false // an alert is shown when it has arrived
	case ev.Kind == journal.Mail && mo.Message.From == dropbox.Swarm:
		mo.Kind, mo.key = journal.Alert, eventKey(journal.Alert, mo.Message.ID)
		return mo, !strings.HasPrefix(mo.Message.Key, deadKey) // it was shown as a dead letter
	}
	return mo, true
}

// passing tells whether people need not see what happened when there is too much.
func passing(kind journal.Kind) bool {
	return kind == journal.Begun || kind == journal.Result || kind == journal.Failed
}

// copyFor is the copy of a moment for one place. It answers nothing: whatever is
// said to it is for whoever the original is from.
func (mo Moment) copyFor(c Copy, bridge string) *dropbox.Message {
	m := &dropbox.Message{
		From: cmp.Or(mo.Message.From, dropbox.Lead), To: []string{bridge}, Type: mo.Message.Type, Subject: mo.Message.Subject,
		Thread: mo.Message.Thread, Trace: mo.Message.Trace, Priority: dropbox.Normal,
		Key:  fmt.Sprintf("%s-%s-%s", bridge, mo.key, c.Where),
		Body: []byte(cut(string(mo.Message.Body), maxTold)), Extra: c.Extra,
	}
	if c.Text != "" {
		m.Type, m.Subject, m.Body = dropbox.Note, "", []byte(cut(c.Text, maxTold))
	}
	if passing(mo.Kind) && c.Text == "" {
		m.Priority = dropbox.Low
	}
	return m
}

var errNoBridge = errors.New("does the bridge run?")

func (h *house) deliverCopy(kind journal.Kind, m *dropbox.Message) error {
	if passing(kind) && !h.mirror.room(h.store) {
		return fmt.Errorf("too much waits in the mailbox %s; %w", h.mirror.Bridge(), errNoBridge)
	}
	bridge := h.mirror.Bridge()
	_, err := h.deliver(m.From, bridge, m)
	if errors.Is(err, dropbox.ErrNoMailbox) { // somebody deleted it
		if err = h.store.MakeMailbox(bridge); err == nil {
			_, err = h.deliver(m.From, bridge, m)
		}
	}
	return err
}

// count counts what waits. It is called at each look at the folders.
func (m *mirroring) count(store *dropbox.Store) {
	if m == nil {
		return
	}
	n := 0
	if box, err := store.Mailbox(m.Bridge()); err == nil {
		entries, _ := box.Peek()
		n = len(entries)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = n
}

// room tells whether one more copy may wait. Where it seems that none may, it counts.
func (m *mirroring) room(store *dropbox.Store) bool {
	m.mu.Lock()
	m.waiting++
	enough := m.waiting <= mostCopies
	m.mu.Unlock()
	if enough {
		return true
	}
	m.count(store)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waiting < mostCopies
}

// A lookout looks at the mail of the lead, which no agent works off, and shows it. It
// runs in one goroutine.
type lookout struct {
	*house
	bell  doorbell
	seen  map[string]bool // ids of what lay there at the last look
	file  lookoutFile
	saved time.Time
}

// lookoutFile remembers up to which time of delivery the lead's mail was shown.
type lookoutFile struct {
	V     int       `json:"v"`
	Until time.Time `json:"until"`
}

const (
	// lookoutSlack is how much later than another one a message may appear that was
	// written earlier. The keys see to it that none is shown twice.
	lookoutSlack = time.Minute
	// oldMail is how old mail is that nobody wants to see any more after the daemon,
	// or the bridge, was away.
	oldMail = 24 * time.Hour
)

func newLookout(h *house) *lookout {
	return &lookout{house: h, bell: newDoorbell(), seen: map[string]bool{}}
}

func (l *lookout) run(stop context.Context) {
	if err := journal.ReadJSON(l.home.MirrorFile(), &l.file); err != nil {
		l.log.Warn("mail of the lead may be shown late, or not", keyErr, err)
	}
	if now := time.Now().UTC(); l.file.Until.IsZero() || l.file.Until.After(now) {
		l.file.Until = now
		l.save(now)
	} else if now.Sub(l.file.Until) > oldMail {
		l.file.Until = now.Add(-oldMail)
	}
	since := l.file.Until.Add(-lookoutSlack)
	l.bell.ring()
	for {
		l.bell.wait(stop, forever)
		if stop.Err() != nil {
			l.save(time.Now())
			return
		}
		l.look(since)
	}
}

func (l *lookout) save(now time.Time) {
	l.file.V, l.saved = 1, now
	l.note(l.home.Files().WriteJSON(l.home.MirrorFile(), l.file))
}

// look shows what lies there and was delivered since then.
func (l *lookout) look(since time.Time) {
	box, err := l.store.Mailbox(dropbox.Lead)
	if err != nil {
		return // the look at the folders complains
	}
	entries, err := box.Peek()
	if err != nil {
		l.log.Warn("mailbox could not be looked at", keyAgent, dropbox.Lead, keyErr, err)
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
			continue // read by the person meanwhile, or no message
		}
		if err := l.arrived(m, dropbox.Lead, ""); err != nil {
			l.note(err)
			delete(still, e.ID) // seen at the next look
			continue
		}
		if e.Created.After(l.file.Until) {
			l.file.Until = e.Created
		}
	}
	l.seen = still
	if now := time.Now(); now.Sub(l.saved) > lookoutSlack {
		l.save(now)
	}
}
