package config

import (
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// Policy contains the rules for refusing messages. A value of 0 turns its rule off.
// docs/policy.md explains the rules.
type Policy struct {
	AllowedTypes []string `key:"allowed_types" of:"task | question | result | status | handoff | note" default:"[task, question, result, status, handoff, note]" doc:"The types of messages that are allowed. result must be among them, because answers are results."`
	MaxBodyBytes int      `key:"max_body_bytes" most:"10485760" zero:"for as long as a file may be" default:"8192" doc:"The length limit of a body, in bytes, at most 10485760. A longer result, and a longer file dropped by hand, becomes an attachment; anything else is refused. 0: the limit of a file."`
	SenderPerMin int      `key:"sender_per_min" zero:"for any number" default:"60" doc:"The maximum number of messages that one agent may send in a minute, not counting answers. 0: any number."`
	ThreadPerMin int      `key:"thread_per_min" zero:"for any number" default:"30" doc:"The maximum number of messages that agents may send in one conversation in a minute, not counting answers; the next one halts the conversation. 0: any number."`
	MaxHops      int      `key:"max_hops" zero:"for any number" default:"8" doc:"How many times agents may pass a message on before its conversation is halted. 0: any number."`
	MaxReturns   int      `key:"max_returns" zero:"for any number" default:"1" doc:"How many times a request may come back, unanswered, to an agent that passed it on; one more halts the conversation. 0: any number."`
	// The gate remembers 16 messages between two agents, one more than this key's
	// maximum.
	MaxEchoes    int    `key:"max_echoes" most:"15" zero:"for any number" default:"2" doc:"How many times two agents may repeat nearly the same text in one conversation within an hour; one more halts it. At most 15. 0: any number."`
	TurnsPerHour int    `key:"turns_per_hour" zero:"for any number" default:"120" doc:"How many turns an agent may begin within an hour without a person; after that it is paused until a person resumes it. For all its turns together, including those that the lead asks for, the limit is ten times as high. 0: any number."`
	StopSentinel string `key:"stop_sentinel" is:"empty" default:"\"<<<HALT>>>\"" doc:"A body that contains this text halts its conversation. \"\": none."`
	Unproven     string `key:"unproven" type:"allow | refuse" default:"allow" doc:"What happens to messages without a proof of their sender, such as files dropped by hand. allow: they pass, and the agent is told that they are unverified. refuse: they are refused."`

	Editable []string `key:"editable" is:"own" doc:"Files from which clients read settings, and that agents may change, such as [.mcp.json]; see docs/security.md for the list. The swarm's own files and the clients' memory cannot be in it."`

	// ACL specifies what each agent may do, by name. An agent without an entry in the
	// file has its role's entry here.
	ACL map[string]Access `key:"acl" type:"names with keys" doc:"What agents may do, by name or role: {planner: {direct: [coder], broadcast: false, publish: [task.*], subscribe: [result.>]}}. direct names the agents, the roles and the bridge (irc) that it may write to; writing to the lead and answering are always allowed. A missing list allows everything, an empty list nothing. An agent without an entry may do everything."`
}

// An Access specifies what one agent may do. A nil list allows everything, an empty list
// nothing.
type Access struct {
	Publish   *[]string `key:"publish" is:"pattern"`   // topic patterns
	Subscribe *[]string `key:"subscribe" is:"pattern"` // topic patterns
	Direct    *[]string `key:"direct"`                 // the agents and bridges to which it may write
	Broadcast bool      `key:"broadcast" default:"true"`
}

// The values of policy.unproven.
const (
	UnprovenAllow  = "allow"
	UnprovenRefuse = "refuse"
)

// mostBody is the maximum value of max_body_bytes. It is also the default size limit for
// an attachment; see [dropbox.Options].
const mostBody = 10 << 20

// editable reads one entry of policy.editable.
func editable(_ *reader, s string) (string, *Error) {
	all := []string{".git"}
	for _, k := range backends.Kinds() {
		all = append(all, k.Own.Project...)
	}
	if slices.Contains(all, s) {
		return s, nil
	}
	e := wrong("", "%q is not among the files that can be made editable: %s", s, strings.Join(all, ", "))
	e.Near = dropbox.Nearest(s, all)
	return "", e
}

// check requires that the allowed types include result.
func (p *Policy) check(r *reader, _ string, _ bool) {
	if all := append([]string{"result"}, p.AllowedTypes...); !slices.Contains(p.AllowedTypes, "result") {
		r.fail("policy.allowed_types", "allowed_types: ["+strings.Join(all, ", ")+"]", "result is missing, and answers are results")
	}
}
