package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/provision"
)

func attachCommand() *cli.Command {
	return &cli.Command{
		Name:     "attach",
		Category: groupAgents,
		Usage:    "make your own Claude Code session an agent", ArgsUsage: "[AGENT]",
		Description: `Adds the agent to claude-swarm.yaml, if it is not there, and makes a plugin for
its session. The plugin fetches mail at the end of each turn, answers the
sender, and provides the tools and /inbox. Then start the session with the
command that attach prints. The daemon runs no turns for an attached agent.

--way settings adds the same to .claude/settings.json and .mcp.json in the
agent's folder; --way tools works without hooks, in case a policy forbids them.
Both ways affect every session in the folder, so two agents in one folder need
the plugin. AGENT defaults to the agent that this session or folder already
belongs to. claude-swarm init --remove AGENT undoes everything. A running daemon
picks up the agent immediately.` +
			examples("claude-swarm attach ada", "claude-swarm attach ada --way settings"),
		Flags: []cli.Flag{
			asFlag(),
			&cli.StringFlag{Name: "way", Usage: "`WAY` is plugin, settings or tools; by default the best way that works here"},
			jsonFlag(),
		},
		Action: runAttach,
	}
}

func runAttach(c *cli.Context) error {
	named, err := agentNamed(c, "as")
	if err != nil {
		return err
	}
	way := provision.Way(c.String("way"))
	if way != "" && !slices.Contains(provision.Ways, way) {
		return usagef("claude-swarm attach --way plugin", "--way: %q is not one of plugin, settings, tools", way)
	}
	p, err := loadProject(c)
	if err != nil {
		return err
	}
	name, err := p.sessionAgent(named)
	if err != nil {
		return err
	}
	if err := dropbox.CheckAgent(name); err != nil {
		return usagef("claude-swarm attach ada", "attach: %v", err)
	}
	if a, ok := p.file.Agent(name); ok && !a.Attached && named == "" {
		return usagef("claude-swarm attach "+name, "attach: the daemon runs %s; name the agent to take it over", name)
	}
	program, err := ownProgram()
	if err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	report, err := provision.Attach(p.dir, provision.AttachOptions{Agent: name, Program: program, Way: way, Home: home})
	if err != nil {
		return attachError(c, name, err)
	}
	if _, err := p.home.Tokens(name); err != nil {
		return err
	}
	if err := printAttach(c, report); err != nil {
		return err
	}
	return tellDaemon(c, p, name)
}

// tellDaemon makes a running daemon reload claude-swarm.yaml, so that the daemon learns of the
// new agent.
func tellDaemon(c *cli.Context, p *project, agent string) error {
	if !lockHeld(p.home) {
		return nil
	}
	client, err := p.connect(c.Context)
	if err != nil {
		return hint(fmt.Errorf("%s is attached, but the daemon could not be told: %w", agent, err), "claude-swarm reload")
	}
	_, err = client.Reload(c.Context, agent, true) // the new agent is a right that the person has just given
	if err = errors.Join(err, client.Close()); err != nil {
		return hint(fmt.Errorf("%s is attached, but the daemon still uses the old claude-swarm.yaml: %w", agent, err), "claude-swarm reload")
	}
	if !c.Bool("json") {
		fmt.Fprintf(c.App.Writer, "The daemon has added %s.\n", agent)
	}
	return nil
}

func attachError(c *cli.Context, name string, err error) error {
	if e, ok := errors.AsType[*provision.EntryError](err); ok {
		return hint(err, "write %s, then %s", e.Line(), commandTyped(c))
	}
	if e, ok := errors.AsType[*provision.OccupiedError](err); ok {
		return hint(err, "%s", e.Try)
	}
	if e, ok := errors.AsType[*provision.ConflictError](err); ok {
		return hint(err, "claude-swarm attach %s --way plugin   (or move %s elsewhere)", name, shellWord(e.Path))
	}
	return initError(c, err)
}

func printAttach(c *cli.Context, r provision.AttachReport) error {
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V int `json:"v"`
			provision.AttachReport
		}{1, r})
	}
	w := c.App.Writer
	for _, item := range r.Items {
		if item.State == provision.There {
			continue
		}
		line := fmt.Sprintf("%-9s %s", strings.Replace(string(item.State), "added", "added to", 1), item.Path)
		if item.Why != "" {
			line += ": " + item.Why
		}
		fmt.Fprintln(w, line)
	}
	if r.Why != "" {
		fmt.Fprintf(w, "%s, so hooks do not run: fetch mail with /inbox\n", r.Why)
	}
	start := "claude"
	if r.Plugin != "" {
		start += " --plugin-dir " + shellWord(r.Plugin)
	}
	if wd, err := os.Getwd(); err != nil || filepath.Clean(wd) != r.Dir {
		start = "cd " + shellWord(r.Dir) + " && " + start
	}
	fmt.Fprintf(w, "%s is attached. Start its session with:\n  %s\n", r.Agent, start)
	return nil
}
