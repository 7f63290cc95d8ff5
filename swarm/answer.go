package swarm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// owed says what answer the daemon owes the sender of a message whose turn
// ended well: the agent's last words, for a task or a question, unless the
// agent answered by itself. Nothing ever answers a result, so two agents cannot
// keep each other awake with answers to answers.
func (a *agent) owed(m *dropbox.Message, r *journal.Receipt, sent []journal.SentNote, out runner.Outcome) *journal.Answer {
	if !m.Type.WantsAnswer() || m.From == dropbox.Swarm || m.From == a.name {
		return nil // nor does an agent answer itself
	}
	if m.Offer != "" && !a.hasOffer(m.Offer) {
		return nil // it left the work to others
	}
	if slices.ContainsFunc(sent, func(s journal.SentNote) bool {
		return s.To == m.From && s.Type == dropbox.Result && (s.ReplyTo == "" || s.ReplyTo == m.ID || s.ReplyTo == m.Offer)
	}) {
		return nil
	}
	ans := &journal.Answer{
		To: m.From, Thread: m.Thread, Trace: m.Trace, Hops: m.Hops + 1, Path: journal.AnsweredPath(m.Path, a.name, m.From),
		Subject: a.hidden.Text(answerSubject(m)), Body: out.Text,
	}
	if strings.TrimSpace(ans.Body) == "" {
		ans.Body = "(done, without a word)\n"
	}
	if len(r.Denied) > 0 {
		ans.Body = strings.TrimRight(ans.Body, "\n") + "\n\nNot permitted in this turn:\n- " + strings.Join(r.Denied, "\n- ") + "\n"
	}
	if a.store.TooManyHops(ans.Hops) {
		ans.Refused = fmt.Sprintf("passed on more than %d times", ans.Hops-1)
	}
	return ans
}

func answerSubject(m *dropbox.Message) string {
	s := describe(m)
	if !strings.HasPrefix(s, "Re: ") {
		s = "Re: " + s
	}
	return s
}

// answer delivers what a receipt says is owed, and returns its id; "" when nothing
// was delivered. Its key makes it the same answer however often it is delivered.
func (a *agent) answer(m *dropbox.Message, r *journal.Receipt) (id string, err error) {
	ans := r.Answer
	if ans == nil {
		return "", nil
	}
	if ans.Refused != "" && a.gate != nil {
		return "", a.haltThread(m, GateVerdict{Rule: "hops", Reason: "an answer was " + ans.Refused, Halt: true})
	} else if ans.Refused != "" {
		a.tellLead("refused:"+m.ID, "an answer was not sent on", fmt.Sprintf(
			"%s was to answer %s, but that was %s. The trace says how it came to that:\n  claude-swarm trace %s\n", a.name, ans.To, ans.Refused, m.ID))
		return "", nil
	}
	result := answerTo(m, r)
	if err := a.lastWord(result, ans.To); err != nil {
		return "", err
	}
	lead := a.plan().CopyFor(a.name, ans.To)
	if lead != "" {
		result.CC = []string{lead}
	}
	d, err := a.deliver(a.name, ans.To, result)
	if err == nil && lead != "" {
		err = a.copyTo(lead, result)
	}
	if undeliverable(err) {
		// Anyone who asked has no mailbox, as a message that was written by hand
		// may say. The lead gets to know.
		a.tellLead("result:"+m.ID, ans.Subject, fmt.Sprintf("%s answered %s, which cannot be delivered (%v):\n\n%s", a.name, ans.To, err, ans.Body))
		return "", nil
	}
	return d.ID, err
}

// copyTo delivers a copy of an answer, as a note. It has a key like the answer itself.
func (a *agent) copyTo(lead string, result *dropbox.Message) error {
	note := *result
	note.Type = dropbox.Note
	_, err := a.deliver(a.name, lead, &note)
	return err
}

// answerTo is the answer that a receipt says is owed to the sender of m.
func answerTo(m *dropbox.Message, r *journal.Receipt) *dropbox.Message {
	ans := r.Answer
	asked := orElse(m.Offer, m.ID) // who published knows the publication alone
	return &dropbox.Message{
		From: r.Agent, To: []string{ans.To}, Type: dropbox.Result, Subject: ans.Subject, Thread: ans.Thread, Trace: ans.Trace,
		ReplyTo: asked, Hops: ans.Hops, Path: ans.Path, Turn: r.Turn, Key: "result:" + asked, Priority: dropbox.Normal,
		Body: []byte(ans.Body),
	}
}

// undeliverable tells whether a message can never be delivered, however often
// that is tried: it would keep its mailbox from all further work.
func undeliverable(err error) bool {
	return slices.ContainsFunc([]error{dropbox.ErrNoMailbox, dropbox.ErrName, dropbox.ErrInvalid, dropbox.ErrTooLarge, dropbox.ErrHops},
		func(never error) bool { return errors.Is(err, never) })
}

// deliver sends a message of the daemon's or in an agent's name. The store makes
// a result that is too long an attachment.
func (h *house) deliver(as, to string, m *dropbox.Message) (dropbox.Delivery, error) {
	token := h.tokens.Of(as)
	m.Subject, m.Body = h.secrets.Redactor().Text(m.Subject), h.secrets.Hidden(m.Body)
	return h.store.DeliverSigned(to, m, func(m *dropbox.Message) string {
		if token == "" {
			return ""
		}
		return dropbox.Proof(token, m, to)
	})
}

// bury gives a message up: into dead/ with the reason, and the sender is told,
// once each time that it comes to that. What is cut off after the reason is
// written is gone on with at the next start.
func (a *agent) bury(c *dropbox.Claim, reason string) error {
	at, err := a.box.Condemn(c.Entry, reason)
	if err != nil {
		return err
	}
	if err := a.tellSender(c, reason, fmt.Sprintf("%s%s:%d", deadKey, c.ID, at.UnixMicro())); err != nil {
		return err
	}
	if err := a.gaveUp(c, reason, at); err != nil {
		return err
	}
	if err := a.dropOffer(c.Message, reason); err != nil {
		return err
	}
	a.doors.forget(c.ID)
	a.log.Warn("message given up", keyMessage, c.ID, keyWhy, reason)
	if err := a.box.Bury(c.Entry, reason); err != nil {
		return err
	}
	a.wakeListeners()
	return nil
}

// finishBurial goes on with a message whose reason is written.
func (a *agent) finishBurial(e dropbox.Entry) error {
	c, err := a.box.Open(e)
	if err != nil {
		return err
	}
	reason, err := a.box.Reason(e)
	if err != nil {
		return err
	}
	if done, err := a.box.HasReceipt(e); err != nil {
		return err
	} else if done { // a duplicate, of which nobody is told
		return a.box.Bury(e, reason)
	}
	return a.bury(c, reason)
}

// deadKey begins the key of what the daemon says of a message that it gave up.
const deadKey = "dead:"

// tellSender tells the sender that a message will not be done, once per key. An
// agent that waits for an answer is woken by it, others read it with their next
// turn.
func (a *agent) tellSender(c *dropbox.Claim, reason, key string) error {
	m := c.Message
	again := "To try again: claude-swarm dead retry " + c.ID
	switch { // what would be given up again
	case m == nil:
		again = "To have it done after all, write it again."
	case expired(m):
		again = fmt.Sprintf("To have it done after all, send it again: claude-swarm read %s --body | claude-swarm send %s -", c.ID, a.name)
	}
	body := fmt.Sprintf("Not done by %s: %s.\n\nThe message is kept: claude-swarm dead show %s\n%s\n", a.name, cut(reason, maxReason), c.ID, again)
	if m == nil || m.From == dropbox.Swarm || m.From == "" {
		a.tellLead(key, "not done: "+c.ID, body)
		return nil
	}
	bounce := &dropbox.Message{
		From: dropbox.Swarm, To: []string{m.From}, Type: dropbox.Status, Subject: "not done: " + describe(m),
		Thread: m.Thread, Trace: m.Trace, ReplyTo: m.ID, Key: key, Priority: dropbox.Normal, Body: []byte(body),
	}
	if m.Type.WantsAnswer() {
		bounce.Type = dropbox.Result
	}
	_, err := a.deliver(dropbox.Swarm, m.From, bounce)
	if undeliverable(err) {
		a.tellLead(key, "not done: "+describe(m), body)
		return nil
	}
	return err
}
