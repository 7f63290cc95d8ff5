package config

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// agents reads the agents over what defaults says.
func (r *reader) agents(n *yaml.Node, base Agent, f *File) {
	if n = follow(n); n.Kind == yaml.SequenceNode {
		r.fail(n, "agents: want a key for each agent, got a list").Try = "agents: {coder: {role: coder}}"
		return
	}
	r.each(n, "agents", func(name string, k, v *yaml.Node) {
		if err := dropbox.CheckAgent(name); err != nil {
			r.badName(k, name, err)
			return
		}
		a := base
		a.Name = name
		a.Env, a.MCPServers = maps.Clone(base.Env), maps.Clone(base.MCPServers)
		r.agent(v, name, &a, f)
		f.Agents = append(f.Agents, a)
	})
}

// badName reports a name that cannot be an agent's, with the one it might have
// become.
func (r *reader) badName(k *yaml.Node, name string, err error) {
	reason := reasonOf(err)
	shown := []rune(name)
	if len(shown) > 40 {
		shown = append(shown[:40], '…')
	}
	e := r.fail(k, "agent name %q: %s", string(shown), reason)
	if low := strings.ToLower(name); low != name && dropbox.CheckAgent(low) == nil {
		e.Near = []string{low}
	}
}

// reasonOf is why a name cannot be an agent's.
func reasonOf(err error) string {
	if ne, ok := errors.AsType[*dropbox.NameError](err); ok {
		return ne.Reason
	}
	return err.Error()
}

// agent reads the keys of one agent, or of defaults when name is empty.
func (r *reader) agent(n *yaml.Node, name string, a *Agent, f *File) {
	place := "defaults"
	if name != "" {
		place = name
	}
	r.each(n, place, func(key string, k, v *yaml.Node) {
		i := slices.IndexFunc(agentKeys, func(ak agentKey) bool { return ak.Path == key })
		if i < 0 {
			r.unknown(k, key, agentNames(), fileNames())
			return
		}
		f.where[name+"."+key] = r.placeOf(v)
		agentKeys[i].set(r, v, key, a)
	})
}

// unknown reports a key that does not belong where it stands: of a part that is
// not built, of another place of the file, or of none.
func (r *reader) unknown(k *yaml.Node, key string, here, elsewhere []string) {
	if slices.Contains(later, key) {
		r.notYet(k, key)
		return
	}
	e := r.fail(k, "unknown key %q", key)
	switch {
	case slices.Contains(elsewhere, key) && slices.Contains(agentNames(), key):
		e.Problem += " here; it belongs to an agent or under defaults"
	case slices.Contains(elsewhere, key):
		e.Problem += " here; it belongs to the top level"
	default:
		if e.Near = dropbox.Nearest(key, here); len(e.Near) == 0 {
			e.Try = "known here: " + strings.Join(here, ", ")
		}
	}
}

func (r *reader) notYet(k *yaml.Node, key string) {
	r.fail(k, "%s: not in this version", key)
}

// agentNames are the keys that an agent may have.
func agentNames() []string {
	names := make([]string, len(agentKeys))
	for i, k := range agentKeys {
		names[i] = k.Path
	}
	return names
}

func (r *reader) backend(n *yaml.Node, name string) (string, bool) {
	s, ok := r.text(n, name)
	switch {
	case !ok:
		return "", false
	case slices.Contains(laterBackends, s):
		r.fail(follow(n), "%s: %s: not in this version", name, s)
		return "", false
	case s != claude:
		r.fail(follow(n), "%s: %q is unknown; this version has %s", name, s, claude)
		return "", false
	}
	return s, true
}

func (r *reader) command(n *yaml.Node, name string) (words []string, ok bool) {
	n = follow(n)
	if n.Kind == yaml.SequenceNode {
		words, ok = r.list(n, name)
	} else if s, good := r.text(n, name); good {
		var err error
		if words, err = splitWords(s); err != nil {
			r.fail(n, "%s: %v", name, err)
			return nil, false
		}
		ok = true
	}
	if ok && (len(words) == 0 || words[0] == "") {
		r.fail(n, "%s: is empty", name)
		return nil, false
	}
	return words, ok
}

// tools reads a list of tools. null gives nil; a list without an entry does not.
func (r *reader) tools(n *yaml.Node, name string) (*[]string, bool) {
	n = follow(n)
	items := []*yaml.Node{n}
	switch {
	case isNull(n):
		return nil, true
	case n.Kind == yaml.SequenceNode:
		items = n.Content
	case n.Kind == yaml.MappingNode:
		r.fail(n, "%s: want text, a list or null, got %s", name, kind(n))
		return nil, false
	}
	tools, good := []string{}, true
	for _, item := range items {
		s, ok := r.line(item, name)
		if !ok {
			good = false
			continue
		}
		some, err := splitTools(s)
		if err == nil && slices.ContainsFunc(some, func(t string) bool { return strings.HasPrefix(t, "-") }) {
			err = errors.New("a tool does not begin with -")
		}
		if err != nil {
			r.fail(follow(item), "%s: %q: %v", name, s, err)
			good = false
			continue
		}
		tools = append(tools, some...)
	}
	return &tools, good
}

// pastTheGate are tools of the client by which its sessions reach each other. No agent
// has them, since no rule of policy, receipt or mailbox would know.
var pastTheGate = []string{"ListAgents", "SendMessage"}

// allowed reads the tools that an agent may use.
func (r *reader) allowed(n *yaml.Node, name string) (*[]string, bool) {
	tools, ok := r.tools(n, name)
	if !ok || tools == nil {
		return tools, ok
	}
	for _, tool := range *tools {
		if bare, _, _ := strings.Cut(tool, "("); slices.Contains(pastTheGate, strings.TrimSpace(bare)) {
			r.fail(follow(n), "%s: %s goes past the mailboxes, so no agent has it", name, tool).Try = "take it out; an agent sends with claude-swarm send and its tools of dead-drop"
			return nil, false
		}
	}
	return tools, true
}

var (
	variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })
	drop     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\*?$`) })
)

// variables adds variables to those that are there. A value is taken as it is
// written, so that PORT: 8080 and DEBUG: true need no quotes.
func (r *reader) variables(n *yaml.Node, name string, to *map[string]string) {
	r.pairs(n, name, to, func(key, value string) string {
		switch {
		case !variable().MatchString(key):
			return fmt.Sprintf("%q is not the name of a variable", key)
		case strings.HasPrefix(key, "CLAUDE_SWARM_"):
			return key + " is set by claude-swarm itself"
		case strings.ContainsRune(value, 0):
			return key + ": a value cannot have the character NUL"
		}
		return ""
	})
}

// pairs adds names with their values to those that are there. wrong says what is
// wrong with one, or nothing.
func (r *reader) pairs(n *yaml.Node, name string, to *map[string]string, wrong func(key, value string) string) {
	r.each(n, name, func(key string, k, v *yaml.Node) {
		v = follow(v)
		switch problem := wrong(key, v.Value); {
		case problem != "":
			at := k
			if strings.HasPrefix(problem, key+": ") {
				at = v
			}
			r.fail(at, "%s: %s", name, problem)
		case v.Kind != yaml.ScalarNode:
			r.fail(v, "%s: %s: want text, got %s", name, key, kind(v))
		case isNull(v):
			r.fail(v, "%s: %s: has no value", name, key).Try = key + `: ""`
		default:
			if *to == nil {
				*to = make(map[string]string)
			}
			(*to)[key] = v.Value
		}
	})
}

func (r *reader) drops(n *yaml.Node, name string) ([]string, bool) {
	list, ok := r.list(n, name)
	for _, s := range list {
		if ok && !drop().MatchString(s) {
			r.fail(follow(n), "%s: %q is neither a NAME nor a PREFIX_*", name, s)
			return nil, false
		}
	}
	return list, ok
}
