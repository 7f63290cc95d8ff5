package policy

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// Decide returns a verdict on whether a message may pass. A nil past is treated as empty.
// Decide changes neither the policy nor the past.
func (p Policy) Decide(past *Past, q Question) Verdict {
	if q.daemon() {
		return Verdict{Pass: true}
	}
	rules := []func(Question) Verdict{
		p.unproven, p.reserved, p.types, p.size, p.halted, p.sentinel, p.hops, p.loop, p.acl,
	}
	halts := Verdict{Pass: true}
	for _, rule := range rules {
		v := rule(q)
		if v.Reason == "" {
			continue
		}
		if !v.Pass {
			return v
		}
		halts = v // the message passes but halts its conversation
	}
	if q.BeforeDelivery {
		return halts
	}
	if q.Spent != "" && q.wakes() {
		return refuse(RuleCost, q.Spent, askLead)
	}
	if past == nil || halts.Halt || q.person() || q.dropped() || past.knows(q.Message.ID) {
		return halts
	}
	for _, rule := range []func(*Past, Question) Verdict{p.senderRate, p.threadRate, p.echo} {
		if v := rule(past, q); !v.Pass {
			return v
		}
	}
	return halts
}

// passes is the verdict of a rule that allows a message.
var passes = Verdict{Pass: true}

func refuse(r Rule, reason, next string) Verdict { return Verdict{Rule: r, Reason: reason, Next: next} }

// halt returns a verdict that refuses a message and halts its conversation.
func halt(r Rule, reason, next string) Verdict {
	return Verdict{Rule: r, Reason: reason, Next: next, Halt: true}
}

// askLead is the next step for an agent. It is always possible, because every agent may
// write to the lead.
const askLead = `claude-swarm send lead "how things stand" --type status`

func (p Policy) unproven(q Question) Verdict {
	if q.Proven || !p.RefuseUnproven {
		return passes
	}
	return refuse(RuleUnproven, "nothing proves that it is from "+shownName(q.Message.From),
		"send it with claude-swarm send; files dropped by hand prove nothing (policy.unproven)")
}

// reserved refuses messages sent under a reserved name, which no sender may use. The
// daemon's own messages are not affected, because Decide accepts them first.
func (p Policy) reserved(q Question) Verdict {
	if !isReserved(q.Message.From) {
		return passes
	}
	return refuse(RuleReserved, fmt.Sprintf("nobody may send mail under the name %s", q.Message.From), "send it under your own name")
}

func (p Policy) types(q Question) Verdict {
	if p.Types == nil || slices.Contains(p.Types, q.Message.Type) {
		return passes
	}
	var words []string
	for _, t := range p.Types {
		words = append(words, string(t))
	}
	return refuse(RuleType, fmt.Sprintf("type %s is not allowed here, only %s (policy.allowed_types)", shownName(string(q.Message.Type)), strings.Join(words, ", ")),
		"send it as one of these")
}

// size limits the length of the body. A result may be longer before delivery, because
// delivery turns a long result into an attachment.
func (p Policy) size(q Question) Verdict {
	if q.BeforeDelivery && q.Message.Type == dropbox.Result {
		return passes
	}
	if n := len(q.Message.Body); p.MaxBody > 0 && n > p.MaxBody {
		return refuse(RuleSize, fmt.Sprintf("the body has %d bytes; the maximum is %d (policy.max_body_bytes)", n, p.MaxBody),
			"send the long part as a file: --attach FILE")
	}
	return passes
}

// halted refuses messages that would start a turn in a halted conversation. All other
// messages pass.
func (p Policy) halted(q Question) Verdict {
	if q.Halted == "" || !q.wakes() {
		return passes
	}
	return refuse(RuleHalted, haltedThread(q.Message.Thread)+screen.Short(q.Halted, 200)+")", askLead)
}

// haltedThread returns the beginning of the reason for a refusal in a halted conversation.
func haltedThread(thread string) string {
	return "the conversation " + shownName(thread) + " is halted ("
}

// WasHalted reports whether the recorded reason for a refusal, which is the text of a
// [Verdict], says that the conversation was halted. thread is the conversation to which the
// rules assigned the message, even if the message file names a different one.
func WasHalted(reason, thread string) bool {
	return strings.HasPrefix(reason, string(RuleHalted)+": "+haltedThread(thread))
}

// sentinel halts the conversation of a message that contains the stop text. A message that
// does not start a turn still passes, so that the recipient gets it.
func (p Policy) sentinel(q Question) Verdict {
	if p.Sentinel == "" || !bytes.Contains(q.Message.Body, []byte(p.Sentinel)) {
		return passes
	}
	next := askLead
	if q.person() {
		next = "leave it out of the text, or put the text into a file: --attach FILE"
	}
	v := halt(RuleSentinel, fmt.Sprintf("%s wrote %s (policy.stop_sentinel)", shownName(q.speaker()), screen.Short(p.Sentinel, 200)), next)
	v.Pass = !q.wakes()
	return v
}

func (p Policy) hops(q Question) Verdict {
	if p.MaxHops == 0 || q.Message.Hops <= p.MaxHops {
		return passes
	}
	return halt(RuleHops, fmt.Sprintf("passed on %d times; the maximum is %d (policy.max_hops)", q.Message.Hops, p.MaxHops), askLead)
}

func (p Policy) senderRate(past *Past, q Question) Verdict {
	if past.senderHasRoom(p, q) {
		return passes
	}
	return refuse(RuleSenderRate, fmt.Sprintf("%s sends more than %d messages a minute (policy.sender_per_min)", shownName(q.speaker()), p.PerSender),
		"combine your messages, and wait a minute")
}

func (p Policy) threadRate(past *Past, q Question) Verdict {
	if past.threadHasRoom(p, q) {
		return passes
	}
	return halt(RuleThreadRate, fmt.Sprintf("more than %d messages a minute in the conversation %s (policy.thread_per_min)", p.PerThread, shownName(q.Message.Thread)), askLead)
}

func (p Policy) echo(past *Past, q Question) Verdict {
	if p.MaxEchoes == 0 {
		return passes
	}
	n := past.echoes(q)
	if n <= p.MaxEchoes {
		return passes
	}
	return halt(RuleEcho, fmt.Sprintf("%s and %s repeat nearly the same text for %s time; the maximum is %d (policy.max_echoes)", shownName(q.speaker()), shownName(q.To), nth(n), p.MaxEchoes), askLead)
}

// nth returns an ordinal number with its article, as in "the 3rd".
func nth(n int) string {
	switch {
	case n%100/10 == 1:
	case n%10 == 1:
		return "the " + strconv.Itoa(n) + "st"
	case n%10 == 2:
		return "the " + strconv.Itoa(n) + "nd"
	case n%10 == 3:
		return "the " + strconv.Itoa(n) + "rd"
	}
	return "the " + strconv.Itoa(n) + "th"
}

// shownName returns an untrusted name in a safe form: a valid mailbox name is unchanged,
// and any other name is shortened and quoted.
func shownName(s string) string {
	if s == "" || strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}) >= 0 || len(s) > 64 {
		return strconv.Quote(s[:min(len(s), 64)])
	}
	return s
}

// threadOf returns the conversation of a message. The first message of a conversation has
// no thread: its id is the thread.
func threadOf(m *dropbox.Message) string {
	if m.Thread != "" {
		return m.Thread
	}
	return m.ID
}
