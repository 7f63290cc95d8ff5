package swarm

import (
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// turnFiles are the files of a client in the home.
func (a *agent) turnFiles(mark string) runner.Files {
	return runner.Files{
		Stdout:   a.home.Stream(mark),
		Stderr:   a.home.turnFile(mark, ".stderr"),
		Private:  a.home.Dir(),
		Settings: a.home.clientFile(a.name, ".settings.json"),
		System:   a.home.clientFile(a.name, ".system.md"),
		Servers:  a.home.clientFile(a.name, ".mcp.json"),
	}
}

// clientSpec is the backend's part of the settings, with the system text whole.
func (a *agent) clientSpec(spec Spec) runner.Spec {
	c := spec.Client
	spec.Tools = a.tools(spec) != nil
	c.System = systemText(spec, a.plan(), filepath.Join(a.store.Dir(), a.name))
	return c
}

func (a *agent) environment(spec Spec, turn string) []string {
	o := runner.EnvOptions{
		Drop: spec.EnvDrop, Add: spec.Env, Agent: a.name, Dir: a.project, Token: a.tokens.of(a.name), TurnID: turn,
	}
	if a.program != "" {
		o.BinDir = filepath.Dir(a.program)
	}
	return runner.Environ(a.environ, o)
}

// tools is the server through which the agent's client reaches the swarm; nil where
// it is to have none.
func (a *agent) tools(spec Spec) *runner.Server {
	if !spec.Tools {
		return nil
	}
	return a.server
}

// toolsOf is the tools with which a turn began, for the next daemon, which may have other
// settings.
func (a *agent) toolsOf(rec *record) *runner.Server {
	switch {
	case !rec.Tools:
		return nil
	case a.server == nil:
		return new(runner.Server) // today's daemon gives none, and its client has them
	}
	return a.server
}

// hook is the command that the client runs after a compaction.
func (a *agent) hook() string {
	if a.program == "" {
		return ""
	}
	return screen.ShellWord(a.program) + " hook compact"
}

// handoff is the file that an earlier session left for its successor.
func (a *agent) handoff() string {
	path := filepath.Join(a.store.Dir(), "board", "handoff", a.name+".md")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

func (a *agent) backend(spec Spec) runner.Backend { return backendOf(a.backends, spec.Backend) }

// kind is what is known of the agent's kind of client.
func (a *agent) kind() *runner.Kind { return a.backend(a.spec()).Kind() }

// backendOf finds a backend by its name; nil when there is none of that name. Without a
// name it is the only one there is.
func backendOf(all map[string]runner.Backend, name string) runner.Backend {
	if name == "" && len(all) == 1 {
		for _, b := range all {
			return b
		}
	}
	return all[name]
}
