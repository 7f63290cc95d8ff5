package webhook

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A result says which disk step of an attempt failed, if any.
type result struct {
	settle  func() error // the last step if it failed on disk, otherwise nil
	refused bool         // the message could not be claimed and is still waiting
}

// attempt claims a message, posts it and settles it. If that panics, attempt gives up the
// message, because it could cause the panic again.
func (r *run) attempt(h Hook, known bool, name string, e dropbox.Entry) ended {
	end := ended{id: e.ID, hook: name}
	var c *dropbox.Claim
	end.panicked = caught(func() { c, end.result = r.claim(e) })
	if c == nil {
		return end
	}
	end.panicked = caught(func() { end.result = r.try(h, known, name, c) })
	if end.panicked == "" {
		return end
	}
	what, _, _ := strings.Cut(end.panicked, "\n")
	why := "an internal error in claude-swarm: " + what + "; it may have been posted"
	second := caught(func() {
		r.step("given up", c.Entry, func() error { return r.box.GiveUp(c.Entry, why) })
		r.o.Lost(name, why)
	})
	if second != "" {
		end.panicked += "\nand then: " + second
	}
	return end
}

// caught runs f, and returns its panic with the stack, or "" if f did not panic.
func caught(f func()) (panicked string) {
	defer func() {
		if p := recover(); p != nil {
			panicked = fmt.Sprintf("%v\n\nin an attempt to post a message:\n%s", p, debug.Stack())
		}
	}()
	f()
	return ""
}

// claim claims a message. The claim is nil if there is nothing to post.
func (r *run) claim(e dropbox.Entry) (*dropbox.Claim, result) {
	c, err := r.box.Claim(e)
	if errors.Is(err, dropbox.ErrGone) {
		return nil, result{}
	} else if err != nil {
		if !errors.Is(err, dropbox.ErrHalted) {
			r.o.Log.Error("message was not claimed", keyMessage, e.ID, keyErr, err)
		}
		return nil, result{refused: true}
	}
	return c, result{}
}

// try posts a claimed message and settles it.
func (r *run) try(h Hook, known bool, name string, c *dropbox.Claim) result {
	if done, err := r.box.HasReceipt(c.Entry); err == nil && done { // the message was posted earlier, and its file was restored, for example from a backup
		return r.step("filed", c.Entry, func() error { return r.box.File(c.Entry) })
	}
	p, why := r.read(c, known, name)
	if why != "" {
		return r.step("given up", c.Entry, func() error { return r.box.GiveUp(c.Entry, why) })
	}
	a := NewPoster(h, r.o.Post).Post(r.post, "msg_"+c.ID, c.Message.Body)
	if !a.Taken() && r.post.Err() != nil { // the attempt was interrupted because the service is ending
		return r.step("put back", c.Entry, func() error { return r.putBack(c.Entry, false) })
	}
	now := time.Now()
	_, again := next(r.o.Waits, c.Failed+1, a.Rest)
	lost := !a.Taken() && !again
	tell := r.settled(h, c.Entry, p, a, lost, now)
	if tell != "" {
		r.o.Lost(h.Name, tell)
	}
	log := r.o.Log.With(keyHook, h.Name, keyMessage, c.ID, "event", string(p.Type), "status", a.Status, "took", a.Took)
	switch {
	case a.Taken():
		log.Info("event was posted")
		return r.step("filed", c.Entry, func() error {
			if err := r.box.Commit(c.Entry, receiptOf(c.Entry, h, a, now)); err != nil {
				return err
			}
			return r.box.Finish(c.Entry)
		})
	case lost:
		log.Error("event was given up", keyWhy, a.Why)
		return r.step("given up", c.Entry, func() error {
			return r.box.GiveUp(c.Entry, fmt.Sprintf("the webhook %s did not accept it in %d tries; last: %s", h.Name, c.Failed+1, a.Why))
		})
	}
	log.Warn("event was not accepted", keyWhy, a.Why)
	return r.step("put back", c.Entry, func() error { return r.putBack(c.Entry, true) })
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

func (r *run) putBack(e dropbox.Entry, failed bool) error {
	_, err := r.box.PutBack(e, failed)
	if errors.Is(err, dropbox.ErrGone) {
		return nil
	}
	return err
}

// step performs the last disk step of an attempt. If the step fails, the result contains
// it, so that the loop can retry it.
func (r *run) step(what string, e dropbox.Entry, step func() error) result {
	err := step()
	if err == nil {
		return result{}
	}
	r.o.Log.Error("message was not "+what, keyMessage, e.ID, keyErr, err)
	return result{settle: step}
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
