package main

import (
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm"
)

func traceCommand() *cli.Command {
	return &cli.Command{
		Name:      "trace",
		Category:  groupMail,
		Usage:     "follow a message through every hop and turn",
		ArgsUsage: "ID",
		Description: `Prints everything that came of the first cause of a message, as a tree: who
wrote to whom, the turns that worked on it, their ends and costs, and what they
sent. Inside a turn it shows what the agent sent and got.` +
			examples("claude-swarm trace k7f3q9m2xd", "claude-swarm trace k7f3 --json"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "the copies that IRC gets too, below what they show"},
			jsonFlag(),
		},
		Action: onMessage(trace),
	}
}

func trace(c *cli.Context, p *post, id string) error {
	found, err := p.find(id)
	if err != nil {
		return err
	}
	if m, err := p.Store.Load(found); err == nil || p.Me.Name != dropbox.Lead {
		if err := private(p.MayReadMessage(found, m)); err != nil {
			return err
		}
	}
	view, err := p.trace(found)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, view)
	}
	view.dir, view.all = p.file.ProjectDir, c.Bool("all")
	for _, m := range view.Messages {
		m.From, m.To = p.Called(m.From), p.Called(m.To)
	}
	view.write(c.App.Writer, found.Entry.ID, time.Now(), screenWidth(c.App.Writer))
	return nil
}

// trace collects the messages that share the trace or the thread of one, from
// all mailboxes.
func (p *post) trace(found dropbox.Found) (*traceView, error) {
	m, err := p.Store.Load(found)
	if errors.Is(err, dropbox.ErrInvalid) || errors.Is(err, dropbox.ErrTooLarge) {
		// What is not a message has no family.
		t := &tracedMessage{ID: found.Entry.ID, To: found.Mailbox, From: "?", Type: "?", Created: found.Entry.Created, State: view.StateOf(found.Mailbox, found.State)}
		t.Reason = p.Reason(found)
		return newTrace(found.Entry.ID, []*tracedMessage{t}), nil
	} else if err != nil {
		return nil, err
	}
	attempts, err := p.attempts()
	if err != nil {
		return nil, err
	}
	var family []*tracedMessage
	seen := map[string]int{}
	err = p.Store.Walk(func(f dropbox.Found, one *dropbox.Message) bool {
		if one.Trace != m.Trace && one.Thread != m.Thread || p.MayReadMessage(f, one) != nil {
			return true
		}
		t := p.traced(f, one, attempts[one.ID])
		if at, again := seen[one.ID]; again { // it moved while we walked
			family[at] = t
			return true
		}
		seen[one.ID] = len(family)
		family = append(family, t)
		return true
	})
	if err != nil {
		return nil, err
	}
	return newTrace(m.Trace, family), nil
}

// attempts are the turns that ended, by message, as the ledger has them.
func (p *post) attempts() (map[string][]swarm.Attempt, error) {
	all := map[string][]swarm.Attempt{}
	err := swarm.ReadLedger(p.home.Ledger(), func(l swarm.LedgerLine) bool {
		took := time.Duration(l.Seconds * float64(time.Second))
		all[l.Message] = append(all[l.Message], swarm.Attempt{
			Start: l.At.Add(-took), End: l.At, Outcome: l.Outcome, Reason: l.Reason, CostUSD: l.CostUSD,
		})
		return true
	})
	return all, err
}

// traced is a message with what became of it. A receipt knows all attempts;
// without one the ledger does.
func (p *post) traced(f dropbox.Found, m *dropbox.Message, attempts []swarm.Attempt) *tracedMessage {
	t := &tracedMessage{
		ID: m.ID, From: m.From, To: f.Mailbox, Type: m.Type, Subject: m.Gist(), Thread: m.Thread, ReplyTo: m.ReplyTo,
		Turn: m.Turn, offer: m.Offer, Hops: m.Hops, Created: m.Created, State: view.StateOf(f.Mailbox, f.State), Attempts: attempts,
	}
	if n, ok := ircbridge.NoteOf(m); ok && f.Mailbox == dropbox.IRC && (n.About != "" || n.Do != "") {
		t.Copy, t.about = true, n.About
	}
	if f.State == dropbox.Dead || f.State == dropbox.Refused {
		t.Reason = p.Reason(f)
	}
	if r, err := p.Receipt(f); err == nil {
		t.Receipt = r
		if len(r.Attempts) > 0 {
			t.Attempts = r.Attempts
		}
	}
	return t
}
