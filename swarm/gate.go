package swarm

import (
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// A Gate decides whether a message may pass. The daemon asks it about every message
// that it claims, wherever it came from, and about its own answers. It is
// called from several goroutines.
type Gate interface {
	Ask(GateQuestion) GateVerdict
}

// A GateQuestion is about one copy of a message.
type GateQuestion struct {
	Message *dropbox.Message
	To      string // the mailbox that it is for
	Proven  bool   // the proof shows that the sender is who it says
	// Suspects are the agents that were at work when a message appeared which is not
	// proven: one of them may have left it.
	Suspects       []string
	Halted         string // why the conversation is halted; "" when it is not
	BeforeDelivery bool   // it is not delivered yet; the gate is asked again at the claim
	At             time.Time
}

// A GateVerdict says whether a message may pass.
type GateVerdict struct {
	Pass   bool
	Rule   string // in one word, by which rule it does not, or is to halt its conversation
	Reason string // one line for people
	Next   string // one line: what the sender can do
	Halt   bool   // the conversation is to be halted, whether the message passes or not
}

func (v GateVerdict) String() string { return v.Rule + ": " + v.Reason }

// gated asks the gate about a claimed message, and sets it aside when it may not
// pass. Without a gate only loops are stopped.
func (a *agent) gated(c *dropbox.Claim) (refused bool, err error) {
	m := c.Message
	suspects, err := a.traceMessage(c)
	if err != nil {
		return false, err
	}
	if a.gate == nil {
		if !a.store.TooManyHops(m.Hops) {
			return false, nil
		}
		return true, a.bury(c, fmt.Sprintf("passed on %d times: a loop", m.Hops))
	}
	q := GateQuestion{Message: m, To: a.name, Proven: a.proves(m), Suspects: suspects, At: time.Now()}
	halted, err := a.store.Threads().Halted(m.Thread)
	if err != nil {
		return false, err
	} else if halted != nil {
		q.Halted = orElse(halted.Why, "by hand")
	}
	v := a.gate.Ask(q)
	if !v.Pass {
		if passes, err := a.box.Refusals().Passes(c.Entry); passes || err != nil {
			return false, err // a person has let it through
		}
	}
	if v.Halt {
		if err := a.haltThread(m, v); err != nil {
			return false, err
		}
	}
	if v.Pass {
		return false, nil
	}
	return true, a.turnAway(c, v)
}

// turnAway refuses a claimed message: its sender is told, and it is kept with the
// reason. All of it can be repeated.
func (a *agent) turnAway(c *dropbox.Claim, v GateVerdict) error {
	if err := a.tellRefused(c.Message, v); err != nil {
		return err
	}
	if err := a.dropOffer(c.Message, v.String()); err != nil {
		return err
	}
	a.doors.forget(c.ID)
	a.log.Warn("message refused", keyMessage, c.ID, "rule", v.Rule, keyWhy, v.Reason)
	a.diary.Line(c.ID, fmt.Sprintf("= refused, %s from %s: %s", c.Message.Type, a.plan().Called(c.Message.From), v))
	return a.box.Refuse(c.Entry, v.String())
}

// tellRefused tells the sender that a message was refused. An agent is told once in a
// conversation, by a note that does not wake it: whatever woke it could make it try
// again. A person is told each time.
func (a *agent) tellRefused(m *dropbox.Message, v GateVerdict) error {
	body := fmt.Sprintf("Refused on its way to %s. %s.\n\nTo do: %s\n\nThe message is kept: claude-swarm read %s\n", a.name, v, v.Next, m.ID)
	subject := "refused: " + describe(m)
	if m.From == dropbox.Swarm {
		a.tellLead("refused:"+m.ID, subject, body) // somebody took the name
		return nil
	}
	note := &dropbox.Message{
		From: dropbox.Swarm, To: []string{m.From}, Type: dropbox.Note, Subject: screen.Short(subject, 200),
		Thread: m.Thread, Trace: m.Trace, ReplyTo: m.ID, Key: "refused:" + m.Thread, Priority: dropbox.Normal,
	}
	if m.From == dropbox.Lead {
		note.Type, note.Key = dropbox.Status, "refused:"+m.ID
		if m.Type.WantsAnswer() {
			note.Type = dropbox.Result // whoever waits for the answer waits for this
		}
	} else {
		body += "What else is refused in this conversation is not told one by one.\n"
	}
	note.Body = []byte(body)
	_, err := a.deliver(dropbox.Swarm, m.From, note)
	if undeliverable(err) {
		a.tellLead(note.Key, subject, body)
		return nil
	}
	return err
}

// maxQuoted bounds what an alert quotes of a message, in bytes.
const maxQuoted = 1 << 10

// haltThread halts the conversation of a message. The lead is told once, with what
// was said last.
func (a *agent) haltThread(m *dropbox.Message, v GateVerdict) error {
	if err := a.store.Threads().Halt(m.Thread, v.String()); err != nil {
		return err
	}
	a.log.Warn("conversation halted", "thread", m.Thread, keyMessage, m.ID, "rule", v.Rule, keyWhy, v.Reason)
	last := strings.ReplaceAll(strings.TrimSpace(cut(string(m.Body), maxQuoted)), "\n", "\n> ")
	return a.tellHalted(m, fmt.Sprintf("\nLast, %s said to %s:\n\n> %s\n", m.From, a.name, last))
}

// tellHalted tells the lead that the conversation of a message is halted, if it is,
// once. A sender may have halted it before the delivery, and told nobody. What the lead did
// is no news to the lead.
func (a *agent) tellHalted(m *dropbox.Message, more string) error {
	h, err := a.store.Threads().Halted(m.Thread)
	if err != nil || h == nil || strings.HasPrefix(h.Why, ByLead) {
		return err
	}
	a.tellLead("halted:"+m.Thread+":"+h.Since.Format(time.RFC3339Nano), "conversation halted: "+describe(m), fmt.Sprintf(
		"The conversation %s is halted: %s.\nNo agent is woken in it any more.\n%s\nHow it came to that: claude-swarm trace %s\nTo let it go on: claude-swarm unhalt --thread %s\n",
		m.Thread, orElse(h.Why, "by hand"), more, orElse(m.Trace, m.Thread), m.Thread))
	return nil
}

// ByLead begins the reason for which a person halts a conversation.
const ByLead = "by " + dropbox.Lead

// lastWord asks the gate about an answer of the daemon's in this agent's name. One
// that halts its conversation still arrives: as a note, which wakes nobody.
func (a *agent) lastWord(m *dropbox.Message, to string) error {
	if a.gate == nil {
		return nil
	}
	v := a.gate.Ask(GateQuestion{Message: m, To: to, Proven: true, BeforeDelivery: true, At: time.Now()})
	if !v.Halt {
		return nil // the rest is asked at the claim
	}
	if !v.Pass {
		m.Type = dropbox.Note
	}
	return a.haltThread(m, v)
}

// GateStatus is what the gate has stopped.
type GateStatus struct {
	Refused RefusedCount   `json:"refused"`
	Threads []ThreadHalted `json:"halted_threads"` // the newest first
}

// RefusedCount counts the messages that were refused.
type RefusedCount struct {
	Today int `json:"today"` // since midnight, UTC
	Kept  int `json:"kept"`
}

// ThreadHalted is a conversation that is halted.
type ThreadHalted struct {
	Thread string    `json:"thread"`
	Why    string    `json:"why"`
	Since  time.Time `json:"since"`
}

// gateStatus looks at what the gate has stopped in these mailboxes.
func gateStatus(store *dropbox.Store, agents []Spec, now time.Time) (GateStatus, error) {
	st := GateStatus{Threads: []ThreadHalted{}}
	midnight := now.UTC().Truncate(24 * time.Hour)
	for _, spec := range agents {
		box, err := store.Mailbox(spec.Name)
		if err != nil {
			continue // not made yet, or just being made again
		}
		kept, today, err := box.Refusals().Count(midnight)
		if err != nil {
			return st, err
		}
		st.Refused.Kept += kept
		st.Refused.Today += today
	}
	halted, err := store.Threads().List()
	for _, h := range halted {
		st.Threads = append(st.Threads, ThreadHalted{h.Thread, h.Why, h.Since})
	}
	return st, err
}
