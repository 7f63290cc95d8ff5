package mail

import (
	"fmt"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// GiveUp moves a message to dead/ with the reason, and notifies the sender once. If a
// crash interrupts GiveUp after it has written the reason, the daemon completes the work
// at its next start.
func (in *Inbox) GiveUp(c *dropbox.Claim, reason string) error {
	at, err := in.Box.BeginGiveUp(c.Entry, reason)
	if err != nil {
		return err
	}
	if err := in.tellSender(c, reason, notice.NotDoneKey(c.ID, at)); err != nil {
		return err
	}
	if err := in.gaveUp(c, reason, at); err != nil {
		return err
	}
	if err := in.dropOffer(c.Message, reason); err != nil {
		return err
	}
	in.Arrivals.Forget(c.ID)
	in.Log.Warn("message given up", keyMessage, c.ID, keyWhy, reason)
	if err := in.Box.GiveUp(c.Entry, reason); err != nil {
		return err
	}
	in.Notices.Filed()
	return nil
}

// finishGivingUp completes GiveUp for a message whose reason has been written.
func (in *Inbox) finishGivingUp(e dropbox.Entry) error {
	c, err := in.Box.Open(e)
	if err != nil {
		return err
	}
	reason, err := in.Box.Reason(e)
	if err != nil {
		return err
	}
	if done, err := in.Box.HasReceipt(e); err != nil {
		return err
	} else if done { // a duplicate; the sender does not need to be notified
		return in.Box.GiveUp(e, reason)
	}
	return in.GiveUp(c, reason)
}

// tellSender notifies the sender, once per key, that no agent will work on a message. The
// notification wakes an agent that is waiting for an answer. Other agents read it in
// their next turn.
func (in *Inbox) tellSender(c *dropbox.Claim, reason, key string) error {
	m := c.Message
	again := "To try again: claude-swarm dead retry " + c.ID
	switch { // a retry would fail again
	case m == nil:
		again = "To have it done after all, write it again."
	case expired(m):
		again = fmt.Sprintf("To have it done after all, send it again: claude-swarm read %s --body | claude-swarm send %s -", c.ID, in.Name)
	}
	body := fmt.Sprintf("Not done by %s: %s.\n\nThe message is kept: claude-swarm dead show %s\n%s\n", in.Name, screen.Truncate(reason, notice.MaxQuote), c.ID, again)
	if m == nil || m.From == dropbox.Swarm || m.From == "" {
		what := c.ID
		if m != nil {
			what = Describe(m)
		}
		in.Notices.Tell(notice.NotDone{Agent: in.Name, Key: key, Title: what, Body: body})
		return nil
	}
	bounce := &dropbox.Message{
		From: dropbox.Swarm, To: []string{m.From}, Type: dropbox.Status, Subject: "not done: " + Describe(m),
		Thread: m.Thread, Trace: m.Trace, ReplyTo: m.ID, Key: key, Priority: dropbox.Normal, Body: []byte(body),
	}
	if m.Type.WantsAnswer() {
		bounce.Type = dropbox.Result
	}
	_, err := in.Deliver(dropbox.Swarm, m.From, bounce)
	if dropbox.IsUndeliverable(err) {
		in.Notices.Tell(notice.NotDone{Agent: in.Name, Key: key, Title: Describe(m), Body: body})
		return nil
	}
	return err
}
