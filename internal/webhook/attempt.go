package webhook

import (
	"fmt"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/outbox"
)

// attempt posts a claimed message and settles it. If that panics, attempt gives up the message,
// because it could cause the panic again, and returns the panic.
func (r *run) attempt(h Hook, known bool, name string, a *outbox.Attempt) (panicked string) {
	return outbox.Try("an attempt to post a message", func() {
		if err := r.box.Begin(a); err != nil {
			r.refused(name, a.Entry, err)
			r.settle("put back", a, a.Release())
			return
		}
		r.try(h, known, name, a)
	}, func(what string) {
		why := "an internal error in claude-swarm: " + what + "; it may have been posted"
		r.giveUp(a, why)
		r.o.Lost(name, why)
	})
}

// try posts a message and settles it.
func (r *run) try(h Hook, known bool, name string, a *outbox.Attempt) {
	if a.Done { // the message was posted earlier, and its file was restored, for example from a backup
		r.settle("filed", a, a.File(r.post, nil))
		return
	}
	p, why := r.read(a.Claim, known, name)
	if why != "" {
		r.giveUp(a, why)
		return
	}
	answer := NewPoster(h, r.o.Post).Post(r.post, "msg_"+a.ID, a.Message.Body)
	if !answer.Taken() && r.post.Err() != nil { // the attempt was interrupted because the service is ending
		r.settle("put back", a, a.PutBack(false))
		return
	}
	now := time.Now()
	_, again := next(r.o.Waits, a.Failed+1, answer.Rest)
	lost := !answer.Taken() && !again
	tell := r.settled(h, a.Entry, p, answer, lost, now)
	if tell != "" {
		r.o.Lost(h.Name, tell)
	}
	log := r.o.Log.With(keyHook, h.Name, keyMessage, a.ID, "event", string(p.Type), "status", answer.Status, "took", answer.Took)
	switch {
	case answer.Taken():
		log.Info("event was posted")
		r.settle("filed", a, a.File(r.post, receiptOf(a.Entry, h, answer, now)))
	case lost:
		log.Error("event was given up", keyWhy, answer.Why)
		r.giveUp(a, fmt.Sprintf("the webhook %s did not accept it in %d tries; last: %s", h.Name, a.Failed+1, answer.Why))
	default:
		log.Warn("event was not accepted", keyWhy, answer.Why)
		r.settle("put back", a, a.PutBack(true))
	}
}

func (r *run) giveUp(a *outbox.Attempt, why string) {
	r.settle("given up", a, a.GiveUp(r.post, why))
}

// settle logs that the last step of an attempt failed on disk. The step will be repeated.
func (r *run) settle(what string, a *outbox.Attempt, err error) {
	if err != nil {
		r.o.Log.Error("message was not "+what, keyMessage, a.ID, keyErr, err)
	}
}

// read returns the payload of a claimed message, or the reason why it can never be
// posted.
func (r *run) read(c *dropbox.Claim, known bool, name string) (p Payload, why string) {
	switch {
	case c.Bad != nil:
		return p, c.Bad.Error()
	case !r.ours(c.Message):
		return p, "only the daemon delivers to this mailbox"
	case !known && name != "":
		return p, "claude-swarm.yaml has no webhook " + name
	}
	p, err := decode(c.Message.Body)
	if err != nil {
		return p, err.Error()
	}
	return p, ""
}

// A receipt records what happened to a message. Its first fields are the same as those of
// a turn's receipt, so that the same program can read both.
type receipt struct {
	V       int       `yaml:"v"`
	ID      string    `yaml:"id"`
	Agent   string    `yaml:"agent"`
	Via     string    `yaml:"via"`
	Outcome string    `yaml:"outcome"`
	Ended   time.Time `yaml:"ended"`
	Webhook struct {
		Name   string `yaml:"name"`
		Status int    `yaml:"status"`
		Tries  int    `yaml:"tries"`
		MS     int64  `yaml:"ms"` // duration of the last attempt
	} `yaml:"webhook"`
}

func receiptOf(e dropbox.Entry, h Hook, a Answer, now time.Time) []byte {
	r := receipt{V: 1, ID: e.ID, Agent: dropbox.Hooks, Via: "mailbox", Outcome: "posted", Ended: now.UTC()}
	r.Webhook.Name, r.Webhook.Status, r.Webhook.Tries, r.Webhook.MS = h.Name, a.Status, e.Failed+1, a.Took.Milliseconds()
	data, err := yaml.Marshal(r)
	if err != nil {
		panic(err) // strings, numbers and a time can always be encoded
	}
	return data
}
