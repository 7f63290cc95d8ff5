package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func cancelCommand() *cli.Command {
	return &cli.Command{
		Name:      "cancel",
		Category:  groupMail,
		Usage:     "take back a message that is still waiting",
		ArgsUsage: "ID",
		Description: `Takes back a message that no agent has begun to work on. It is kept among the
dead letters, with the reason. An agent can take back only messages that it
sent.` +
			examples("claude-swarm cancel k7f3q9m2xd"),
		Flags:  []cli.Flag{jsonFlag()},
		Action: onMessage(cancel),
	}
}

func cancel(c *cli.Context, p *post, id string) error {
	found, m, err := p.message(id)
	if found.Path == "" {
		return err
	} // err is ignored if the file exists, because a person can take back a message that is unreadable
	if err := p.MayTakeBack(found, m); err != nil {
		return &hintError{err: err, code: exitRefused, hint: askLead}
	}
	id = found.Entry.ID
	if found.State == dropbox.Waiting {
		box, err := p.Mailbox(found.Mailbox)
		if err != nil {
			return err
		}
		err = box.Cancel(found.Entry)
		if !errors.Is(err, dropbox.ErrGone) {
			if err == nil {
				err = sayCancelled(c, id, found.Mailbox)
			}
			return err
		}
		// The message is no longer waiting. Most likely, an agent has claimed it since the check
		// above.
		if found, err = p.find(id); err != nil {
			return err
		}
	}
	switch {
	case found.Mailbox == dropbox.Lead:
		return fail(exitFailed, "claude-swarm inbox --done "+id, "%s has already been read", id)
	case found.State == dropbox.Dead:
		return fail(exitFailed, "claude-swarm dead show "+id, "%s is already a dead letter", id)
	case found.State == dropbox.Refused:
		return fail(exitFailed, "claude-swarm read "+id, "%s was refused", id)
	case found.State == dropbox.Done:
		return fail(exitFailed, "claude-swarm trace "+id, "%s is already done", id)
	case !lockHeld(p.home):
		return fail(exitFailed, "claude-swarm start, then claude-swarm abort "+found.Mailbox, "%s began %s before the daemon ended", found.Mailbox, id)
	}
	return fail(exitFailed, "claude-swarm abort "+found.Mailbox, "%s is already working on %s", found.Mailbox, id)
}

func sayCancelled(c *cli.Context, id, mailbox string) error {
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V       int    `json:"v"`
			ID      string `json:"id"`
			Mailbox string `json:"mailbox"`
		}{1, id, mailbox})
	}
	_, err := fmt.Fprintf(c.App.Writer, "%s has been taken back from %s\n", id, mailbox)
	return err
}
