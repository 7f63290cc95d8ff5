package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/tmux"
)

// statusPane is the title of the pane that shows the status. The capital letter distinguishes
// it from agent names.
const statusPane = "Status"

// showInTmux creates the project's tmux session or adds its missing panes: one pane for
// each agent and one for the status. On a terminal, it also attaches to the session.
func showInTmux(c *cli.Context, p *project) error {
	server, err := tmux.Find(tmux.Options{})
	if errors.Is(err, tmux.ErrMissing) {
		return hint(err, "install tmux, or claude-swarm status --watch")
	} else if err != nil {
		return err
	}
	self, err := ownProgram()
	if err != nil {
		return err
	}
	verb := func(words ...string) []string {
		return append([]string{self, "--config", p.file.Path}, words...)
	}
	var panes []tmux.Pane
	for _, name := range p.file.Names() {
		panes = append(panes, tmux.Pane{Title: name, Dir: p.dir, Command: verb("logs", "-f", name)})
	}
	panes = append(panes, tmux.Pane{Title: statusPane, Dir: p.dir, Command: verb("status", "--watch")})

	session := tmux.SessionName(p.dir)
	shown, err := server.Show(c.Context, session, panes)
	if err != nil {
		return hint(err, "claude-swarm status --watch, which needs no tmux")
	}
	if !isTerminal(c.App.Writer) {
		return tellSession(c, session, shown)
	}
	var said bytes.Buffer
	cmd := server.Attach(c.Context, session)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, &said
	switch err := cmd.Run(); {
	case err == nil:
		return nil
	case strings.Contains(said.String(), "no current client"):
		// tmux did not find a terminal that it could switch to the session.
		return tellSession(c, session, shown)
	default:
		return fail(exitFailed, "tmux attach -t "+session, "the panes were created, but tmux does not show them: %s",
			cmp.Or(screen.OneLine(said.String()), err.Error()))
	}
}

// tellSession prints the command that shows the panes. It is called if no terminal is
// attached to them.
func tellSession(c *cli.Context, session string, shown tmux.Shown) error {
	what := "there already"
	if shown.Created {
		what = "made"
	}
	_, err := fmt.Fprintf(c.App.Writer, "tmux session %s, %s\n  next: tmux attach -t %s\n", session, what, session)
	return err
}
