package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/claude-swarm/claude-swarm/internal/audit"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/git"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// listeners returns the listener that records finished work in git, or no listener if
// audit.git is not set in the configuration.
func listeners(ctx context.Context, f *config.File, log *slog.Logger) ([]notice.Listener, error) {
	if !f.Audit.Git {
		return nil, nil
	}
	trail, err := audit.Open(ctx, f.DeadDropDir, audit.Options{Log: log, Secrets: journal.HomeOf(f.Dir).Secrets()})
	if owner, ok := errors.AsType[*git.OwnerError](err); ok {
		return nil, fail(exitConfig, owner.Next(), "audit: %w", err)
	} else if err != nil {
		return nil, fail(exitConfig, "git init, or audit: {git: false}", "audit: %w", err)
	}
	return []notice.Listener{recorder(trail)}, nil
}

// recorder returns a listener that records finished work in the given audit. Because
// files can be written shortly after the event that ends the work, the listener also records
// them when it is called without events.
func recorder(trail *audit.Audit) notice.Listener {
	ends := func(ev journal.Event) bool { return ev.Kind == journal.Result || ev.Kind == journal.Dead }
	return notice.Listener{Name: "audit", Behind: "the audit trail is behind", Acts: ends, Hear: func(ctx context.Context, events []journal.Event) error {
		if len(events) > 0 && !slices.ContainsFunc(events, ends) {
			return nil
		}
		return trail.Record(ctx)
	}}
}

// ircOf returns the IRC section of a configuration after applying the options of this
// daemon.
func (o daemonOrder) ircOf(f *config.File) config.IRC {
	if o.noIRC {
		return config.IRC{}
	}
	return f.IRC
}

// planOf returns the swarm's plan for a configuration after applying the options of this
// daemon.
func (o daemonOrder) planOf(f *config.File) swarm.Plan {
	plan := planOf(f)
	if o.noIRC {
		plan.IRC = ""
		for n := range plan.Agents {
			plan.Agents[n].Channels = nil
		}
	}
	if plan.Supervisor != nil {
		plan.Supervisor.Client.Dir = judgeDir(f.Dir)
	}
	return plan
}

// judgeDir returns the working directory of the supervisor's client, next to the daemon's
// socket. All projects share it, because a client stores data about each directory in
// which it runs.
func judgeDir(project string) string {
	sockets, err := discovery.Paths(project, os.Getenv)
	if err != nil {
		return "" // a daemon without a socket does not start
	}
	return filepath.Join(filepath.Dir(sockets[0]), "judge")
}

// planOf converts a configuration to the swarm's plan.
func planOf(f *config.File) swarm.Plan {
	plan := swarm.Plan{
		Names:      mail.Names{Lead: f.Lead, LeadName: f.LeadName, CCLead: f.CCLead()},
		Topics:     f.Topics,
		MaxRunning: f.Running(),
		MaxWarm:    f.MaxWarm,
		Debounce:   f.Debounce,

		TurnsPerHour: f.Policy.TurnsPerHour,
		Zone:         f.Zone(),
		Budget:       budgetOf(f),
		Editable:     f.Policy.Editable,
		Verifiers:    f.Verifiers,
		Protect:      f.Protect,
		VerifierDrop: f.VerifierDrop(),
		Log:          f.Log,
		Retention:    f.Retention,
	}
	if m := f.Supervisor; m.On() {
		plan.Supervisor = &swarm.Supervision{
			Settings: m.Settings, Backend: m.Backend, Client: runner.Spec{Command: m.Command, Model: m.Model, Thinking: m.Thinking},
		}
	}
	if quiet, ok := f.QuietHours(); ok {
		plan.Quiet = &quiet
	}
	if f.IRC.On() {
		plan.IRC = f.IRC.Channel(f.IRC.Channels.Project)
	}
	for _, a := range f.Agents {
		plan.Agents = append(plan.Agents, specOf(f, a))
	}
	return plan
}

// specOf returns the settings with which the daemon runs an agent.
func specOf(f *config.File, a config.Agent) swarm.Spec {
	spec := swarm.Spec{
		Name: a.Name, AgentSettings: a.AgentSettings,
		AllTools: a.AllTools(), Permissions: a.Permissions.Rules(), Hours: f.HoursOf(a),
	}
	spec.Client.AllowedTools, spec.Channels = a.ToolList(), channelsOf(f, a.Name)
	if secrets := append(f.IRC.Secrets(), f.HookSecrets()...); len(secrets) > 0 { // agents do not need the secrets
		spec.EnvDrop = append(slices.Clone(a.EnvDrop), secrets...)
	}
	if filepath.Base(f.Path) != config.Name {
		// Without this variable, claude-swarm in an agent's turn would look for a file
		// with the default name.
		spec.Env = maps.Clone(a.Env)
		if spec.Env == nil {
			spec.Env = make(map[string]string)
		}
		spec.Env[client.ConfigVar] = f.Path
	}
	return spec
}

// budgetOf returns the swarm's caps.
func budgetOf(f *config.File) budget.Rules {
	agents := make(map[string]budget.AgentCaps, len(f.Agents))
	for _, a := range f.Agents {
		agents[a.Name] = a.Budget
	}
	return f.Budget.Rules(agents)
}

// channelsOf returns an agent's IRC channels.
func channelsOf(f *config.File, agent string) []string {
	switch own := f.IRC.Own[agent]; {
	case !f.IRC.On():
		return nil
	case len(own) > 0:
		return own
	}
	return []string{f.IRC.ProjectOf(agent)}
}

// A daemonOrder contains the options with which a daemon is started.
type daemonOrder struct {
	project *project
	agents  []string // agents to start, while all others are stopped; if empty, no agent is started or stopped
	by      string
	noTools bool                 // no agent gets the tools of claude-swarm's MCP server
	noIRC   bool                 // ignore the configuration's IRC
	stderr  io.Writer            // receives the log as text; can be nil
	ready   func(grown []string) // called once when the daemon is ready, with the rights that grew since the last one
}
