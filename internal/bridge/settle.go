package bridge

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// settleTries is how many times a failed disk operation is retried. The pause before the
// first retry is 100 ms, and it doubles for each further retry. If the last retry fails, the next
// sweep tries again.
const settleTries = 6

// settle files a finished message.
func (o *poster) settle(f *flight, outcome string) { o.settleWith(f, outcome, "") }

func (o *poster) settleWith(f *flight, outcome, why string) {
	st := settlement(f.Entry, o.mail.name, outcome, there{
		Server: o.link.Server(), Target: f.to.target, Lines: f.shown.Lines, MsgIDs: f.shown.MsgIDs, Again: f.shown.Again, Why: why,
	})
	o.onDisk(f, "message was not filed", func() error { return f.File(o.loop.ctx, st.Receipt) }, func() {
		if outcome == outcomeSaid {
			o.rec.state.Sent++
		}
	})
}

// onDisk performs the last disk operation for a message in parallel with the loop. Once the
// operation has succeeded, the loop calls then().
func (o *poster) onDisk(f *flight, what string, step func() error, then func()) {
	f.filing = true
	o.loop.do(func() func() {
		err := step()
		return func() {
			delete(o.flights, f.ID)
			o.rec.changed()
			if err != nil {
				o.rec.trouble(what, err)
				return
			}
			then()
		}
	})
}

// giveUp gives up a message that cannot be posted, and tells its sender. A copy is filed
// as not shown instead, unless the connection ended because of it. The sender is not told
// about a copy, because the original message has been delivered.
func (o *poster) giveUp(f *flight, reason string) {
	reason = o.rec.mask(o.link.Plain(reason))
	if f.Message != nil && f.origin.About != "" && !blamesText(reason) {
		o.settleWith(f, outcomeNotShown, reason)
		return
	}
	o.rec.log.Warn("message was given up", keyMessage, f.ID, keyWhy, reason)
	o.onDisk(f, "message was not given up", func() error { return f.GiveUp(o.loop.ctx, reason) }, func() {})
}

// bounce tells the sender that a message was not posted, once for each time that the
// message is given up.
func (o *poster) bounce(c *dropbox.Claim, reason string, at time.Time) error {
	m := c.Message
	if m == nil || m.From == "" || m.From == dropbox.Swarm || m.From == o.mail.name {
		return nil
	}
	n, _ := o.mail.origin(m)
	if n.About != "" {
		return nil
	}
	next := o.advice(m, n, destinationOf(m, n, Origin{}, o.channels, o.mail.name).target, reason)
	b := &dropbox.Message{
		From: o.mail.name, To: []string{m.From}, Type: dropbox.Status, Subject: "not posted on " + o.mail.title, Thread: m.Thread, Trace: m.Trace,
		ReplyTo: m.ID, Key: fmt.Sprintf("dead:%s:%d", c.ID, at.UnixMicro()),
		Body: []byte(fmt.Sprintf("Not posted on %s: %s.\n\nThe message is kept: claude-swarm dead show %s\n%s\n", o.mail.title, strings.TrimRight(reason, "."), c.ID, next)),
	}
	if m.Type.WantsAnswer() {
		b.Type = dropbox.Result
	}
	_, err := o.mail.deliver(m.From, b)
	if errors.Is(err, dropbox.ErrNoMailbox) || errors.Is(err, dropbox.ErrName) || errors.Is(err, dropbox.ErrInvalid) {
		return nil // the sender cannot receive messages
	}
	return err
}
