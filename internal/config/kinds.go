package config

import (
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// kindsSay is what the tag from of a field stands for: what may be written, and what holds
// where nothing is.
func kindsSay(about string) (what, standard string) {
	all := backends.Kinds()
	first := all[0]
	switch about {
	case "backend":
		return strings.Join(kindNames(all), " | "), first.Name
	case "mode":
		return strings.Join(kindModes(all), " | "), first.Mode
	}
	return "", strings.Join(first.Command, " ")
}

func kindNames(all []*runner.Kind) (names []string) {
	for _, k := range all {
		names = append(names, k.Name)
	}
	return names
}

// kindModes are the permission modes of all kinds, each once.
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

// ofKind gives an agent the command and the permission mode of its kind of client, where
// the file names none, and demands a mode that this kind knows.
func (a *Agent) ofKind(all []*runner.Kind, written func(key string) bool) *Error {
	i := slices.IndexFunc(all, func(k *runner.Kind) bool { return k.Name == a.Backend })
	if i < 0 {
		return nil // said already
	}
	k := all[i]
	if !written("command") {
		a.Command = slices.Clone(k.Command)
	}
	switch {
	case !written("permission_mode"):
		a.PermissionMode = k.Mode
	case len(k.Modes) == 0:
		return wrong("", "backend %s knows no permission modes", k.Name)
	case !slices.Contains(k.Modes, a.PermissionMode):
		return unlike(a.PermissionMode, k.Modes, "%q is not one of backend %s: %s", a.PermissionMode, k.Name, or(k.Modes))
	}
	return nil
}

// attachable refuses an attached session of a kind of client that has no hooks for it.
func (a *Agent) attachable(all []*runner.Kind) *Error {
	var able []*runner.Kind
	for _, k := range all {
		if k.Name == a.Backend && k.Attaches {
			return nil
		}
		if k.Attaches {
			able = append(able, k)
		}
	}
	if !a.Attached {
		return nil
	}
	return wrong("attached: false, or backend: "+or(kindNames(able)), "a session of backend %s cannot be attached", a.Backend)
}
