package policy

import (
	"fmt"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// loop detects requests that go around in a circle: A → B → C → A.
//
// The path of a message lists the agents that passed the request on and have not received an
// answer: an answer travels back along the path and removes the names. So if the recipient's
// name is on the path, the message results from a request that the recipient itself made. A
// request may come back MaxReturns times, by default once, because the recipient of a task
// may need to ask its sender something. A request that comes back more often has started
// another round, which makes it a ring. Results, and messages that do not start a turn, are
// never rings.
func (p Policy) loop(q Question) Verdict {
	m := q.Message
	if p.MaxReturns == 0 || m.Type == dropbox.Result || !q.wakes() {
		return passes
	}
	if returns(m.Path, q.To) <= p.MaxReturns {
		return passes
	}
	return halt(RuleRing, fmt.Sprintf("agents are passing it around in a circle: %s (policy.max_returns is %d)", shownPath(append(m.Path[:len(m.Path):len(m.Path)], q.To)), p.MaxReturns), askLead)
}

// returns counts how many times the recipient, to, is already on the path. A message that
// an agent sends to itself is not a round: a name that appears several times in a row
// counts once, and a name at the end of the path does not count.
func returns(path []string, to string) int {
	n := 0
	for i, name := range path {
		if name == to && i < len(path)-1 && path[i+1] != to {
			n++
		}
	}
	return n
}

// shownPath formats a path; it shows only the end of a long one.
func shownPath(path []string) string {
	var names []string
	if len(path) > 10 {
		path = path[len(path)-10:]
		names = append(names, "…")
	}
	for _, name := range path {
		names = append(names, shownName(name))
	}
	return strings.Join(names, " → ")
}
