package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/door"
	"github.com/claude-swarm/claude-swarm/swarm"
)

func claimCommand() *cli.Command {
	return &cli.Command{
		Name:      "claim",
		Category:  groupTopics,
		Usage:     "take published work; one alone gets it",
		ArgsUsage: "ID",
		Description: `Claims the published work ID, or what the message ID offers. Of all who claim,
one gets it; the others are told who has it, with status 1. An agent claims for
the turn it is in, and the end of that turn closes the work; what you claim
yourself you close with ack. --for AGENT gives it to that agent.` +
			examples("claude-swarm claim k7f3q9m2xd", "claude-swarm claim xd --for coder"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "for", Usage: "give it to `AGENT`, as a task"},
			jsonFlag(),
		},
		Action: claim,
	}
}

func claim(c *cli.Context) error {
	id, err := oneID(c)
	if err != nil {
		return err
	}
	p, err := openPost(c)
	if err != nil {
		return err
	}
	defer p.close()
	work, err := p.published(id)
	if err != nil {
		return err
	}
	by := p.Me.Name
	if agent := c.String("for"); agent != "" {
		names, err := p.agents([]string{agent}, "claude-swarm claim "+shellWord(id)+" --for %s")
		if err != nil {
			return err
		}
		by = names[0]
	}
	g, err := p.Store.ClaimOffer(work.ID, by, p.Me.Turn)
	if err != nil {
		return notYours(err)
	}
	if by != p.Me.Name {
		if err := p.assign(work, by); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V int `json:"v"`
			dropbox.Grant
		}{1, g})
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s is claimed by %s\n", g.ID, g.Agent)
	return err
}

// published finds published work by the end of its id, or of that of an offer.
func (p *post) published(id string) (dropbox.Publication, error) {
	_, m, err := p.message(id)
	if err != nil {
		return dropbox.Publication{}, err
	}
	work := dropbox.Publication{ID: m.ID, Message: m}
	if m.Offer != "" {
		work.ID = m.Offer
	}
	open, err := p.Store.OfferOf(work.ID)
	if errors.Is(err, dropbox.ErrNotFound) {
		return work, fail(exitUnknown, "claude-swarm topics", "%s was not published on a topic", m.ID)
	} else if err != nil {
		return work, notYours(err)
	}
	return open, nil
}

// assign delivers work to an agent that did not ask for it.
func (p *post) assign(work dropbox.Publication, agent string) error {
	if _, err := p.Mailbox(agent); err != nil {
		return err
	}
	var sign func(*dropbox.Message, string) string
	if work.Message.From == p.Me.Name {
		sign = p.Me.Sign
	}
	if err := p.Store.Assign(work, agent, sign); err != nil {
		return p.refused(err, agent)
	}
	return nil
}

// notYours says what to do when another was quicker.
func notYours(err error) error {
	taken, ok := errors.AsType[*dropbox.TakenError](err)
	switch {
	case !ok:
		return err
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
		Description: `Closes the published work ID. TEXT is its result, and goes to whoever published
it; who subscribes to task.completed is told, when it was published on
task.created, or to task.failed with --failed. An agent's work is closed by the
end of its turn anyway. Work that nobody has claimed becomes yours by this.` +
			examples(`claude-swarm ack k7f3q9m2xd "Done in commit 4f2a91c"`, `claude-swarm ack xd "It cannot be done" --failed`),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "failed", Usage: "say that it came to nothing"},
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
	if _, err := p.Store.ClaimOffer(work.ID, p.Me.Name, p.Me.Turn); err != nil {
		return notYours(err)
	}
	end, text := dropbox.Completed, strings.Join(c.Args().Tail(), " ")
	if c.Bool("failed") {
		end = dropbox.Failed
	}
	// The answer first: it has a key, so to repeat all this is harmless.
	if err := p.answerPublished(work, text); err != nil {
		return err
	}
	if err := p.closePublished(work, end, text); err != nil {
		return err
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

// answerPublished sends the result to whoever published the work.
func (p *post) answerPublished(work dropbox.Publication, text string) error {
	if text == "" || work.Message.From == p.Me.Name {
		return nil
	}
	_, err := p.send(&dropbox.Message{
		To: []string{work.Message.From}, Type: dropbox.Result, ReplyTo: work.ID, Thread: work.Message.Thread, Trace: work.Message.Trace,
		Subject: door.AnswerSubject(work.Message.Subject), Key: "result:" + work.ID, Body: []byte(text + "\n"),
	})
	return err
}

// closePublished files the work with its receipt, and tells those who listen.
func (p *post) closePublished(work dropbox.Publication, end, text string) error {
	r := swarm.Receipt{ID: work.ID, Turn: p.Me.Turn, Agent: p.Me.Name, Outcome: end, Ended: time.Now().UTC(), Text: cut(text, 4096)}
	receipt, err := r.Encode()
	if err != nil {
		return err
	}
	if err := p.Store.CloseOffer(work.ID, p.Me.Name, receipt); err != nil {
		return notYours(err)
	}
	if err := p.EnsureToken(); err != nil {
		return err
	}
	return p.Store.Announce(work.Message, p.Me.Name, end, p.Me.Name+": "+oneLine(text), p.Me.Sign)
}
