package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// sessionAgent determines a session's agent from the given name, the environment, the
// parent processes, or the working directory. If it finds none, the error asks the
// person to name the agent.
func (p *project) sessionAgent(as string) (string, error) {
	if as = cmp.Or(as, os.Getenv(runner.AgentVar)); as != "" {
		return as, nil
	}
	b, err := p.home.AttachedTo(os.Getpid())
	if err != nil {
		return "", err
	}
	if b != nil {
		return b.Agent, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	var candidates, nearest []string
	longest := 0
	for _, a := range p.file.Agents {
		if !a.Attached {
			continue
		}
		candidates = append(candidates, a.Name)
		cwd := a.Client.Dir
		if real, err := filepath.EvalSymlinks(cwd); err == nil {
			cwd = real
		}
		if dir != cwd && !strings.HasPrefix(dir, strings.TrimSuffix(cwd, "/")+"/") || len(cwd) < longest {
			continue
		}
		if len(cwd) > longest {
			longest, nearest = len(cwd), nil
		}
		nearest = append(nearest, a.Name)
	}
	switch {
	case len(nearest) == 1:
		return nearest[0], nil
	case len(candidates) == 0:
		return "", fail(exitUsage, "claude-swarm attach NAME", "which agent is this session? None is attached yet")
	case len(nearest) > 1:
		candidates = nearest
	}
	return "", fail(exitUsage, "claude-swarm attach "+candidates[0],
		"which agent is this session? It could be %s", strings.Join(candidates, ", "))
}

// asFlag returns the flag that names a session's agent.
func asFlag() cli.Flag {
	return &cli.StringFlag{Name: "as", Usage: "the session is the agent `NAME`"}
}
