package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/client"
)

func claimCommand() *cli.Command {
	return &cli.Command{
		Name:      "claim",
		Category:  groupTopics,
		Usage:     "claim published work; only one agent gets it",
		ArgsUsage: "ID",
		Description: `Claims the published work ID, or the work that the message ID offers. The first
claim gets it; later ones print who has it, and exit with status 1. An agent
claims work for its turn, and the end of that turn closes it. Work that you
claim yourself ends with ack. --for AGENT gives the work to that agent.` +
			examples("claude-swarm claim k7f3q9m2xd", "claude-swarm claim m2xd --for coder"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "for", Usage: "give it to `AGENT`, as a task"},
			jsonFlag(),
		},
		Action: onMessage(claim),
	}
}

func claim(c *cli.Context, p *post, id string) error {
	work, err := p.published(id)
	if err != nil {
		return err
	}
	g, before, err := p.claimFor(work, c.String("for"), id)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V int `json:"v"`
			topic.Grant
			Message string        `json:"message,omitempty"` // the message that already gave the work to the agent
			State   dropbox.State `json:"state,omitempty"`   // the state of that message
		}{1, g, before.Entry.ID, before.State})
	}
	if before.Entry.ID != "" {
		_, err = fmt.Fprintf(c.App.Writer, "%s was already given to %s: %s %s   next: claude-swarm trace %s\n", g.ID, g.Agent, before.Entry.ID, becameOf[before.State], before.Entry.ID)
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s is claimed by %s\n", g.ID, g.Agent)
	return err
}

// becameOf maps each message state to words that complete a sentence about the message.
var becameOf = map[dropbox.State]string{
	dropbox.Waiting: "is waiting", dropbox.Claimed: "is being worked on", dropbox.Done: "is done",
	dropbox.Dead: "is a dead letter", dropbox.Refused: "was refused",
}

// claimFor claims work for an agent, or for the caller if agent is "". If an earlier message
// already gave the agent this work, the second result is that message, because an agent gets
// the same work only once.
func (p *post) claimFor(work topic.Publication, agent, id string) (g topic.Grant, before dropbox.Found, err error) {
	next := "claude-swarm claim " + shellWord(id) + " --for %s"
	if p.file.Leads(agent) {
		names, err := p.recipients(agent, next)
		if err != nil {
			return g, before, err
		}
		agent = names[0]
	} else if agent != "" {
		if _, err := p.agent(agent, next); err != nil {
			return g, before, err
		}
	}
	if agent == "" || agent == p.Me.Name {
		g, err = p.Claim(work)
		return g, before, p.notYours(err)
	}
	given, ok, err := topic.Of(p.Store).Assigned(work.ID, agent)
	if err != nil {
		return g, before, err
	}
	if ok {
		if before, err = p.Store.Find(given.ID); err != nil && !errors.Is(err, dropbox.ErrNotFound) {
			return g, before, err
		}
	}
	g, err = p.ClaimFor(work, agent)
	return g, before, p.notYours(err)
}

// published finds published work by part of its id, or by part of the id of a message
// that offers the work.
func (p *post) published(id string) (topic.Publication, error) {
	work, err := p.Published(id)
	if e, ok := errors.AsType[*client.NotPublishedError](err); ok {
		return work, fail(exitUnknown, "claude-swarm topics", "%w", error(e))
	}
	return work, p.notYours(notFound(err, id))
}

// notYours adds a suggested next command to the error from a claim or an ack that
// failed because another agent has the work or because a rule forbids it.
func (p *post) notYours(err error) error {
	taken, ok := errors.AsType[*topic.TakenError](err)
	switch {
	case !ok:
		return p.refused(err, "")
	case taken.Closed:
		return fail(exitFailed, "claude-swarm trace "+taken.ID, "%w", error(taken))
	}
	return fail(exitFailed, "claude-swarm topics", "%w", error(taken))
}

func ackCommand() *cli.Command {
	return &cli.Command{
		Name:      "ack",
		Category:  groupTopics,
		Usage:     "close published work that you claimed",
		ArgsUsage: "ID [TEXT…]",
		Description: `Closes the published work ID. TEXT is the result, which goes to the publisher.
The end of the work is published too: for task.created, on
task.completed, or with --failed on task.failed. The end of an agent's turn
closes its work anyway. Unclaimed work becomes yours.` +
			examples(`claude-swarm ack k7f3q9m2xd "Done in commit 4f2a91c"`, `claude-swarm ack m2xd "It cannot be done" --failed`),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "failed", Usage: "report it as failed"},
			jsonFlag(),
		},
		Action: ack,
	}
}

func ack(c *cli.Context) error {
	if c.NArg() == 0 {
		return usagef("claude-swarm topics", "ack: which publication?")
	}
	id := c.Args().First()
	p, err := openPost(c)
	if err != nil {
		return err
	}
	defer p.close()
	work, err := p.published(id)
	if err != nil {
		return err
	}
	end, text := topic.Completed, strings.Join(c.Args().Tail(), " ")
	if c.Bool("failed") {
		end = topic.Failed
	}
	if err := p.Ack(work, end, text); err != nil {
		return p.notYours(err)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V       int    `json:"v"`
			ID      string `json:"id"`
			Outcome string `json:"outcome"`
		}{1, work.ID, end})
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s is %s\n", work.ID, end)
	return err
}
