package mail

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// owed returns the answer that the daemon owes the sender of a message whose turn ended
// well. For a task or a question it is the agent's last words, unless the agent sent an
// answer itself. A result is never answered, so two agents cannot keep each other awake
// with answers to answers.
func (in *Inbox) owed(m *dropbox.Message, r *journal.Receipt, sent []journal.SentNote, out runner.Outcome) *journal.Answer {
	if !m.Type.WantsAnswer() || m.From == dropbox.Swarm || m.From == in.Name {
		return nil // an agent does not answer itself either
	}
	if m.Offer != "" && !in.hasOffer(m.Offer) {
		return nil // the agent delegated the work
	}
	if slices.ContainsFunc(sent, func(s journal.SentNote) bool {
		return s.To == m.From && s.Type == dropbox.Result && (s.ReplyTo == "" || s.ReplyTo == m.ID || s.ReplyTo == m.Offer)
	}) {
		return nil
	}
	ans := &journal.Answer{
		To: m.From, Thread: m.Thread, Trace: m.Trace, Hops: m.Hops + 1, Path: journal.AnsweredPath(m.Path, in.Name, m.From),
		Subject: in.Hidden.Text(subjectOf(m, r)), Body: out.Text,
	}
	refused := r.Outcome == journal.OutcomeRefused
	switch silent := strings.TrimSpace(ans.Body) == ""; {
	case refused && silent:
		ans.Body = notDone + "\n"
	case refused && !strings.HasPrefix(ans.Body, notDone): // the answer to an urgent message repeats the turn's answer
		ans.Body = notDone + "\n\n" + ans.Body
	case silent:
		ans.Body = "(done, without a word)\n"
	}
	if r.Verification != nil && r.Verification.Word == journal.WorkFailed {
		ans.Body = r.Verification.Line() + "\n\n" + ans.Body
	} else if r.Verification != nil {
		ans.Body = strings.TrimRight(ans.Body, "\n") + "\n\n" + r.Verification.Line() + "\n"
	}
	if len(r.Denied) > 0 {
		ans.Body = strings.TrimRight(ans.Body, "\n") + "\n\nNot permitted in this turn:\n- " + strings.Join(r.Denied, "\n- ") + "\n"
	}
	if in.Store.TooManyHops(ans.Hops) {
		ans.Refused = fmt.Sprintf("passed on more than %d times", ans.Hops-1)
	}
	return ans
}

// nothingPermitted says why a turn with the outcome refused did nothing. notDone is the first
// line of its answer.
const (
	nothingPermitted = "nothing that it tried to do was permitted"
	notDone          = "Not done: nothing that was tried in this turn was permitted."
)

// answer delivers the answer that a receipt contains, and returns the answer's id, or ""
// if it did not deliver the answer. Repeated calls are safe, because the store recognizes
// the answer by its key.
func (in *Inbox) answer(m *dropbox.Message, r *journal.Receipt) (id string, err error) {
	ans := r.Answer
	if ans == nil {
		return "", nil
	}
	if ans.Refused != "" && in.Gate != nil {
		return "", in.haltThread(m, in.Name, policy.Verdict{Rule: "hops", Reason: "an answer was " + ans.Refused, Halt: true})
	} else if ans.Refused != "" {
		in.Notices.Tell(notice.AnswerRefused{Agent: in.Name, To: ans.To, Why: ans.Refused, Message: m.ID, Title: Describe(m)})
		return "", nil
	}
	result := answerTo(m, r)
	if err := in.lastWord(result, ans.To); err != nil {
		return "", err
	}
	lead := in.Names().CopyFor(in.Name, ans.To)
	if lead != "" {
		result.CC = []string{lead}
	}
	d, err := in.Deliver(in.Name, ans.To, result)
	if err == nil && lead != "" {
		err = in.copyTo(lead, result)
	}
	if dropbox.IsUndeliverable(err) {
		// The sender has no mailbox, for example because a person wrote the message. The
		// lead gets the answer instead.
		in.Notices.Tell(notice.AnswerReturned{Agent: in.Name, To: ans.To, Message: m.ID, Subject: ans.Subject, Body: ans.Body, Err: err})
		return "", nil
	}
	return d.ID, err
}

// copyTo delivers a copy of an answer, as a note. The copy has the same key as the
// answer.
func (in *Inbox) copyTo(lead string, result *dropbox.Message) error {
	note := *result
	note.Type = dropbox.Note
	_, err := in.Deliver(in.Name, lead, &note)
	return err
}

// answerTo returns the answer in the receipt as a message to the sender of of.
func answerTo(of *dropbox.Message, r *journal.Receipt) *dropbox.Message {
	ans := r.Answer
	asked := cmp.Or(of.Offer, of.ID) // the publisher has only the id of the publication
	m := &dropbox.Message{
		From: r.Agent, To: []string{ans.To}, Type: dropbox.Result, Subject: ans.Subject, Thread: ans.Thread, Trace: ans.Trace,
		ReplyTo: asked, Hops: ans.Hops, Path: ans.Path, Turn: r.Turn, Key: "result:" + asked, Priority: dropbox.Normal,
		Body: []byte(ans.Body),
	}
	if r.Outcome == journal.OutcomeRefused {
		m.Outcome = r.Outcome
	}
	return m
}
