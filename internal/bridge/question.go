package bridge

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Limits on the open questions. The agent that asked stops waiting long before openFor
// has passed. An answer that arrives after openFor reaches no agent.
const (
	maxOpen = 200
	openFor = 7 * 24 * time.Hour
)

// A question has been shown in a channel and is waiting for a person's answer.
type question struct {
	OpenQuestion

	// sending means that the network has not confirmed the question yet. People may
	// already see it and answer it, but it is not saved, so that a bridge that ends now
	// shows it again.
	sending bool

	// Own means that the question was sent to the bridge's mailbox. It stays claimed
	// until it is answered, because its sender would interpret a filed question as a
	// refusal.
	Own bool `json:"own,omitempty"`
}

// questions holds the questions that are waiting for an answer. The loop owns it.
type questions struct {
	mail *mail
	rec  *record
	link Link
	over func(*dropbox.Message) string // why a question no longer needs an answer; see [Options]
	open []question                    // oldest first
}

func (q *questions) file() string { return filepath.Join(q.rec.dir, "questions.json") }

// read reads the open questions that an earlier bridge process saved.
func (q *questions) read() error {
	data, err := os.ReadFile(q.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &q.open); err != nil {
		q.rec.log.Warn("open questions were not read", keyErr, err)
		q.open = nil // the bridge shows the questions in its mailbox again
	}
	return nil
}

func (q *questions) save() {
	q.rec.changed()
	shown := slices.DeleteFunc(slices.Clone(q.open), func(o question) bool { return o.sending })
	if err := keep(q.file(), shown); err != nil {
		q.rec.trouble("open questions were not recorded", err)
	}
}

// isOpen reports whether a message in the bridge's mailbox is an open question.
func (q *questions) isOpen(id string) bool {
	return slices.ContainsFunc(q.open, func(o question) bool { return o.Own && o.ID == id })
}

// send adds a question that is being sent. After that, the caller calls shown or notShown.
func (q *questions) send(o question) {
	o.sending = true
	q.open = append(q.open, o)
}

// isSending returns a function that reports whether a question is the one that is being
// sent to the given channel.
func isSending(id, channel string) func(question) bool {
	return func(o question) bool { return o.sending && o.ID == id && o.Channel == channel }
}

// shown saves a question that send added, unless it has already been answered.
func (q *questions) shown(id, channel string) {
	if i := slices.IndexFunc(q.open, isSending(id, channel)); i >= 0 {
		q.open[i].sending = false
		q.save()
		q.bound()
	}
}

// notShown removes a question that send added. answered reports whether it had already
// been answered.
func (q *questions) notShown(id, channel string) (answered bool) {
	before := len(q.open)
	q.open = slices.DeleteFunc(q.open, isSending(id, channel))
	return len(q.open) == before
}

// bound closes the oldest questions if there are more than maxOpen.
func (q *questions) bound() {
	for len(q.open) > maxOpen {
		q.shut(q.open[0].ID, outcomeNoAnswer)
	}
}

// like returns the open questions whose id matches the given id, which can be part of an
// id.
func (q *questions) like(id string) []question {
	id = bareID(id)
	return slices.DeleteFunc(slices.Clone(q.open), func(o question) bool { return !dropbox.MatchID(o.ID, id) })
}

// asked returns the unanswered questions whose id matches the given id, which can be part
// of an id: the open ones, and the others in the lead's mailbox. The bridge prints the id of
// a question in alerts and in the status, too, so people may answer a question that was never
// shown as a question.
func (q *questions) asked(id string) []question {
	id = bareID(id)
	all := q.like(id)
	for i := len(all) - 1; i >= 0; i-- { // a question that was shown in several channels is one question
		if slices.ContainsFunc(all[:i], func(o question) bool { return o.ID == all[i].ID }) {
			all = slices.Delete(all, i, i+1)
		}
	}
	box, err := q.mail.store.Mailbox(dropbox.Lead)
	if errors.Is(err, dropbox.ErrNoMailbox) {
		return all
	}
	var waiting, read []dropbox.Entry
	if err == nil {
		waiting, err = box.Peek()
	}
	if err == nil {
		read, err = box.Claimed()
	}
	if err != nil {
		q.rec.trouble("the lead's questions were not listed", err)
		return all
	}
	for _, e := range append(waiting, read...) {
		if !dropbox.MatchID(e.ID, id) || slices.ContainsFunc(all, func(o question) bool { return o.ID == e.ID }) {
			continue
		}
		if m, err := box.Read(e); err == nil && q.isAsked(m) {
			all = append(all, question{OpenQuestion: OpenQuestion{ID: e.ID, From: m.From, To: dropbox.Lead, At: e.Created}})
		}
	}
	return all
}

// isAsked reports whether a message in the lead's mailbox is a question that a person on the
// network may answer.
func (q *questions) isAsked(m *dropbox.Message) bool {
	return m.Type == dropbox.Question && m.From != q.mail.name && (m.From == dropbox.Swarm || dropbox.CheckAgent(m.From) == nil) && !m.Expired(time.Now()) && q.over(m) == ""
}

// of returns the newest open question from an agent that was shown in the given channel,
// or in any channel if channel is "".
func (q *questions) of(agent, channel string) (question, bool) {
	for _, o := range slices.Backward(q.open) {
		if o.From == agent && (channel == "" || sameChannel(q.link, o.Channel, channel)) {
			return o, true
		}
	}
	return question{}, false
}

// shut closes a question.
func (q *questions) shut(id, outcome string) {
	own := q.isOpen(id)
	q.open = slices.DeleteFunc(q.open, func(o question) bool { return o.ID == id })
	q.save()
	if !own {
		return
	}
	claimed, err := q.mail.box.Claimed()
	if err != nil {
		q.rec.trouble("question was not filed", err)
		return
	}
	for _, e := range claimed {
		if e.ID != id {
			continue
		}
		if err := q.mail.file(settlement(e, q.mail.name, outcome, there{Server: q.link.Server()})); err != nil {
			q.rec.trouble("question was not filed", err)
		}
	}
}

// isForDaemon reports whether an order answers a question from the daemon. Such an answer
// steers the swarm.
func (q *questions) isForDaemon(order string) bool {
	words := strings.Fields(order)
	return len(words) > 2 && orderWord(order) == "reply" &&
		slices.ContainsFunc(q.asked(words[1]), func(o question) bool { return o.From == dropbox.Swarm })
}

// answer delivers a person's answer to the agent that asked, or to the daemon. already
// reports whether the question was answered before, or is closed for another reason.
func (q *questions) answer(to question, o Origin, body string) (already bool, err error) {
	found, old, err := q.mail.find(to.ID)
	if errors.Is(err, dropbox.ErrNotFound) {
		q.shut(to.ID, outcomeNoAnswer)
		return true, nil
	} else if err != nil {
		return false, err
	}
	if !to.Own && found.State != dropbox.Waiting && found.State != dropbox.Claimed {
		q.shut(to.ID, outcomeAnswered)
		return true, nil
	}
	if q.over(old) != "" {
		q.shut(to.ID, outcomeAnswered)
		return true, nil
	}
	m := &dropbox.Message{
		From: q.mail.name, To: []string{to.From}, Type: dropbox.Result, Subject: reSubject(old.Subject), ReplyTo: to.ID,
		Thread: cmp.Or(old.Thread, old.ID), Trace: cmp.Or(old.Trace, old.ID), Key: q.mail.name + "-answer-" + to.ID, Extra: o.Extra(q.mail.name), Body: []byte(body + "\n"),
	}
	if to.From == dropbox.Swarm {
		m.Key = "" // the daemon reports the outcome, and may ask for a different answer
		_, err := q.mail.deliver(to.From, m)
		return false, err // sweep closes the question once the daemon has filed it
	}
	d, err := q.mail.deliver(to.From, m)
	if err != nil {
		return false, err
	}
	q.shut(to.ID, outcomeAnswered)
	if found.Mailbox == dropbox.Lead {
		box, err := q.mail.store.Mailbox(dropbox.Lead)
		if err == nil {
			err = box.File(found.Entry)
		}
		if err != nil && !errors.Is(err, dropbox.ErrGone) {
			return false, fmt.Errorf("the answer has been sent; file %s: %w", to.ID, err)
		}
	}
	return d.Duplicate, nil
}

func reSubject(old string) string {
	if old == "" || strings.HasPrefix(old, "Re: ") || len(old) > 200 {
		return old
	}
	return "Re: " + old
}

// sweep closes the questions that are too old or that were answered elsewhere.
func (q *questions) sweep(now time.Time) {
	for _, o := range slices.Clone(q.open) {
		if now.Sub(o.At) > openFor {
			q.shut(o.ID, outcomeNoAnswer)
			continue
		}
		found, m, err := q.mail.find(o.ID)
		switch {
		case errors.Is(err, dropbox.ErrNotFound):
			q.shut(o.ID, outcomeNoAnswer)
		case err != nil: // the next sweep tries again
		case !o.Own && found.State != dropbox.Waiting && found.State != dropbox.Claimed:
			q.shut(o.ID, outcomeAnswered) // the question was answered elsewhere
		case q.over(m) != "":
			q.shut(o.ID, outcomeAnswered)
		case o.Own && m.Expired(now):
			q.shut(o.ID, outcomeNoAnswer)
		}
	}
}
