package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/provision"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

func initCommand() *cli.Command {
	return &cli.Command{
		Name:     "init",
		Category: groupProject,
		Usage:    "make this folder a project, check it, or undo that", ArgsUsage: "[AGENT]",
		Description: `Writes claude-swarm.yaml, with comments that explain each key, makes the
mailboxes of the agents in it, and keeps the daemon's files out of git. Existing
files stay as they are, so you can run it again after you have added an agent.
On a terminal it looks for git work trees and agent programs first, and proposes
agents; --agent names them, and --non-interactive asks nothing. --backend sets
the agents' kind; the default is Claude Code, or the first kind that is on
the PATH. --subscribe subscribes an agent to a topic, as the subscribe verb
does, even if claude-swarm.yaml already exists. Inside another project it asks
first; --nested answers yes. --skill adds .claude/skills/swarm/SKILL.md, which
teaches the verbs to every Claude Code session in this folder, so that you can
ask a session to give an agent work.

git clean -x deletes mail and the daemon's files; to keep them, add
-e .dead-drop -e .claude-swarm.

--check changes nothing, and shows for each file whether it is current (as this
version makes it), present (yours), drifted or missing; the exit status is 1 if
a file is missing or has drifted. --upgrade recreates files that another version
made and nobody has changed since; --reset recreates changed files too. Neither
touches a claude-swarm.yaml that you have edited.

--remove removes what init and attach made; with AGENT, only that agent's
part. Your files are then byte for byte what they were before. Anything that
has changed since stays, and so does every mailbox that is not empty; --purge
removes mail, logs and the journal too. It asks before it removes mail; --yes
confirms that if it cannot ask.` +
			examples("claude-swarm init --skill", "claude-swarm init --non-interactive --agent coder --agent reviewer=../review",
				"claude-swarm init --agent coder --subscribe 'coder=task.*'", "claude-swarm init --remove reviewer"),
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "agent", Usage: "an agent `NAME[=FOLDER]` for a new claude-swarm.yaml; can be repeated"},
			&cli.StringSliceFlag{Name: "subscribe", Usage: "subscribe an agent to a topic, `AGENT=TOPIC`; can be repeated"},
			&cli.StringFlag{Name: "backend", Usage: "the agents' `KIND` of client for a new claude-swarm.yaml, such as codex"},
			&cli.StringFlag{Name: "command", Usage: "the agents' program `COMMAND` for a new claude-swarm.yaml"},
			&cli.StringFlag{Name: "permission-mode", Usage: "the agents' `MODE` for a new claude-swarm.yaml"},
			&cli.BoolFlag{Name: "skill", Usage: "add a skill that teaches the verbs to Claude Code sessions here"},
			&cli.BoolFlag{Name: "non-interactive", Usage: "ask nothing"},
			&cli.BoolFlag{Name: "nested", Usage: "make a project inside another one"},
			&cli.BoolFlag{Name: "check", Usage: "change nothing; report what is up to date, drifted or missing"},
			&cli.BoolFlag{Name: "upgrade", Usage: "recreate what another version made"},
			&cli.BoolFlag{Name: "reset", Usage: "recreate what was made, even if it was changed"},
			&cli.BoolFlag{Name: "remove", Usage: "remove what was made"},
			&cli.StringFlag{Name: "role", Usage: "with --remove: only what belongs to `AGENT`"},
			&cli.BoolFlag{Name: "purge", Usage: "with --remove: mail, logs and journal too"},
			&cli.BoolFlag{Name: "yes", Usage: "with --purge: do not ask first"},
			jsonFlag(),
		},
		Action: runInit,
	}
}

func runInit(c *cli.Context) error {
	if c.NArg() > 0 && !c.Bool("remove") {
		return usagef("claude-swarm init --agent "+shellWord(c.Args().First()), "init takes no arguments; --agent names an agent for a new claude-swarm.yaml")
	}
	if c.IsSet("config") {
		return usagef("claude-swarm init", "init writes %s in this folder, and does not accept --config", config.Name)
	}
	which := ""
	for _, name := range []string{"check", "upgrade", "reset", "remove"} {
		if c.Bool(name) && which != "" {
			return usagef("claude-swarm help init", "--%s and --%s cannot be used together", which, name)
		} else if c.Bool(name) {
			which = name
		}
	}
	if which != "remove" && (c.IsSet("role") || c.Bool("purge")) {
		return usagef("claude-swarm help init", "--role and --purge need --remove")
	}
	if c.Bool("yes") && !c.Bool("purge") {
		return usagef("claude-swarm help init", "--yes needs --remove --purge")
	}
	for _, name := range []string{"subscribe", "skill"} {
		if (which == "check" || which == "remove") && c.IsSet(name) {
			return usagef("claude-swarm help init", "--%s and --%s cannot be used together", name, which)
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	switch which {
	case "check":
		return checkInit(c, dir)
	case "remove":
		return removeInit(c, dir)
	}
	if err := mayConfigure(dir); err != nil {
		return err
	}
	if err := askWhere(c, dir); err != nil {
		return err
	}
	text, err := proposal(c, dir)
	if err != nil {
		return err
	}
	topics, err := topicsAtInit(c, dir, text)
	if err != nil {
		return err
	}
	if err := freeMailboxes(dir); err != nil {
		return err
	}
	report, err := provision.Init(dir, provision.Options{Config: text, Subscribe: topics, Skill: c.Bool("skill"), Upgrade: which == "upgrade", Reset: which == "reset"})
	if err != nil {
		return initError(c, err)
	}
	return printInit(c, report)
}

// freeMailboxes returns an error if the configuration in a folder names mailboxes with which the
// daemon of another project works.
func freeMailboxes(dir string) error {
	file, err := config.Load(filepath.Join(dir, config.Name))
	if err != nil {
		return nil // there is no configuration yet, or init reports the mistake in it
	}
	store, err := client.OpenStore(file)
	if err != nil {
		return nil // there are no mailboxes yet
	}
	return errors.Join(ownMailboxes(journal.HomeOf(dir), store), store.Close())
}

// proposal returns the text for a new claude-swarm.yaml, or "" to use the template.
func proposal(c *cli.Context, dir string) (string, error) {
	_, err := os.Lstat(filepath.Join(dir, config.Name))
	there := err == nil
	p := provision.Proposal{Backend: c.String("backend"), Command: c.String("command"), PermissionMode: c.String("permission-mode"), Installed: provision.Installed()}
	if err := checkBackend(p); err != nil {
		return "", err
	}
	for _, text := range c.StringSlice("agent") {
		a, err := provision.ParseProposed(text)
		if err != nil {
			return "", usagef("claude-swarm init --agent coder=some/folder", "--agent %s: %v", text, err)
		}
		p.Agents = append(p.Agents, a)
	}
	if there && (len(p.Agents) > 0 || p.Backend != "" || p.Command != "" || p.PermissionMode != "") {
		return "", fail(exitFailed, "add what is missing to it, then claude-swarm init", "%s already exists, and init does not change it", config.Name)
	}
	if !there && len(p.Installed) == 0 && p.Command == "" {
		fmt.Fprintf(c.App.ErrWriter, "claude-swarm: no coding agent is on the PATH\n  try: %s   (or another one: docs/backends.md)\n", p.Kind().Install)
	}
	if near := discovery.Misnamed(dir); near != "" && !there && len(p.Agents) == 0 {
		return "", fail(exitFailed, renameConfig(near)+" && claude-swarm init   (or claude-swarm init --agent NAME, if that file belongs to another program)",
			"there is %s, but this program reads %s; nothing was created", filepath.Base(near), config.Name)
	}
	if there || len(p.Agents) > 0 || !talks(c) {
		return p.Config(), nil
	}
	return askProposal(c, dir, p)
}

// checkBackend returns an error if the backend does not exist, or if it requires
// --command and the flag is missing.
func checkBackend(p provision.Proposal) error {
	var names []string
	for _, k := range backends.Kinds() {
		names = append(names, k.Name)
	}
	switch {
	case p.Backend == "":
	case !slices.Contains(names, p.Backend):
		next := "claude-swarm init --backend " + names[0]
		if near := dropbox.Nearest(p.Backend, names); len(near) > 0 {
			next = "claude-swarm init --backend " + near[0]
		}
		return usagef(next, "no backend is called %q; the backends are %s", p.Backend, strings.Join(names, ", "))
	case p.Kind().Program() == "" && p.Command == "":
		return usagef("claude-swarm init --backend "+p.Backend+" --command PROGRAM", "backend %s needs --command, the program to run", p.Backend)
	}
	return nil
}

// topicsAtInit returns the subscriptions that --subscribe specifies. It returns an error
// if the configuration does not contain one of the agents or does not allow one of the
// subscriptions.
func topicsAtInit(c *cli.Context, dir, text string) (map[string][]string, error) {
	topics := map[string][]string{}
	if !c.IsSet("subscribe") {
		return topics, nil
	}
	path := filepath.Join(dir, config.Name)
	file, err := config.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = config.Parse(path, []byte(cmp.Or(text, config.Template())))
	}
	if err != nil {
		return nil, initError(c, err)
	}
	known, rules := append(file.Names(), dropbox.Lead), client.PolicyOf(file)
	for _, said := range c.StringSlice("subscribe") {
		agent, pattern, ok := strings.Cut(said, "=")
		if !ok {
			return nil, usagef("claude-swarm init --subscribe 'coder=task.*'", "--subscribe %s: not of the form AGENT=TOPIC", said)
		}
		if !slices.Contains(known, agent) {
			return nil, unknownAgent(agent, dropbox.Nearest(agent, known), known, "claude-swarm init --subscribe "+shellWord("%s="+pattern))
		}
		if err := topic.CheckPattern(pattern); err != nil {
			return nil, usagef("claude-swarm init --subscribe "+shellWord(agent+"=task.*"), "%w", err)
		}
		if v := rules.Subscribe(agent, pattern); !v.Pass {
			err := &client.RefusedError{Verdict: v, To: agent}
			return nil, &hintError{err: err, code: exitRefused, hint: v.Next}
		}
		topics[agent] = append(topics[agent], pattern)
	}
	return topics, nil
}

func checkInit(c *cli.Context, dir string) error {
	report, err := provision.Check(dir)
	if err != nil {
		return initError(c, err)
	}
	if err := printItems(c, report); err != nil {
		return err
	}
	if !report.Sound() {
		return fail(exitFailed, "", "something is missing or has drifted")
	}
	return nil
}

func removeInit(c *cli.Context, dir string) error {
	if lockHeld(journal.HomeOf(dir)) {
		return fail(exitFailed, "claude-swarm stop && "+commandTyped(c), "the daemon of this project is running")
	}
	// If the daemon was killed, an agent's client may still be working on a message and
	// using files.
	if pids := provision.Working(dir); len(pids) > 0 {
		return fail(exitFailed, "claude-swarm start && claude-swarm stop && "+commandTyped(c)+"   (stop waits for it; stop --now ends it)",
			"a turn of this project is still running without a daemon: pid %s", strings.Trim(fmt.Sprint(pids), "[]"))
	}
	agent, err := agentNamed(c, "role")
	if err != nil {
		return err
	}
	var known []string
	if file, err := config.Load(filepath.Join(dir, config.Name)); err == nil {
		known = file.Names()
	}
	if c.Bool("purge") && !c.Bool("yes") {
		if err := askPurge(c, dir, agent); err != nil {
			return err
		}
	}
	report, err := provision.Remove(dir, provision.RemoveOptions{Agent: agent, Purge: c.Bool("purge")})
	if err == nil && agent == "" {
		err = discovery.RemoveFolders(dir, os.Getenv)
	}
	if err != nil {
		return initError(c, err)
	}
	if agent != "" && len(report.Items) == 0 && !slices.Contains(known, agent) {
		return unknownAgent(agent, dropbox.Nearest(agent, known), known, "claude-swarm init --remove %s")
	}
	if len(report.Items) == 0 && !c.Bool("json") {
		_, err := fmt.Fprintln(c.App.Writer, "there is nothing here that claude-swarm created")
		return err
	}
	return printItems(c, report)
}

// printItems prints a line for each item, followed by a line with the item's hint if it
// has one.
func printItems(c *cli.Context, r provision.Report) error {
	w := c.App.Writer
	if c.Bool("json") {
		return printJSON(w, struct {
			V     int  `json:"v"`
			Sound bool `json:"sound"`
			provision.Report
		}{1, r.Sound(), r})
	}
	for _, item := range r.Items {
		word := string(item.State)
		if item.State == provision.Taken {
			word = "taken from"
		}
		line := fmt.Sprintf("%-9s %s", word, item.Path)
		if item.Why != "" {
			line += ": " + item.Why
		}
		fmt.Fprintln(w, line)
		if item.Try != "" {
			fmt.Fprintf(w, "            try: %s\n", item.Try)
		}
	}
	return nil
}

func printInit(c *cli.Context, r provision.Report) error {
	if r.Above != "" {
		fmt.Fprintf(c.App.ErrWriter, "claude-swarm: this folder is inside another project, %s\n", r.Above)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V int `json:"v"`
			provision.Report
		}{1, r})
	}
	w := c.App.Writer
	said := map[provision.State]string{provision.Made: "made", provision.Added: "added to", provision.Remade: "recreated", provision.Kept: "kept"}
	next := "claude-swarm start"
	quiet := true
	for _, item := range r.Items {
		if word, ok := said[item.State]; ok {
			quiet = false
			line := fmt.Sprintf("%-9s %s", word, item.Path)
			if item.Why != "" {
				line += ": " + item.Why
			}
			fmt.Fprintln(w, line)
		}
		if item.Path == config.Name && item.State == provision.Made {
			next = "look at claude-swarm.yaml, then claude-swarm start"
		}
	}
	if quiet {
		_, err := fmt.Fprintln(w, "everything already exists")
		return err
	}
	_, err := fmt.Fprintf(w, "next: %s\n", next)
	return err
}
