package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/provision"
)

// askProposal looks around, proposes agents, and lets the person change them. It
// returns the text of claude-swarm.yaml.
func askProposal(c *cli.Context, dir string, p provision.Proposal) (string, error) {
	// Whoever waits for the context of the verb begins to listen for ^C, and nobody
	// would hear it in the dialogue: it is to end the program like any other.
	found := provision.Propose(context.WithoutCancel(c.Context), dir)
	p.Agents, p.Programs = found.Agents, found.Programs
	p, err := talkOver(c.App.Reader, c.App.Writer, p)
	if err != nil {
		return "", err
	}
	return p.Config(), nil
}

// talkOver shows a proposal and takes the person's word for it: an empty line
// agrees.
func talkOver(r io.Reader, w io.Writer, p provision.Proposal) (provision.Proposal, error) {
	switch {
	case len(p.Programs) == 0:
		fmt.Fprintln(w, "No agent program is on the PATH; this version runs claude.")
	case p.Programs[0] != "claude":
		fmt.Fprintf(w, "Found %s, but this version runs claude, which is not on the PATH.\n", strings.Join(p.Programs, ", "))
	default:
		fmt.Fprintf(w, "Found %s.\n", strings.Join(p.Programs, ", "))
	}
	fmt.Fprintln(w, "Agents:")
	for _, a := range p.Agents {
		where := a.Dir
		if where == "" {
			where = "."
		}
		fmt.Fprintf(w, "  %-12s %s  (%s)\n", a.Name, where, a.Why)
	}
	if len(p.Agents) == 0 {
		fmt.Fprint(w, "  coder        .  (writes)\n  reviewer     .  (reads only)\n")
	}
	lines := bufio.NewScanner(r)
	answer := func(question string) (string, error) {
		fmt.Fprintf(w, "%s ", question)
		if !lines.Scan() {
			return "", errors.Join(lines.Err(), fail(exitFailed, "claude-swarm init --non-interactive", "no answer, so nothing was made"))
		}
		return strings.TrimSpace(lines.Text()), nil
	}
	for {
		text, err := answer("These? Enter agrees; else NAME or NAME=FOLDER, parted by blanks:")
		if err != nil || text == "" {
			return p, err
		}
		var agents []provision.Proposed
		for word := range strings.FieldsSeq(text) {
			a, err := provision.ParseProposed(word)
			if err != nil {
				fmt.Fprintf(w, "%s: %v\n", word, err)
				agents = nil
				break
			}
			agents = append(agents, a)
		}
		if agents != nil {
			p.Agents = agents
			return p, nil
		}
	}
}
