package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A post provides the mail verbs with the project, its mailboxes, and the identity of the
// caller. The verb must close it.
type post struct {
	*project
	*client.Client
}

// withPost turns a function that needs the project's mail into the action of a verb.
func withPost(do func(*cli.Context, *post) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		p, err := openPost(c)
		if err != nil {
			return err
		}
		defer p.close()
		return do(c, p)
	}
}

// onMessage is like withPost, but for a verb whose only argument is a full or partial id.
func onMessage(do func(c *cli.Context, p *post, id string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.NArg() != 1 && strings.HasSuffix(c.Command.HelpName, "dead "+c.Command.Name) {
			return usagef("claude-swarm dead list", "dead %s: name one dead letter by its id", c.Command.Name)
		} else if c.NArg() != 1 {
			return usagef("claude-swarm inbox", "%s: name one message by its id", c.Command.Name)
		}
		return withPost(func(c *cli.Context, p *post) error { return do(c, p, c.Args().First()) })(c)
	}
}

func openPost(c *cli.Context) (*post, error) {
	proj, err := loadInForce(c)
	if err != nil {
		return nil, err
	}
	return proj.openPost(c.Context)
}

func (p *project) openPost(ctx context.Context) (*post, error) {
	store, err := p.openStore()
	if err != nil {
		return nil, err
	}
	me, err := p.whoAmI(ctx)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return &post{p, client.New(client.ProjectOf(p.file, store), me)}, nil
}

func (p *post) close() { p.Store.Close() }

// mailboxes checks names and returns them. Without names, it returns all mailboxes,
// including those of agents that are no longer in the configuration. next is the command
// that the error for an unknown name suggests, with %s in place of the correct name. In a
// turn, it returns only the agent's own mailbox.
func (p *post) mailboxes(names []string, next string) ([]string, error) {
	if p.Me.Name != dropbox.Lead {
		for _, name := range names {
			if err := private(p.MaySee(name)); err != nil {
				return nil, err
			}
		}
		return []string{p.Me.Name}, nil
	}
	all, err := p.Store.Mailboxes()
	if err != nil || len(names) == 0 {
		return all, err
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, unknownAgent(name, dropbox.Nearest(name, all), p.file.Names(), next)
		}
	}
	return names, nil
}

// ownName returns the words for a mailbox in a message to a person, such as "your
// mailbox" for the caller's own mailbox.
func (p *post) ownName(mailbox string) string {
	if mailbox == p.Me.Name {
		return "your mailbox"
	}
	return "the mailbox of " + mailbox
}

// saysHalted prints a warning if the text has halted the conversation. It returns true
// if, as a result, the message gets no answer.
func (p *post) saysHalted(c *cli.Context, m *dropbox.Message) bool {
	if p.Halted == "" {
		return false
	}
	fmt.Fprintf(c.App.ErrWriter, "claude-swarm: the text halts the conversation %s, and is sent as a %s\n  try: claude-swarm unhalt --thread %s   (to let it continue)\n",
		p.Halted, m.Type, shellWord(p.Halted))
	return !m.Type.WantsAnswer()
}

// longest returns the maximum text size, in bytes, for a message of type t. A result that
// is too long for a body is automatically converted to an attachment.
func (p *post) longest(t dropbox.Type) int {
	if t == dropbox.Result {
		return maxAttached
	}
	return p.Rules.BodyLimit()
}

// maxAttached is the maximum size of an attachment, in bytes.
const maxAttached = 10 << 20

// refused adds the exit status and a hint to a refusal by a rule or to a delivery error.
func (p *post) refused(err error, to string) error {
	if e, ok := errors.AsType[*client.DeliveryError](err); ok {
		to = e.To
	} else if _, ok := errors.AsType[*client.TurnError](err); ok {
		return hint(err, "unset %s %s", runner.AgentVar, runner.MarkVar)
	}
	if e, ok := errors.AsType[*client.RefusedError](err); ok {
		next := e.Verdict.Next
		if e.Verdict.Rule == policy.RuleHalted && p.Me.Name == dropbox.Lead {
			next = "claude-swarm unhalt --thread " + shellWord(e.Thread)
		}
		return &hintError{err: err, code: exitRefused, hint: next}
	}
	return refused(err, to)
}

// refused adds the exit status and a hint to a delivery error.
func refused(err error, to string) error {
	switch {
	case errors.Is(err, dropbox.ErrFull):
		return &hintError{err: err, code: exitRefused, hint: "claude-swarm status " + to}
	case errors.Is(err, dropbox.ErrTooLarge):
		return &hintError{err: err, code: exitRefused, hint: "put it where the agent can read it, and send the path"}
	case errors.Is(err, dropbox.ErrHops):
		return &hintError{err: err, code: exitRefused, hint: "let the lead decide how to continue: claude-swarm send lead \"…\""}
	case errors.Is(err, dropbox.ErrInvalid):
		return &hintError{err: err, code: exitUsage, hint: "claude-swarm help send"}
	case errors.Is(err, os.ErrPermission):
		return hint(err, "claude-swarm doctor")
	}
	return err
}

// private adds the exit status and a hint to the error for an agent that tries to see
// mail that is not its own.
func private(err error) error {
	if err == nil {
		return nil
	}
	return &hintError{err: err, code: exitRefused, hint: "claude-swarm inbox"}
}

// message finds a message in any mailbox by its full or partial id, and reads it.
func (p *post) message(id string) (dropbox.Found, *dropbox.Message, error) {
	found, m, err := p.Message(id)
	return found, m, notFound(err, id)
}

func (p *post) find(id string) (dropbox.Found, error) {
	found, err := p.Find(id)
	return found, notFound(err, id)
}

// notFound adds a hint to the error for an id that matches no message. If an id matches
// several messages, run adds the hint, because run has the typed command line.
func notFound(err error, id string) error {
	if errors.Is(err, dropbox.ErrNotFound) {
		return unfound("claude-swarm inbox", "message", " here", id)
	}
	return err
}

// unfound returns the error for a message or letter that was not found. The argument where describes
// what was searched. If id is not as long as a full id, the error also states the minimum length of
// a partial id.
func unfound(next, what, where, id string) error {
	if len(id) != len(dropbox.NewID()) {
		where += fmt.Sprintf("; at least %d characters from the beginning or the end of an id are enough", dropbox.MinIDPart)
	}
	return fail(exitUnknown, next, "no %s %q%s", what, id, where)
}

// isGone reports whether an agent has a mailbox but no entry in the configuration.
func (p *post) isGone(name string) bool {
	if _, there := p.file.Agent(name); there || dropbox.CheckAgent(name) != nil {
		return false
	}
	boxes, err := p.Store.Mailboxes()
	return err == nil && slices.Contains(boxes, name)
}

// recipients checks the names in a comma-separated list and returns them. next is the
// command that the error for an unknown name suggests, with %s in place of the correct
// name.
func (p *post) recipients(list, next string) ([]string, error) {
	names, err := p.Recipients(list)
	if unknown, ok := errors.AsType[*swarm.UnknownAgentError](err); ok {
		return nil, unknownAgent(unknown.Name, unknown.Near, p.file.Names(), next)
	} else if tag, ok := errors.AsType[*client.TagError](err); ok {
		return nil, unknownTag(tag, next)
	} else if err != nil {
		return nil, fail(exitUnknown, "claude-swarm status", "%w", err)
	}
	return names, nil
}

// leadOnly returns an error if the caller is an agent. It is for actions that only a
// person may perform. The argument what describes the action.
func (p *post) leadOnly(what string) error {
	if p.Me.Name == dropbox.Lead {
		return nil
	}
	return fail(exitRefused, askLead, "only the lead may %s, not %s", what, p.Me.Name)
}
