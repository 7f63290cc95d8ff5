package provision

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// A used is a client (a kind and a command) that agents in the configuration use.
type used struct {
	kind   *runner.Kind
	agents []config.Agent // at least one
	sound  bool           // its program exists and is of this kind
	probe  *runner.Probe  // nil if the client was not probed
}

// usedClients returns the clients that the agents use, without duplicates, in the order
// of the agents.
func usedClients(agents []config.Agent) (all []*used) {
	for _, a := range agents {
		kind := backends.Kind(a.Backend)
		i := slices.IndexFunc(all, func(u *used) bool {
			return u.kind == kind && slices.Equal(u.agents[0].Client.Command, a.Client.Command)
		})
		if i < 0 {
			i = len(all)
			all = append(all, &used{kind: kind})
		}
		all[i].agents = append(all[i].agents, a)
	}
	return all
}

// names returns the names of the client's agents.
func (u *used) names() string {
	var names []string
	for _, a := range u.agents {
		names = append(names, a.Name)
	}
	return screen.Cut(strings.Join(names, ", "), 120)
}

// probes starts, in parallel, all clients that can be probed, each with the settings of
// its first agent that is not attached. Each client opens a session with our MCP server
// and exits, without calling its model.
func (e *checkup) probes(ctx context.Context, all []*used) {
	if e.Program == "" || e.SpecOf == nil {
		return
	}
	backends := backends.New()
	var group sync.WaitGroup
	for _, u := range all {
		prober, ok := backends[u.kind.Name].(runner.Prober)
		i := slices.IndexFunc(u.agents, func(a config.Agent) bool { return !a.Attached })
		if !ok || !u.sound || i < 0 {
			continue
		}
		group.Go(func() {
			p := e.probe(ctx, prober, u.agents[i])
			u.probe = &p
		})
	}
	group.Wait()
	for _, u := range all {
		if u.probe != nil {
			e.probed(u)
		}
	}
}

// probe probes the client of an agent. It leaves no files or processes behind.
func (e *checkup) probe(ctx context.Context, prober runner.Prober, a config.Agent) runner.Probe {
	failed := func(err error) runner.Probe { return runner.Probe{End: runner.NoResources, Reason: err.Error()} }
	dir, err := os.MkdirTemp("", "cs-doctor-")
	if err != nil {
		return failed(err)
	}
	defer os.RemoveAll(dir) // anything that cannot be removed is in the system's temporary folder
	spec, id := e.SpecOf(e.file, a), "doctor-"+strings.ToLower(rand.Text())
	t := runner.Turn{
		ID: id, Agent: a.Name, Spec: spec.Client,
		Env: runner.Environ(os.Environ(), runner.EnvOptions{
			Drop: spec.EnvDrop, Add: spec.Env, Agent: a.Name, Dir: e.file.Dir, TurnID: id, BinDir: filepath.Dir(e.Program),
		}),
		Files: runner.Files{
			Stdout: filepath.Join(dir, "stdout"), Stderr: filepath.Join(dir, "stderr"), Settings: filepath.Join(dir, "settings.json"),
			System: filepath.Join(dir, "system.md"), Servers: filepath.Join(dir, "servers.json"), Ready: filepath.Join(dir, "ready"),
		},
		Protected: runner.Protected{Unread: []runner.ProtectedPath{{Dir: dir}}},
	}
	if spec.Tools {
		t.Tools = &runner.Server{Command: e.Program, Args: []string{"mcp"}}
	}
	bounded, cancel := context.WithTimeout(ctx, e.ProbeTimeout)
	defer cancel()
	p := prober.Probe(bounded, t)
	if p.End == runner.Stopped && bounded.Err() != nil {
		p.Reason = fmt.Sprintf("it was not ready within %v", e.ProbeTimeout)
	}
	if strings.Contains(p.Hint, dir) { // the hint names a file that is about to be removed
		p.Hint = ""
	}
	return p
}

// probed reports the result of a client's probe.
func (e *checkup) probed(u *used) {
	const name = "tools"
	p, program := u.probe, strings.Join(u.agents[0].Client.Command, " ")
	if p.End != runner.Done {
		try := p.Hint
		if try == "" {
			try = "cd " + shellWord(u.agents[0].Client.Dir) + " && " + program + " </dev/null, and see what it prints"
		}
		e.wrong(name, try, "%s cannot begin a turn of %s: %s", program, u.names(), p.Reason)
		return
	}
	about := []string{u.kind.Name + " opens a session without calling the model"}
	if u.kind.Program() == "" && p.Name+p.Version != "" {
		about = append(about, "it calls itself "+strings.TrimSpace(p.Name+" "+p.Version))
	}
	if p.Model != "" {
		about = append(about, "model "+p.Model)
	}
	switch p.Tools {
	case runner.Proven:
		about = append(about, "it has listed the tools")
	case runner.Later:
		about = append(about, "it starts the tools with its first prompt, so only a turn can test them")
	default:
		about = append(about, "it gets no tools (mcp: false)")
	}
	e.good(name, "%s", strings.Join(about, "; "))
	if p.Mode != "" {
		e.good("permissions", "%s in mode %s asks %s", u.kind.Name, p.Mode[strings.LastIndex(p.Mode, "#")+1:], u.kind.Asking)
	}
}

// probeTime is the default timeout of a probe. On a busy machine, opencode once took 52
// s.
const probeTime = 60 * time.Second
