package config

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Policy holds the rules by which messages are refused. In each number 0 switches
// the rule off.
type Policy struct {
	AllowedTypes []string // types of messages; all six
	MaxBodyBytes int      // of a body; 8192
	SenderPerMin int      // messages of one agent; 60
	ThreadPerMin int      // messages in one conversation; 30
	MaxHops      int      // how often a message may be passed on; 8
	MaxReturns   int      // how often a request may come back to an agent that passed it on; 1
	MaxEchoes    int      // how often two may say nearly the same again; 2
	TurnsPerHour int      // turns that an agent begins without a word of a person; 120
	StopSentinel string   // text that halts its conversation; <<<HALT>>>
	Unproven     string   // allow or refuse; allow

	// ACL says what agents may do, by their names: what was written for a role stands
	// here for each agent that has it and no entry of its own.
	ACL map[string]Access
}

// An Access is what one agent may do. nil allows everything, an empty list nothing.
type Access struct {
	Publish   *[]string // patterns of topics
	Subscribe *[]string // patterns of topics
	Direct    *[]string // agents that it may write to, by their names
	Broadcast bool      // whether it may write to all at once
}

// The words of policy.unproven.
const (
	UnprovenAllow  = "allow"
	UnprovenRefuse = "refuse"
)

func builtinPolicy() Policy {
	return Policy{
		AllowedTypes: typeWords(), MaxBodyBytes: 8 << 10, SenderPerMin: 60, ThreadPerMin: 30, MaxHops: dropbox.MaxHops,
		MaxReturns: 1, MaxEchoes: 2, TurnsPerHour: 120, StopSentinel: "<<<HALT>>>", Unproven: UnprovenAllow,
	}
}

func typeWords() []string {
	var words []string
	for _, t := range dropbox.Types() {
		words = append(words, string(t))
	}
	return words
}

// mostBody is the largest file that can be a message.
const mostBody = 10 << 20

// policyKeys is the section policy; docs/policy.md tells what the rules are.
var policyKeys = []fileKey{
	{Key{"policy.allowed_types", "list", "[" + strings.Join(typeWords(), ", ") + "]", "The types of messages that may pass. result must be among them: it is what answers are."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			set(&f.Policy.AllowedTypes)(r.messageTypes(n, name))
		}},
	{Key{"policy.max_body_bytes", "number", "8192", "The longest body, in bytes, at most 10485760. A longer result, and a longer file dropped by hand, becomes an attachment; anything else is refused. 0: as long as a file may be."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			bytes, ok := r.number(n, name, 0)
			if ok && bytes > mostBody {
				r.fail(follow(n), "%s: %d is too large; the most is %d", name, bytes, mostBody)
				return
			}
			set(&f.Policy.MaxBodyBytes)(bytes, ok)
		}},
	{Key{"policy.sender_per_min", "number", "60", "The most messages that one agent may send in a minute, answers aside. 0: any number."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			set(&f.Policy.SenderPerMin)(r.number(n, name, 0))
		}},
	{Key{"policy.thread_per_min", "number", "30", "The most messages that agents may send in one conversation in a minute, answers aside; one more halts it. 0: any number."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			set(&f.Policy.ThreadPerMin)(r.number(n, name, 0))
		}},
	{Key{"policy.max_hops", "number", "8", "How often agents may pass a message on before its conversation is halted. 0: any number."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.Policy.MaxHops)(r.number(n, name, 0)) }},
	{Key{"policy.max_returns", "number", "1", "How often a request may come back, unanswered, to an agent that passed it on; once more is a ring, and halts the conversation. 0: any number."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			set(&f.Policy.MaxReturns)(r.number(n, name, 0))
		}},
	{Key{"policy.max_echoes", "number", "2", "How often two agents may say nearly the same again in one conversation within an hour; once more halts it. At most 15. 0: any number."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			echoes, ok := r.number(n, name, 0)
			if ok && echoes > mostEchoes {
				r.fail(follow(n), "%s: %d is too large; the most is %d, or 0 for any number", name, echoes, mostEchoes)
				return
			}
			set(&f.Policy.MaxEchoes)(echoes, ok)
		}},
	{Key{"policy.turns_per_hour", "number", "120", "How many turns an agent may begin within an hour without a word of a person; then it is paused until a person resumes it. Ten times as many is the bound for all its turns, those that the lead asks for included. 0: any number."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			set(&f.Policy.TurnsPerHour)(r.number(n, name, 0))
		}},
	{Key{"policy.stop_sentinel", "text", `"<<<HALT>>>"`, "A text that halts the conversation of a body which has it. \"\": none."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.Policy.StopSentinel)(r.line(n, name)) }},
	{Key{"policy.unproven", UnprovenAllow + " | " + UnprovenRefuse, UnprovenAllow, "What becomes of messages that nobody proves to have sent, such as files dropped by hand. allow: the agent is told that they are unverified. refuse: they are refused."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			set(&f.Policy.Unproven)(r.oneOf(n, name, []string{UnprovenAllow, UnprovenRefuse}))
		}},
	{Key{"policy.acl", "names with keys", "{}", "What agents may do, by name or role: {planner: {direct: [coder], broadcast: false, publish: [task.*], subscribe: [result.>]}}. direct names the agents or roles that it may write to; to write to the lead and to answer is always allowed. A list that is missing allows everything, an empty one nothing. Who is not named may do all."},
		func(r *reader, n *yaml.Node, name string, f *File) { r.aclNode = n }},
}

// mostEchoes is as much as is remembered of what two have said, less one.
const mostEchoes = 15

// messageTypes reads the types that may pass.
func (r *reader) messageTypes(n *yaml.Node, name string) ([]string, bool) {
	list, ok := r.list(n, name)
	if !ok {
		return nil, false
	}
	for i, t := range list {
		if !dropbox.Type(t).Valid() {
			e := r.fail(follow(follow(n).Content[i]), "%s: %q is not a type of message", name, t)
			e.Near = dropbox.Nearest(t, typeWords())
			ok = false
		}
	}
	if ok && !slices.Contains(list, string(dropbox.Result)) {
		r.fail(follow(n), "%s: result is missing, and answers are results", name).Try = name[strings.IndexByte(name, '.')+1:] + ": [result, " + strings.Join(list, ", ") + "]"
		return nil, false
	}
	return list, ok
}

// acl reads policy.acl when the agents are known.
func (r *reader) acl(f *File) {
	if r.aclNode == nil {
		return
	}
	const name = "policy.acl"
	byRole := map[string]Access{}
	allow := func(agent string, a Access) {
		if f.Policy.ACL == nil {
			f.Policy.ACL = map[string]Access{}
		}
		f.Policy.ACL[agent] = a
	}
	r.each(r.aclNode, name, func(who string, k, v *yaml.Node) {
		a := Access{Broadcast: true}
		r.access(v, name+"."+who, &a, f)
		switch {
		case len(f.withRole(who)) > 0:
			byRole[who] = a
		case !f.hasAgent(who):
			e := r.fail(k, "%s: there is no agent and no role %s", name, who)
			e.Near = dropbox.Nearest(who, f.namesAndRoles())
			if who == "fallback" {
				e.Try = "topics: {fallback: AGENT}"
			}
		}
		if f.hasAgent(who) {
			allow(who, a)
		}
	})
	for role, a := range byRole {
		for _, agent := range f.withRole(role) {
			if _, own := f.Policy.ACL[agent]; !own {
				allow(agent, a)
			}
		}
	}
}

// access reads what one agent or role may do.
func (r *reader) access(n *yaml.Node, name string, a *Access, f *File) {
	keys := []string{"publish", "subscribe", "direct", "broadcast"}
	r.each(n, name, func(key string, k, v *yaml.Node) {
		name := name + "." + key
		switch key {
		case "publish":
			r.patterns(v, name, &a.Publish)
		case "subscribe":
			r.patterns(v, name, &a.Subscribe)
		case "direct":
			r.correspondents(v, name, &a.Direct, f)
		case "broadcast":
			set(&a.Broadcast)(r.truth(v, name))
		default:
			r.unknown(k, key, keys, nil)
		}
	})
}

// patterns reads a list of patterns of topics.
func (r *reader) patterns(n *yaml.Node, name string, to **[]string) {
	list, ok := r.list(n, name)
	if !ok {
		return
	}
	for i, p := range list {
		if err := dropbox.CheckPattern(p); err != nil {
			r.fail(follow(follow(n).Content[i]), "%s: %v", name, err)
			ok = false
		}
	}
	if ok {
		*to = &list
	}
}

// correspondents reads a list of agents and roles, and makes names of agents of it.
func (r *reader) correspondents(n *yaml.Node, name string, to **[]string, f *File) {
	list, ok := r.list(n, name)
	if !ok {
		return
	}
	agents := []string{}
	for i, who := range list {
		switch {
		case f.Leads(who):
			continue // always
		case f.hasAgent(who), who == dropbox.IRC:
			agents = append(agents, who)
		case len(f.withRole(who)) > 0:
			agents = append(agents, f.withRole(who)...)
		default:
			e := r.fail(follow(follow(n).Content[i]), "%s: there is no agent and no role %s", name, who)
			e.Near = dropbox.Nearest(who, f.namesAndRoles())
			ok = false
		}
	}
	if ok {
		slices.Sort(agents)
		agents = slices.Compact(agents)
		*to = &agents
	}
}

func (f *File) hasAgent(name string) bool {
	_, ok := f.Agent(name)
	return ok
}

// withRole are the agents that have a role.
func (f *File) withRole(role string) []string {
	var names []string
	for _, a := range f.Agents {
		if a.Role == role && role != "" {
			names = append(names, a.Name)
		}
	}
	return names
}

func (f *File) namesAndRoles() []string {
	names := f.Names()
	for _, a := range f.Agents {
		if a.Role != "" && !slices.Contains(names, a.Role) {
			names = append(names, a.Role)
		}
	}
	return names
}

// StoreOptions are how the mailboxes are opened.
func (f *File) StoreOptions() dropbox.Options {
	o := dropbox.Options{MaxWaiting: f.MaxWaiting, MaxBody: int64(f.MaxBody()), MaxHops: f.Policy.MaxHops}
	if o.MaxHops == 0 {
		o.MaxHops = -1
	}
	return o
}

// MaxBody is the longest body, in bytes.
func (f *File) MaxBody() int {
	if f.Policy.MaxBodyBytes == 0 {
		return mostBody
	}
	return f.Policy.MaxBodyBytes
}
