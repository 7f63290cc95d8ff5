package config

import (
	"maps"
	"slices"

	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// check requires that the window is large enough for the rules and that there is a program
// for the model.
func (s *Supervisor) check(r *reader, path string, ok bool) {
	if !ok {
		return
	}
	counts := map[string]int{"same_call": s.Rules.SameCall, "same_error": s.Rules.SameError}
	for _, rule := range slices.Sorted(maps.Keys(counts)) {
		if counts[rule] > s.Window {
			r.fail(path+".window_size", "", "%d steps are too few, because rules.%s is %d", s.Window, rule, counts[rule])
			break
		}
	}
	k := backends.Kind(s.Backend)
	if k == nil || s.Model == "" { // the problem has already been reported, or the value is not used
		return
	}
	if len(s.Command) == 0 && len(k.Command) == 0 {
		r.fail(path+".backend", "command: [PROGRAM, ARGUMENTS]", "backend %s needs a command", k.Name)
	}
	if _, lacks := lacking(k)["thinking"]; lacks && s.Thinking != "" {
		if _, written := r.at[path+".thinking"]; written {
			r.fail(path+".thinking", "thinking: null", "backend %s does not support it", k.Name)
		}
		s.Thinking = ""
	}
}
