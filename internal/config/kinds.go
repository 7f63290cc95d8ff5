package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// kindsSay returns the type and the default of a field with the tag "from". It derives
// them from the kinds of clients.
func kindsSay(about string) (what, standard string) {
	all := backends.Kinds()
	first := all[0]
	switch about {
	case "backend":
		return strings.Join(kindNames(all), " | "), first.Name
	case "mode":
		return strings.Join(kindModes(all), " | ") + " | null", first.Mode
	case "linger":
		return "", first.Linger.String()
	}
	return "", strings.Join(first.Command, " ")
}

func kindNames(all []*runner.Kind) (names []string) {
	for _, k := range all {
		names = append(names, k.Name)
	}
	return names
}

// kindModes returns the permission modes of all kinds of clients, without duplicates.
func kindModes(all []*runner.Kind) (modes []string) {
	for _, k := range all {
		for _, m := range k.Modes {
			if !slices.Contains(modes, m) {
				modes = append(modes, m)
			}
		}
	}
	return modes
}

// ofKind sets each key that the file omits to the value for the agent's kind of client.
// It refuses the agent's own keys that the client does not support. Such keys in
// defaults do not apply to the agent, and ofKind records a note about them.
func (r *reader) ofKind(a, defaults *Agent) {
	i := slices.IndexFunc(r.clients(), func(k *runner.Kind) bool { return k.Name == a.Backend })
	if i < 0 {
		return // already reported
	}
	k, path := r.clients()[i], "agents."+a.Name
	r.command(a, k, a.Backend == defaults.Backend)
	r.mode(a, k)
	r.attachable(a)
	r.options(a, k, a.Backend == defaults.Backend)
	r.lacks(a, k)
	if _, written := r.written(path, "linger"); !written && a.Session == turn.SessionResume && !a.Attached {
		a.Linger = k.Linger
	}
}

// written finds a key that the file sets for the agent at path, or under defaults.
func (r *reader) written(path, key string) (at entry, ok bool) {
	if at, ok = r.at[path+"."+key]; !ok {
		at, ok = r.at["defaults."+key]
	}
	return at, ok
}

// once reports a problem, unless one has been reported at the same position. Otherwise, a
// mistake in defaults would be reported for every agent.
func (r *reader) once(n *yaml.Node, path string, e *Error) {
	if e != nil && !slices.ContainsFunc(r.errs, func(o *Error) bool { return o.Line == n.Line && o.Column == n.Column }) {
		r.report(n, path, e)
	}
}

// command gives an agent the default program of its kind of client. The command in
// defaults applies only to agents that use the backend in defaults.
func (r *reader) command(a *Agent, k *runner.Kind, general bool) {
	path := "agents." + a.Name
	_, own := r.at[path+".command"]
	if _, written := r.at["defaults.command"]; own || written && general {
		return
	}
	a.Client.Command = slices.Clone(k.Command)
	if len(a.Client.Command) == 0 {
		r.once(r.find(path+".backend").value, "", wrong("command: [PROGRAM, ARGUMENTS]", "backend %s needs a command, and agent %s has none", k.Name, a.Name))
	}
}

// mode gives an agent the default permission mode of its kind of client, and refuses a
// mode that this kind does not support.
func (r *reader) mode(a *Agent, k *runner.Kind) {
	path := "agents." + a.Name
	at, written := r.written(path, "permission_mode")
	switch {
	case !written || a.Client.PermissionMode == "":
		a.Client.PermissionMode = k.Mode
	case len(k.Modes) == 0:
		r.once(at.value, path+".permission_mode", wrong("permission_mode: null", "backend %s has no permission modes", k.Name))
	case !slices.Contains(k.Modes, a.Client.PermissionMode):
		r.once(at.value, path+".permission_mode", unlike(a.Client.PermissionMode, k.Modes, "%q is not one of backend %s: %s", a.Client.PermissionMode, k.Name, or(k.Modes)))
	}
}

// attachable refuses an attached session if the kind of client has no hooks for it.
func (r *reader) attachable(a *Agent) {
	var able []*runner.Kind
	for _, k := range r.clients() {
		if k.Name == a.Backend && k.Attaches {
			return
		}
		if k.Attaches {
			able = append(able, k)
		}
	}
	if path := "agents." + a.Name + ".attached"; a.Attached {
		r.once(r.find(path).value, path, wrong("attached: false, or backend: "+or(kindNames(able)), "a session of backend %s cannot be attached", a.Backend))
	}
}

// lacking returns the keys that a kind of client does not support, each with a suggestion
// of what to write instead.
func lacking(k *runner.Kind) map[string]string {
	all := make(map[string]string)
	if !k.Asks {
		all["permissions"] = "allowed_tools, disallowed_tools or permission_mode"
	}
	if !k.Takes() {
		all["backend_options"] = ""
	}
	maps.Copy(all, k.Lacks)
	return all
}

// lacks refuses an agent's keys that its client does not support. If such a key comes
// from defaults, lacks resets it instead.
func (r *reader) lacks(a *Agent, k *runner.Kind) {
	lacking, v, standard := lacking(k), reflect.ValueOf(a).Elem(), standardAgent()
	for _, f := range fieldsOf(agentType) {
		value, without := v.FieldByIndex(f.index), reflect.ValueOf(standard).FieldByIndex(f.index)
		instead, lacks := lacking[f.key]
		what := f.key
		if !lacks && value.Kind() == reflect.String {
			what += ": " + value.String()
			instead, lacks = lacking[what]
		}
		if !lacks || reflect.DeepEqual(value.Interface(), without.Interface()) {
			continue
		}
		path := "agents." + a.Name + "." + f.key
		if at, own := r.at[path]; own {
			r.report(at.value, "", wrong(instead, "%s: backend %s does not support it", what, k.Name))
			continue
		}
		value.Set(without)
		r.remark(r.find(path).value, "", wrong(instead, "%s: backend %s does not support it, so it does not apply to %s", what, k.Name, a.Name))
	}
}
