package main

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// An answerWait waits for answers to messages. Meanwhile, it shows where each message is
// and what delays it.
type answerWait struct {
	*client.Wait
	show  *progress
	holds *holdups
}

// newAnswerWait starts watching for answers to the messages. The caller must close the
// answerWait.
func (p *post) newAnswerWait(c *cli.Context, sent []dropbox.Delivery) (*answerWait, error) {
	wait, err := p.Wait(sent)
	if err != nil {
		return nil, err
	}
	show := newProgress(c.App.ErrWriter)
	return &answerWait{Wait: wait, show: show, holds: newHoldups(c, p, show)}, nil
}

func (w *answerWait) close() {
	w.Close()
	w.holds.close()
}

// next waits for the outcome of any one of the messages. That message is then no longer
// pending.
func (w *answerWait) next(ctx context.Context) (*client.Outcome, error) {
	redraw := w.show.every()
	defer redraw.Stop()
	for {
		now := time.Now()
		if got, err := w.Look(now); got != nil || err != nil {
			return got, err
		}
		first := w.Pending[0]
		if state, ok := w.States[first.ID]; ok {
			w.show.say(first, state, now)
		}
		w.holds.setAgents(ctx, w.waiting())
		for ring := false; !ring; {
			select {
			case <-w.Wakes():
				ring = true
			case <-w.holds.wake:
				w.holds.look(ctx)
			case <-redraw.C:
				w.show.draw(time.Now())
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
}

// waiting returns the agents that have not yet claimed a pending message.
func (w *answerWait) waiting() []string {
	var agents []string
	for _, d := range w.Pending {
		if state, ok := w.States[d.ID]; ok && state == dropbox.Waiting && d.To != dropbox.Lead {
			agents = append(agents, d.To)
		}
	}
	return agents
}

// notPermitted returns the error for a message whose turn did nothing, because nothing that the
// agent tried was permitted. The answer has been printed.
func notPermitted(a *client.Answer) error {
	return fail(exitDenied, "claude-swarm trace "+a.ReplyTo, "%s did not do %s: nothing that it tried to do was permitted", a.From, a.ReplyTo)
}

// noAnswer returns the error for a message that got no answer. The error suggests the
// next command.
func noAnswer(e *client.NoAnswerError) error {
	switch {
	case e.Bounce != nil:
		return fail(exitFailed, "claude-swarm trace "+e.Bounce.ReplyTo, "%s", screen.Plain(e.Error()))
	case e.State == dropbox.Dead:
		return fail(exitFailed, "claude-swarm dead show "+e.Sent.ID, "%w", e)
	}
	return fail(exitFailed, "claude-swarm trace "+e.Sent.ID, "%w", e)
}
