package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
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

// askPurge lets a person say whether mail is to be removed for good. Where nobody can be
// asked, the error says what would be lost and how to say yes.
func askPurge(c *cli.Context, dir, agent string) error {
	held, err := provision.MailToPurge(dir, agent)
	if err != nil {
		return initError(err)
	}
	if len(held) == 0 {
		return nil
	}
	again := "claude-swarm init --remove --purge --yes"
	if agent != "" {
		again = "claude-swarm init --remove --role " + agent + " --purge --yes"
	}
	var mail []string
	for _, h := range held {
		mail = append(mail, fmt.Sprintf("%s of %s", count(h.Messages, "message"), h.Mailbox))
	}
	what := strings.Join(mail, ", ")
	in, ok := c.App.Reader.(*os.File)
	if !ok || !isatty.IsTerminal(in.Fd()) || !isTerminal(c.App.Writer) || c.Bool("json") {
		return fail(exitFailed, again, "this removes mail for good: %s", what)
	}
	fmt.Fprintf(c.App.Writer, "This removes mail for good: %s.\nType yes to go on: ", what)
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if strings.TrimSpace(answer) != "yes" {
		return fail(exitFailed, again, "nothing was removed")
	}
	return nil
}
