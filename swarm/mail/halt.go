package mail

import (
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// haltThread halts the conversation of a message to an agent or a person. It tells the lead
// once, and quotes the message in the alert.
func (in *Inbox) haltThread(m *dropbox.Message, to string, v policy.Verdict) error {
	if err := in.Store.Threads().Halt(m.Thread, v.String()); err != nil {
		return err
	}
	in.Log.Warn("conversation halted", "thread", m.Thread, keyMessage, m.ID, "rule", v.Rule, keyWhy, v.Reason)
	last := strings.ReplaceAll(strings.TrimSpace(screen.Truncate(string(m.Body), notice.MaxQuote)), "\n", "\n> ")
	return in.TellHalted(m, fmt.Sprintf("\nThe last message, from %s to %s:\n\n> %s\n", m.From, to, last))
}

// TellHalted tells the lead once if the conversation of a message is halted. A sender may
// have halted it before delivery, without an alert. TellHalted does not report a halt by
// a person.
func (in *Inbox) TellHalted(m *dropbox.Message, more string) error {
	h, err := in.Store.Threads().Halted(m.Thread)
	if err != nil || h == nil || strings.HasPrefix(h.Why, ByLead) {
		return err
	}
	in.Notices.Tell(notice.Halted{Agent: in.Name, Thread: m.Thread, Trace: m.Trace, Title: Describe(m), Why: h.Why, Since: h.Since, More: more})
	return nil
}

// ByLead is the prefix of the reason when a person halts a conversation.
const ByLead = "by " + dropbox.Lead

// lastWord asks the gate about an answer that the daemon sends in this agent's name. An
// answer that halts its conversation is still delivered. If the answer may not pass, it
// becomes a note, which does not wake an agent.
func (in *Inbox) lastWord(m *dropbox.Message, to string) error {
	if in.Gate == nil {
		return nil
	}
	v := in.Gate.Ask(policy.Question{Message: m, To: to, Proven: true, BeforeDelivery: true, Now: time.Now()})
	if !v.Halt {
		return nil // the gate judges everything else at the claim
	}
	if !v.Pass {
		m.Type = dropbox.Note
	}
	return in.haltThread(m, to, v)
}
