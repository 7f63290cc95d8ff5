package config

import (
	"cmp"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// serverWants returns the key that a server of this type needs, and the keys that it must not
// have.
func serverWants(s *runner.Server) (needs string, not []string) {
	if s.Type == "stdio" {
		return "command", []string{"url", "headers"}
	}
	return "url", []string{"command", "args", "env"}
}

// server requires the key that a server of this type needs, and refuses keys that belong
// to other types. ok is false if the server has another problem.
func (r *reader) server(s *runner.Server, path string, ok bool) {
	if !ok {
		return
	}
	if s.Type == "" && s.Command == "" && s.URL != "" {
		r.fail(path, "type: http", "the type is missing: http or sse")
		return
	}
	s.Type = cmp.Or(s.Type, "stdio")
	needs, not := serverWants(s)
	if _, ok := r.at[path+"."+needs]; !ok {
		r.fail(path, "", "the server's %s is missing", needs)
	}
	for _, key := range not {
		if at, ok := r.at[path+"."+key]; ok {
			r.report(at.key, path, wrong("", "%s does not belong in a server of type %s", key, s.Type))
		}
	}
}
