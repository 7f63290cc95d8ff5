package ircbridge

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

// Bounds of the questions that wait for an answer. An agent that waits has given up
// long before; an answer after that reaches nobody.
const (
	maxOpen = 200
	openFor = 7 * 24 * time.Hour
)

// A question was shown in a channel and waits for the answer of a person.
type question struct {
	OpenQuestion

	// Own says that it was put to irc/ itself. It stays claimed until it is answered:
	// whoever waits for the answer takes one that is filed for refused.
	Own bool `json:"own,omitempty"`
}

func questionsFile(home string) string { return filepath.Join(home, folder, "questions.json") }

func (r *run) readQuestions() error {
	data, err := os.ReadFile(questionsFile(r.Home))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &r.open); err != nil {
		r.Log.Warn("open questions were not read", keyErr, err)
		r.open = nil // those of irc/ are asked again
	}
	return nil
}

func (r *run) saveQuestions() {
	r.dirty = true
	if err := keep(questionsFile(r.Home), r.open); err != nil {
		r.trouble("open questions were not noted", err)
	}
}

// isOpen says whether a message in irc/ is a question that waits for its answer.
func (r *run) isOpen(id string) bool {
	return slices.ContainsFunc(r.open, func(q question) bool { return q.Own && q.ID == id })
}

// asked notes a question that was shown.
func (r *run) asked(f *flight) {
	q := question{OpenQuestion: OpenQuestion{
		ID: cmp.Or(f.note.About, f.ID), From: f.Message.From, To: dropbox.IRC, Channel: f.place.target, At: time.Now().UTC(),
	}}
	if f.note.About == "" {
		q.Own = true
	} else {
		q.To = cmp.Or(f.note.To, dropbox.Lead)
	}
	r.open = append(r.open, q)
	r.saveQuestions()
	if !q.Own {
		r.settle(f, outcomeSaid)
	} else {
		delete(r.flights, f.ID)
		r.state.Sent++
	}
	for len(r.open) > maxOpen {
		r.shut(r.open[0].ID, outcomeNoAnswer)
	}
}

// questionOf finds the newest open question of an agent; channel "" means wherever it
// was shown.
func (r *run) questionOf(agent, channel string) (question, bool) {
	for _, q := range slices.Backward(r.open) {
		if q.From == agent && (channel == "" || r.sameChannel(q.Channel, channel)) {
			return q, true
		}
	}
	return question{}, false
}

// shut ends a question.
func (r *run) shut(id, outcome string) {
	own := r.isOpen(id)
	r.open = slices.DeleteFunc(r.open, func(q question) bool { return q.ID == id })
	r.saveQuestions()
	if !own {
		return
	}
	claimed, err := r.box.Claimed()
	if err != nil {
		r.trouble("question was not filed", err)
		return
	}
	for _, e := range claimed {
		if e.ID != id {
			continue
		}
		if err := r.file(settlement(e, r.receipt(id, outcome))); err != nil {
			r.trouble("question was not filed", err)
		}
	}
}

// answer brings a person's words to the agent that asked. already says that somebody
// answered before.
func (r *run) answer(q question, n Origin, body string) (already bool, err error) {
	found, old, err := r.find(q.ID)
	if errors.Is(err, dropbox.ErrNotFound) {
		r.shut(q.ID, outcomeNoAnswer)
		return true, nil
	} else if err != nil {
		return false, err
	}
	if !q.Own && found.State != dropbox.Waiting && found.State != dropbox.Claimed {
		r.shut(q.ID, outcomeAnswered)
		return true, nil
	}
	m := &dropbox.Message{
		From: dropbox.IRC, To: []string{q.From}, Type: dropbox.Result, Subject: reSubject(old.Subject), ReplyTo: q.ID,
		Thread: cmp.Or(old.Thread, old.ID), Trace: cmp.Or(old.Trace, old.ID), Key: "irc-answer-" + q.ID, Extra: n.Extra(), Body: []byte(body + "\n"),
	}
	d, err := r.deliver(q.From, m)
	if err != nil {
		return false, err
	}
	r.shut(q.ID, outcomeAnswered)
	if found.Mailbox == dropbox.Lead {
		box, err := r.Store.Mailbox(dropbox.Lead)
		if err == nil {
			err = box.File(found.Entry)
		}
		if err != nil && !errors.Is(err, dropbox.ErrGone) {
			return false, fmt.Errorf("the answer is sent; file %s: %w", q.ID, err)
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

// sweep does what is due now and then.
func (r *run) sweep(now time.Time) {
	r.dirty = true
	r.overdue(now)
	r.leaveDone(now)
	if err := r.takeUpMail(); err != nil {
		r.trouble("messages that the disk refused were not taken up", err)
	}
	for _, rm := range r.rooms {
		if rm.stale {
			r.askModes(rm)
		}
	}
	r.tellCrowds(now)
	for at := range r.wakes {
		if r.awake(at, now) == 0 {
			delete(r.wakes, at)
		}
	}
	for _, q := range slices.Clone(r.open) {
		if now.Sub(q.At) > openFor {
			r.shut(q.ID, outcomeNoAnswer)
			continue
		}
		found, m, err := r.find(q.ID)
		switch {
		case errors.Is(err, dropbox.ErrNotFound):
			r.shut(q.ID, outcomeNoAnswer)
		case err != nil: // next time
		case !q.Own && found.State != dropbox.Waiting && found.State != dropbox.Claimed:
			r.shut(q.ID, outcomeAnswered) // by another door
		case q.Own && m.Expired(now):
			r.shut(q.ID, outcomeNoAnswer)
		}
	}
}
