package view

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A NeedKind is the kind of a [Need].
type NeedKind string

// These are the kinds, in the order in which they are listed.
const (
	NeedDaemon   NeedKind = "daemon"   // no daemon is running
	NeedHalted   NeedKind = "halted"   // the swarm is halted, so no agent starts a turn
	NeedTrouble  NeedKind = "trouble"  // the daemon itself has a problem; without a next, it ends by itself or why says what to do
	NeedLimit    NeedKind = "limit"    // an account is at its limit, which ends without any action by a person; one entry for all its agents
	NeedBudget   NeedKind = "budget"   // an agent is waiting because a budget is used up
	NeedStopped  NeedKind = "stopped"  // an agent is stopped
	NeedAnswer   NeedKind = "answer"   // an agent is waiting during its turn for an answer from a person
	NeedSession  NeedKind = "session"  // an agent is run by a person's own session, and no session is attached
	NeedDead     NeedKind = "dead"     // an agent has dead letters
	NeedThread   NeedKind = "thread"   // a conversation is halted
	NeedRefused  NeedKind = "refused"  // messages were refused today
	NeedIRC      NeedKind = "irc"      // the bridge to IRC is not connected, or reports a warning
	NeedQuestion NeedKind = "question" // the person has not answered a question
	NeedUnread   NeedKind = "unread"   // the person has unread mail
)

// A Need is something that requires a person's attention. A field is empty or zero if its
// value is unknown or if it does not apply to the kind.
type Need struct {
	Kind   NeedKind   `json:"kind"`   // what waits
	Agents []string   `json:"agents"` // the names of the affected agents
	Thread string     `json:"thread"` // the conversation, or ""
	Count  int        `json:"count"`  // the number of messages, or 0
	Since  *time.Time `json:"since"`  // since when; null if unknown
	Why    string     `json:"why"`    // the reason, or ""
	Next   string     `json:"next"`   // the command to type, or ""
}

// needs lists what requires a person's attention, ordered by kind and, within a kind, in
// the order of the status.
func needs(st swarm.Status) []Need {
	list := []Need{}
	add := func(n Need) {
		if n.Agents == nil {
			n.Agents = []string{}
		}
		list = append(list, n)
	}
	if st.Daemon == nil {
		add(Need{Kind: NeedDaemon, Why: swarm.WhyNoDaemon, Next: StartDaemon})
	}
	if st.Halted {
		add(Need{Kind: NeedHalted, Why: st.Reason, Next: "claude-swarm unhalt"})
	}
	for _, t := range st.Trouble {
		add(Need{Kind: NeedTrouble, Why: t.Why, Next: t.Next})
	}
	for _, l := range limits(st.Agents) {
		add(Need{Kind: NeedLimit, Agents: l.Agents, Why: l.Why, Next: l.Next()})
	}
	for _, a := range st.Agents {
		about := Need{Agents: []string{a.Name}, Since: a.Since, Why: a.Why, Next: a.Next}
		switch {
		case lacksDaemon(st, a):
		case a.State == swarm.Stopped:
			about.Kind = NeedStopped
		case a.State == swarm.Parked:
			about.Kind = NeedBudget
		case a.State == swarm.Asking && strings.HasPrefix(a.Next, "claude-swarm "): // in other cases, the agent continues without help
			about.Kind = NeedAnswer
		case a.State == swarm.Away && a.Next != "":
			about.Kind = NeedSession
		}
		if about.Kind != "" {
			add(about)
		}
		if a.Dead > 0 {
			add(Need{Kind: NeedDead, Agents: []string{a.Name}, Count: a.Dead, Next: listDead(a.Name)})
		}
	}
	for _, t := range st.Gate.Threads {
		add(Need{Kind: NeedThread, Thread: t.Thread, Since: &t.Since, Why: cmp.Or(strings.TrimSpace(t.Why), "by hand"), Next: "claude-swarm unhalt --thread " + ShellWord(t.Thread)})
	}
	if n := st.Gate.Refused.Today; n > 0 {
		add(Need{Kind: NeedRefused, Count: n, Next: "claude-swarm refused list"})
	}
	if i := st.IRC; i != nil && (i.Next != "" && i.Next != StartDaemon || len(i.Warnings) > 0) {
		add(Need{Kind: NeedIRC, Since: i.Since, Why: cmp.Or(i.Why, strings.Join(i.Warnings, "; ")), Next: cmp.Or(i.Next, "claude-swarm irc doctor")})
	}
	if n := st.Lead.Questions; n > 0 {
		add(Need{Kind: NeedQuestion, Count: n, Next: "claude-swarm inbox"})
	}
	if n := st.Lead.Unread; n > 0 {
		add(Need{Kind: NeedUnread, Count: n, Next: "claude-swarm inbox"})
	}
	kinds := NeedKinds()
	slices.SortStableFunc(list, func(a, b Need) int { return slices.Index(kinds, a.Kind) - slices.Index(kinds, b.Kind) })
	return list
}

// NeedKinds returns all kinds, in order.
func NeedKinds() []NeedKind {
	return []NeedKind{
		NeedDaemon, NeedHalted, NeedTrouble, NeedLimit, NeedBudget, NeedStopped, NeedAnswer, NeedSession, NeedDead, NeedThread, NeedRefused, NeedIRC, NeedQuestion, NeedUnread,
	}
}

// Needed returns the needs of one kind.
func (s *Status) Needed(kind NeedKind) []Need {
	return slices.DeleteFunc(slices.Clone(s.Needs), func(n Need) bool { return n.Kind != kind })
}

// ShellWord quotes a word for a shell if necessary, so that a person can paste a next step.
func ShellWord(word string) string {
	safe := func(r rune) bool {
		return r == '/' || r == '.' || r == '-' || r == '_' || r == '~' ||
			r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !safe(r) }) < 0 {
		return word
	}
	return screen.TypedWord(word)
}
