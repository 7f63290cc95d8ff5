package dropbox

import (
	"cmp"
	"slices"
)

// reserved lists the names that no agent can have because a store or its users need them.
// lead, swarm and [Hooks] are mailboxes. The names that [Bridges] returns are also
// reserved. Every agent can send messages to lead.
var reserved = []string{
	"lead", "human", "operator", "supervisor", "swarm", "all", "board", "attach", "refused", "halted",
	"tmp", "new", "cur", "done", "dead", "keys", "work", "seen", "topics",
	"version", "halt", // files of the store; some disks treat HALT and halt as the same name
	Hooks,
}

// Hooks is the webhooks' mailbox: its messages are events, which are posted to other
// programs. Only the daemon delivers to it, and no messages are sent from it.
const Hooks = "hooks"

// Lead is the mailbox of the person or agent that leads the others. Swarm is the sender
// of the daemon's own messages; its mailbox receives people's answers to the daemon's
// questions. All is the name that addresses every agent except the sender.
const (
	Lead  = "lead"
	Swarm = "swarm"
	All   = "all"
)

// bridges lists the names of the bridges' mailboxes. A bridge carries messages between
// the mailboxes and people on another network.
var bridges = []string{"irc"}

// Bridges returns the names of the bridges. Each name identifies both a mailbox and the
// sender of messages from people on that network.
func Bridges() []string { return slices.Clone(bridges) }

// IsBridge reports whether a name belongs to a bridge.
func IsBridge(name string) bool { return slices.Contains(bridges, name) }

// alsoLead lists other names for Lead.
var alsoLead = []string{"human", "operator", "supervisor"}

// maxAgentName is the maximum length of an agent's name, in bytes.
const maxAgentName = 32

// CheckAgent checks that an agent's name matches [a-z0-9][a-z0-9_-]{0,31} and is not
// reserved. The error is a [*NameError].
func CheckAgent(name string) error {
	if reason := badShape(name); reason != "" {
		return &NameError{Name: name, Reason: reason}
	}
	if Reserved(name) {
		return &NameError{Name: name, Reason: "reserved"}
	}
	return nil
}

// Reserved reports whether a name is reserved for the store or its users.
func Reserved(name string) bool { return slices.Contains(reserved, name) || IsBridge(name) }

// IsLead reports whether a name refers to the lead. The name is either lead or one that
// other programs use for the person in charge. No agent can have these names, and only
// lead has a mailbox.
func IsLead(name string) bool { return name == Lead || slices.Contains(alsoLead, name) }

// CheckMailbox checks the name of a mailbox: an agent's name, lead, swarm, [Hooks] or a bridge.
// The error is a [*NameError].
func CheckMailbox(name string) error {
	if name == Lead || name == Swarm || name == Hooks || IsBridge(name) {
		return nil
	}
	return CheckAgent(name)
}

func badShape(name string) string {
	switch {
	case name == "":
		return "empty"
	case len(name) > maxAgentName:
		return "longer than 32 characters"
	case name[0] == '-' || name[0] == '_':
		return "must begin with a letter or a digit"
	}
	for _, c := range []byte(name) {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
			return "only a-z, 0-9, - and _"
		}
	}
	return ""
}

// Nearest returns at most 3 names from known that are similar to the typed name, nearest
// first. Names that begin with name come before names with a similar spelling.
func Nearest(name string, known []string) []string {
	type guess struct {
		name string
		far  int
		how  int // 0: begins with the typed name; 1: similar spelling
	}
	var guesses []guess
	typed := []byte(name)
	typed = typed[:min(len(typed), 2*maxAgentName)]
	for i, c := range typed {
		if 'A' <= c && c <= 'Z' {
			typed[i] = c + 'a' - 'A'
		}
	}
	for _, k := range known {
		far := distance(string(typed), k)
		// Up to a third of the letters, and always at least one, may be wrong. If three
		// or more letters were typed, every name that begins with them is considered
		// similar.
		begins := len(typed) >= 3 && len(k) > len(typed) && k[:len(typed)] == string(typed)
		if far <= max(1, min(len(k), len(typed))/3) || begins {
			how := 1
			if begins {
				how = 0 // all typed letters match
			}
			guesses = append(guesses, guess{k, far, how})
		}
	}
	slices.SortFunc(guesses, func(a, b guess) int {
		return cmp.Or(cmp.Compare(a.how, b.how), cmp.Compare(a.far, b.far), cmp.Compare(a.name, b.name))
	})
	var near []string
	for _, g := range guesses[:min(len(guesses), 3)] {
		near = append(near, g.name)
	}
	return near
}

// distance returns the number of changes needed to turn a into b. A change adds, drops or
// replaces a letter, or swaps two adjacent letters.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
