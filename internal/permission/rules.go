package permission

import (
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// An Answer is what the rules say about a tool call.
type Answer string

// The answers. Unsaid allows what changes nothing but files of the project: the kinds read,
// search, think and edit. It denies everything else, as the permission mode acceptEdits does.
const (
	Allow  Answer = "allow"
	Ask    Answer = "ask"
	Deny   Answer = "deny"
	Unsaid Answer = ""
)

// Rules say what a client may do. The zero value allows what [Unsaid] allows.
type Rules struct {
	Allow, Ask, Deny []Entry
	Otherwise        Answer        // about what no entry names
	Timeout          time.Duration // of a question; a call without an answer is denied
}

// Decide says what becomes of a tool call: Allow, Ask or Deny. The entry is the one that decided;
// it is the zero Entry where Otherwise did.
func (r Rules) Decide(call runner.PermissionRequest) (Answer, Entry) {
	for _, list := range []struct {
		answer  Answer
		entries []Entry
		holds   func(Entry, runner.PermissionRequest) bool
	}{{Deny, r.Deny, Entry.concerns}, {Ask, r.Ask, Entry.concerns}, {Allow, r.Allow, Entry.allows}} {
		if i := slices.IndexFunc(list.entries, func(e Entry) bool { return list.holds(e, call) }); i >= 0 {
			return list.answer, list.entries[i]
		}
	}
	if r.Otherwise != Unsaid {
		return r.Otherwise, Entry{}
	}
	if call.Tool == "" && slices.Contains([]string{"read", "search", "think", "edit"}, call.Kind) {
		return Allow, Entry{}
	}
	return Deny, Entry{}
}
