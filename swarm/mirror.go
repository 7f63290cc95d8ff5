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
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Mirror shows people elsewhere, such as in the channels of IRC, what the swarm
// does: the daemon delivers copies into the mailbox irc, and a bridge works that
// off. A copy wakes nobody, is not asked of the gate, and no agent waits for it. A
// Mirror is called from several goroutines, and must not block.
type Mirror interface {
	// Copies says where something is to be seen; none is nowhere.
	Copies(Moment) []Copy
}

// A MomentKind says what happened.
type MomentKind string

const (
	MomentBegun  MomentKind = "begun"  // a turn begins: Message is what it works on, To the agent
	MomentResult MomentKind = "result" // a turn ended well: Message is what came of it, To who asked
	MomentFailed MomentKind = "failed" // a turn did not: Message says why
	MomentMail   MomentKind = "mail"   // Message arrived in the mailbox of the lead
	MomentAlert  MomentKind = "alert"  // Message is one of the daemon's own, to whoever leads
	MomentDead   MomentKind = "dead"   // a message was given up: Message says why
)

// A Moment is something that people may want to see.
type Moment struct {
	Kind    MomentKind
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

	id string // with Kind and the place: what makes a copy of it unique
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
	waiting int // in the mailbox irc, and the copies that came since it was counted
}

// passing tells whether people need not see a moment when there is too much.
func (k MomentKind) passing() bool {
	return k == MomentBegun || k == MomentResult || k == MomentFailed
}

// mirrored delivers the copies of a moment. To repeat it is harmless: the keys make
// them the same. What cannot be delivered is said in the status, and work goes on.
func (h *house) mirrored(mo Moment) {
	if h.mirror == nil {
		return
	}
	for _, c := range h.mirror.Copies(mo) {
		m := mo.copyFor(c)
		if err := h.deliverCopy(mo.Kind, m); err != nil {
			h.log.Warn("copy could not be delivered", keyMessage, mo.About, "moment", string(mo.Kind), keyErr, err)
			h.trouble.until("mirror", "IRC misses what happens: "+err.Error(), func() error { return h.deliverCopy(mo.Kind, m) })
		}
	}
}

// copyFor is the copy of a moment for one place. It answers nothing: whatever is
// said to it is for whoever the original is from.
func (mo Moment) copyFor(c Copy) *dropbox.Message {
	m := &dropbox.Message{
		From: cmp.Or(mo.Message.From, dropbox.Lead), To: []string{dropbox.IRC}, Type: mo.Message.Type, Subject: mo.Message.Subject,
		Thread: mo.Message.Thread, Trace: mo.Message.Trace, Priority: dropbox.Normal,
		Key:  fmt.Sprintf("irc-%s-%s-%s", mo.Kind, mo.id, c.Where),
		Body: []byte(cut(string(mo.Message.Body), maxTold)), Extra: c.Extra,
	}
	if c.Text != "" {
		m.Type, m.Subject, m.Body = dropbox.Note, "", []byte(cut(c.Text, maxTold))
	}
	if mo.Kind.passing() && c.Text == "" {
		m.Priority = dropbox.Low
	}
	return m
}

var errNoBridge = errors.New("too much waits in the mailbox irc; does the bridge run?")

func (h *house) deliverCopy(kind MomentKind, m *dropbox.Message) error {
	if kind.passing() && !h.mirror.room(h.store) {
		return errNoBridge
	}
	_, err := h.deliver(m.From, dropbox.IRC, m)
	if errors.Is(err, dropbox.ErrNoMailbox) { // somebody deleted it
		if err = h.store.MakeMailbox(dropbox.IRC); err == nil {
			_, err = h.deliver(m.From, dropbox.IRC, m)
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
	if box, err := store.Mailbox(dropbox.IRC); err == nil {
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

// mirrorBegun shows that an agent takes a message up.
func (a *agent) mirrorBegun(m *dropbox.Message) {
	if a.mirror == nil {
		return
	}
	if m.From == dropbox.Swarm && a.plan().Lead == a.name {
		a.mirrorMail(m, a.name, "") // an alert, of which nobody was told if the daemon was cut off
	}
	a.mirrored(Moment{Kind: MomentBegun, Message: m, To: a.name, About: m.ID, Agent: a.name, Of: m, id: m.ID})
}

// mirrorResult shows what came of a turn that ended well. answer is the id of the
// answer that the daemon sent; "" where it sent none.
func (a *agent) mirrorResult(m *dropbox.Message, r *Receipt, answer string) {
	if a.mirror == nil || r.Outcome != string(runner.Done) {
		return
	}
	shown := &dropbox.Message{From: a.name, Type: dropbox.Result, Subject: answerSubject(m), Thread: m.Thread, Trace: m.Trace, Body: []byte(r.Text)}
	if r.Answer != nil {
		shown.Body = []byte(r.Answer.Body)
	}
	a.mirrored(Moment{Kind: MomentResult, Message: shown, To: m.From, About: orElse(answer, m.ID), Agent: a.name, Of: m, Task: a.completed(m, r), id: m.ID})
}

// mirrorFailed shows that a turn did not end well.
func (a *agent) mirrorFailed(j *job, why string) {
	m := j.claim.Message
	shown := &dropbox.Message{
		From: dropbox.Swarm, Type: dropbox.Status, Subject: describe(m), Thread: m.Thread, Trace: m.Trace,
		Body: []byte(cut(why, maxReason) + "\n"),
	}
	a.mirrored(Moment{Kind: MomentFailed, Message: shown, To: m.From, About: m.ID, Agent: a.name, Of: m, id: j.rec.Turn})
}

// mirrorDead shows that a message is given up.
func (a *agent) mirrorDead(c *dropbox.Claim, reason string, at time.Time) {
	shown := &dropbox.Message{
		From: dropbox.Swarm, Type: dropbox.Status, Subject: "not done: " + c.ID,
		Body: []byte(cut(reason, maxReason) + "\n"),
	}
	mo := Moment{Kind: MomentDead, Message: shown, To: dropbox.Lead, About: c.ID, Agent: a.name, Of: c.Message, id: fmt.Sprintf("%s.%d", c.ID, at.UnixMicro())}
	if m := c.Message; m != nil {
		shown.Subject, shown.Thread, shown.Trace, mo.To = oneLine("not done: "+describe(m), 200), m.Thread, m.Trace, m.From
	}
	a.mirrored(mo)
}

// mirrorMail shows a message that lies in the mailbox of whoever leads.
func (h *house) mirrorMail(m *dropbox.Message, to, agent string) {
	mo := Moment{Kind: MomentMail, Message: m, To: to, About: m.ID, Agent: agent, id: m.ID}
	if m.From == dropbox.Swarm {
		if strings.HasPrefix(m.Key, deadKey) {
			return // it was shown as a dead letter
		}
		mo.Kind = MomentAlert
	}
	h.mirrored(mo)
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
	if err := readJSON(l.home.mirrorFile(), &l.file); err != nil {
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
	l.note(l.home.files.WriteJSON(l.home.mirrorFile(), l.file))
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
		l.mirrorMail(m, dropbox.Lead, "")
		if e.Created.After(l.file.Until) {
			l.file.Until = e.Created
		}
	}
	l.seen = still
	if now := time.Now(); now.Sub(l.saved) > lookoutSlack {
		l.save(now)
	}
}
