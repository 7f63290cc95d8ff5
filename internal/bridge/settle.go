package bridge

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

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
	o.onDisk(f, "message was not given up", func() error { return o.giveUpOnDisk(f.Claim, reason) }, func() {})
}

// giveUpOnDisk performs the disk operations for giving up a message. Each of them is safe
// to repeat.
func (o *poster) giveUpOnDisk(c *dropbox.Claim, reason string) error {
	at, err := o.mail.box.BeginGiveUp(c.Entry, reason)
	if err != nil {
		return err
	}
	if err := o.bounce(c, reason, at); err != nil {
		return err
	}
	return o.mail.box.GiveUp(c.Entry, reason)
}

// finishGiveUp finishes giving up a message after a crash.
func (o *poster) finishGiveUp(e dropbox.Entry) error {
	c, err := o.mail.box.Open(e)
	if err != nil {
		return err
	}
	reason, err := o.mail.box.Reason(e)
	if err != nil {
		return err
	}
	return o.giveUpOnDisk(c, reason)
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
