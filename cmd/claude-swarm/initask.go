package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/provision"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// askProposal inspects the project, proposes agents, and lets the person change them. It
// returns the text for claude-swarm.yaml.
func askProposal(c *cli.Context, dir string, p provision.Proposal) (string, error) {
	// Ctrl-C must end the program immediately during the dialogue. A call to Done on the
	// verb's context would make the program catch Ctrl-C, and the dialogue would not
	// react to it.
	found := provision.Propose(context.WithoutCancel(c.Context), dir)
	p.Agents, p.Installed, p.Refused = found.Agents, found.Installed, found.Refused
	p, err := talkOver(c.App.Reader, c.App.Writer, p)
	if err != nil {
		return "", err
	}
	return p.Config(), nil
}

// talkOver shows a proposal and reads the person's changes. An empty line accepts the proposal.
func talkOver(r io.Reader, w io.Writer, p provision.Proposal) (provision.Proposal, error) {
	if len(p.Installed) > 0 {
		var programs []string
		for _, k := range p.Installed {
			programs = append(programs, k.Program())
		}
		fmt.Fprintf(w, "Found %s.\n", strings.Join(programs, ", "))
	}
	if p.Refused != nil {
		fmt.Fprintf(w, "The other work trees are unknown: %v.\n  try: %s\n", p.Refused, p.Refused.Next())
	}
	fmt.Fprintf(w, "The agents run %s.\n", p.Kind().Title)
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
			return "", errors.Join(lines.Err(), fail(exitFailed, "claude-swarm init --non-interactive", "no answer, so nothing was created"))
		}
		return strings.TrimSpace(lines.Text()), nil
	}
	for {
		text, err := answer("Create these? Enter accepts, q quits; or type NAME[=FOLDER] NAME[=FOLDER] …:")
		if err != nil {
			return p, err
		}
		switch strings.ToLower(text) {
		case "", "y", "yes", "ok": // an agent with such a name must be written to the file
			return p, nil
		case "n", "no", "q", "quit", "exit":
			return p, fail(exitFailed, "claude-swarm init", "nothing was created")
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

// talks reports whether the program can ask a person questions.
func talks(c *cli.Context) bool {
	in, ok := c.App.Reader.(*os.File)
	return ok && isatty.IsTerminal(in.Fd()) && isTerminal(c.App.Writer) && !c.Bool("non-interactive") && !c.Bool("json")
}

// askWhere asks the person for confirmation before init creates a project inside another
// project, because that may be a mistake. If the project is the home folder, askWhere prints
// a warning, because the agents can change files there.
func askWhere(c *cli.Context, dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, config.Name)); err == nil {
		return nil
	}
	if home, err := os.UserHomeDir(); err == nil && discovery.SameFolder(dir, home) {
		fmt.Fprintln(c.App.ErrWriter, "claude-swarm: this is your home folder: the agents can work anywhere in it, and every folder below it belongs to the project")
	}
	above, err := discovery.Find(filepath.Dir(dir))
	if err != nil || c.Bool("nested") {
		return nil // no enclosing project is found, or --nested allows it
	}
	refused := fail(exitFailed, "claude-swarm init --nested   (or work in that project: cd "+shellWord(filepath.Dir(above))+")", "this folder is inside another project, %s; nothing was created", above)
	if !talks(c) {
		return refused
	}
	fmt.Fprintf(c.App.Writer, "This folder is inside another project, %s.\nType yes to create one here too: ", above)
	answer, err := bufio.NewReader(c.App.Reader).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if strings.TrimSpace(answer) != "yes" {
		return refused
	}
	return nil
}

// askPurge asks a person whether to delete mail permanently. If there is no person to ask,
// the error states which mail would be lost, and suggests the command that deletes it.
func askPurge(c *cli.Context, dir, agent string) error {
	held, err := provision.MailToPurge(dir, agent)
	if err != nil {
		return initError(c, err)
	}
	if len(held) == 0 {
		return nil
	}
	again := "claude-swarm init --remove --purge --yes"
	if agent != "" {
		again = "claude-swarm init --remove " + agent + " --purge --yes"
	}
	var mail []string
	for _, h := range held {
		mail = append(mail, fmt.Sprintf("%s for %s", screen.Count(h.Messages, "message"), h.Mailbox))
	}
	what := strings.Join(mail, ", ")
	if !talks(c) {
		return fail(exitFailed, again, "this removes mail permanently: %s", what)
	}
	fmt.Fprintf(c.App.Writer, "This removes mail permanently: %s.\nType yes to continue: ", what)
	answer, err := bufio.NewReader(c.App.Reader).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if strings.TrimSpace(answer) != "yes" {
		return fail(exitFailed, again, "nothing was removed")
	}
	return nil
}
