package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// Access specifies what one agent may do. A nil list allows everything, and an empty list
// allows nothing.
type Access struct {
	Publish   []string // topic patterns
	Subscribe []string // topic patterns
	Direct    []string // agents and bridges to which the agent may write
	// NoBroadcast prevents the agent from sending one message to all agents.
	NoBroadcast bool
}

// acl checks an agent's lists: the agents and bridges to which it may write, and the topics
// on which it may publish. Every agent may write to the lead, and may answer with a result.
// If a message may be from any of several agents, each of them needs permission. If a
// person wrote the message, the person can send it again with a proof.
func (p Policy) acl(q Question) Verdict {
	m := q.Message
	if q.person() || q.To == dropbox.Lead || m.Type == dropbox.Result && m.ReplyTo != "" && (q.Proven || len(q.Suspects) == 0) {
		return passes
	}
	for i, who := range q.authors() {
		v := p.mayWrite(q, who)
		if v.Pass {
			continue
		}
		if i > 0 {
			v.Reason = fmt.Sprintf("nothing proves who wrote it, and %s was working: %s", shownName(who), v.Reason)
			v.Next = "if a person wrote it: claude-swarm send; otherwise have the lead pass it on"
		}
		return v
	}
	return passes
}

func (p Policy) mayWrite(q Question, who string) Verdict {
	m := q.Message
	access, listed := p.Access[who]
	if !listed || q.To == who {
		return passes
	}
	if m.Topic != "" {
		return p.Publish(who, m.Topic)
	}
	if access.NoBroadcast && p.broadcasts(m) {
		return refuse(RuleACL, fmt.Sprintf("%s may not write to all agents at once (policy.acl)", shownName(who)), "write to the agents that it concerns")
	}
	if access.Direct == nil || slices.Contains(access.Direct, q.To) {
		return passes
	}
	may := "only to the lead"
	if len(access.Direct) > 0 {
		may = "only to " + strings.Join(access.Direct, ", ") + " and the lead"
	}
	return refuse(RuleACL, fmt.Sprintf("%s may not write to %s, %s (policy.acl)", shownName(who), shownName(q.To), may), "write to one of these, or have the lead pass it on")
}

// Publish decides whether an agent may publish on a topic.
func (p Policy) Publish(agent, topic string) Verdict {
	return p.topic(agent, topic, "publish on", p.Access[agent].Publish)
}

// Subscribe decides whether an agent may subscribe to a topic pattern. A pattern in the
// agent's list must cover it.
func (p Policy) Subscribe(agent, pattern string) Verdict {
	return p.topic(agent, pattern, "subscribe to", p.Access[agent].Subscribe)
}

func (p Policy) topic(agent, topic, do string, list []string) Verdict {
	if list == nil || slices.ContainsFunc(list, func(allowed string) bool { return Covers(allowed, topic) }) {
		return passes
	}
	may := "nor any other topic"
	if len(list) > 0 {
		may = "only " + strings.Join(list, ", ")
	}
	return refuse(RuleACL, fmt.Sprintf("%s may not %s %s, %s (policy.acl)", shownName(agent), do, screen.Short(topic, 200), may), askLead)
}

// Covers reports whether a topic pattern matches everything that another pattern or a
// plain topic matches. As in NATS, dots separate words, * matches one word, and > at the
// end matches one or more words.
func Covers(pattern, other string) bool {
	have, want := strings.Split(pattern, "."), strings.Split(other, ".")
	for i, w := range have {
		switch {
		case i >= len(want):
			return false
		case w == ">" && i == len(have)-1:
			return true
		case want[i] == ">" && i == len(want)-1:
			return false // other may match more than one word here
		case w != "*" && w != want[i]:
			return false
		}
	}
	return len(have) == len(want)
}
