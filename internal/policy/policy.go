package policy

import (
	"slices"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A Policy is a set of rules. A limit of 0 disables its rule; [Default] returns the
// documented rules. A Policy must not be changed once it is in use.
type Policy struct {
	Types      []dropbox.Type // allowed types; nil allows all
	MaxBody    int            // length of a body, in bytes
	PerSender  int            // messages from one sender per minute
	PerThread  int            // messages in one conversation per minute
	MaxHops    int            // how many times programs may pass a message on
	MaxReturns int            // how many times a request may come back to an agent that passed it on
	MaxEchoes  int            // how many times two agents may repeat nearly the same text
	Sentinel   string         // text in a body that halts its conversation; "" for none
	// RefuseUnproven refuses messages that have no proof of their sender.
	RefuseUnproven bool
	// Agents are the names of all agents. A message to all of them is a broadcast.
	Agents []string
	// Access specifies what each agent may do, by agent name; an agent without an entry
	// may do everything.
	Access map[string]Access
}

// Default returns the policy of a project whose configuration has no policy.
func Default() Policy {
	return Policy{
		Types: dropbox.Types(), MaxBody: 8 << 10, PerSender: 60, PerThread: 30,
		MaxHops: dropbox.MaxHops, MaxReturns: 1, MaxEchoes: 2, Sentinel: "<<<HALT>>>",
	}
}

// maxBody is the maximum length of the body of a message file, in bytes.
const maxBody = 10 << 20

// BodyLimit returns the maximum length of a body, in bytes.
func (p Policy) BodyLimit() int {
	if p.MaxBody == 0 {
		return maxBody
	}
	return p.MaxBody
}

// A Rule is the name of a rule that can refuse a message.
type Rule string

// These are the rules, in the order in which they are checked. The last four depend on the
// past and on what has been spent, so they are checked only at the claim.
const (
	RuleUnproven   Rule = "unproven"    // the sender is not proven, and proof is required
	RuleReserved   Rule = "reserved"    // no sender may use this name
	RuleType       Rule = "type"        // the type is not allowed
	RuleSize       Rule = "size"        // the body is too long
	RuleHalted     Rule = "halted"      // the conversation is halted
	RuleSentinel   Rule = "sentinel"    // the body halts the conversation
	RuleHops       Rule = "hops"        // the message was passed on too many times
	RuleRing       Rule = "ring"        // the request came back to an agent that passed it on
	RuleACL        Rule = "acl"         // the sender may not write to that mailbox
	RuleCost       Rule = "cost"        // nothing more may be spent on the message
	RuleSenderRate Rule = "sender_rate" // the sender sends too many messages
	RuleThreadRate Rule = "thread_rate" // the conversation has too many messages
	RuleEcho       Rule = "echo"        // nearly the same text was repeated too many times
)

// Rules lists the rules in the order in which they are checked.
func Rules() []Rule {
	return []Rule{RuleUnproven, RuleReserved, RuleType, RuleSize, RuleHalted, RuleSentinel, RuleHops, RuleRing, RuleACL, RuleCost, RuleSenderRate, RuleThreadRate, RuleEcho}
}

// A Verdict is the decision on whether a message may pass.
type Verdict struct {
	Pass   bool
	Rule   Rule   // the rule that refuses the message or, if it passes and Halt is set, the rule that halts the conversation
	Reason string // one line: what is wrong, and the limit
	Next   string // one line: what the sender, an agent or a person, can do
	Halt   bool   // the conversation must be halted
}

// String returns the rule and the reason: "hops: passed on 9 times; the maximum is 8".
func (v Verdict) String() string {
	if v.Reason == "" {
		return "passes"
	}
	return string(v.Rule) + ": " + v.Reason
}

// isReserved reports whether a name is reserved so that no sender may use it. The names of
// the bridges and of the lead are also reserved, but bridges and the lead do send
// messages.
func isReserved(name string) bool {
	return dropbox.Reserved(name) && name != dropbox.Lead && !dropbox.IsBridge(name)
}

// broadcasts reports whether a message is addressed to all other agents, provided that
// there are at least two.
func (p Policy) broadcasts(m *dropbox.Message) bool {
	if slices.Contains(m.To, dropbox.All) || slices.Contains(m.CC, dropbox.All) {
		return true
	}
	others := 0
	for _, name := range p.Agents {
		if name == m.From {
			continue
		}
		if !slices.Contains(m.To, name) && !slices.Contains(m.CC, name) {
			return false
		}
		others++
	}
	return others > 1
}
