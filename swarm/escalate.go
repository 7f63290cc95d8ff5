package swarm

import (
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// A step is the latest action taken for published work that nobody claims.
type step int

const (
	offered  step = iota // offered to the agents that were subscribed when it was published
	urged                // offered again to all subscribers, as urgent
	fellBack             // given to the fallback agent of its topic
	told                 // reported to the lead; no further step follows
)

// after returns the next step for which there is a recipient.
func (s step) after(subscribers, fallback bool) step {
	switch {
	case s < urged && subscribers:
		return urged
	case s < fellBack && fallback:
		return fellBack
	}
	return told
}

// A wait records the time since which published work has been open to the recipients of
// its last step.
type wait struct {
	step   step
	since  time.Time
	failed bool // a part of the step failed, so the step is repeated
}

// unclaimed contains the waits of the publications that nobody has claimed, by publication
// id. Only the goroutine that calls followUp uses it. When the daemon starts, each
// publication begins at its first step, because no agent could claim it while no daemon
// was running. The message keys prevent the same step from reaching an agent twice.
type unclaimed map[string]*wait

// open records that a publication is currently unclaimed, and returns its wait.
func (u unclaimed) open(id string, now time.Time) *wait {
	if u[id] == nil {
		u[id] = &wait{since: now}
	}
	return u[id]
}

// hold restarts the wait of a publication that currently cannot be claimed.
func (u unclaimed) hold(id string, now time.Time) {
	if w := u[id]; w != nil {
		w.since = now
	}
}

// keep removes the publications that are no longer open.
func (u unclaimed) keep(open []topic.Publication) {
	for id := range u {
		if !slices.ContainsFunc(open, func(p topic.Publication) bool { return p.ID == id }) {
			delete(u, id)
		}
	}
}

// due returns the step that is due now, which may be a repeated one. It returns false if
// no step is due.
func (w *wait) due(subscribers, fallback bool, patience time.Duration, now time.Time) (step, bool) {
	switch {
	case w.step != told && now.Sub(w.since) >= patience:
		return w.step.after(subscribers, fallback), true
	case w.failed:
		return w.step, true
	}
	return w.step, false
}

// took records that a step was taken, and whether it failed.
func (w *wait) took(s step, now time.Time, err error) {
	if s != w.step {
		w.step, w.since = s, now
	}
	w.failed = err != nil
}

// A follower follows up on published work. Only the sweep goroutine uses it.
type follower struct {
	store   *dropbox.Store
	tokens  *journal.Tokens // sign the copies that are offered again
	mail    *mail.Service
	notices *notice.Teller
	plan    func() Plan
	log     *slog.Logger
	waits   unclaimed
}

// followUp takes the next step for published work that has been unclaimed for too long.
func (f *follower) followUp(now time.Time) {
	waits := f.waits
	f.mail.Note(topic.Of(f.store).Finish())
	open, err := topic.Of(f.store).Open()
	if err != nil {
		f.log.Warn("publications could not be read", keyErr, err)
		return
	}
	waits.keep(open)
	halted := f.store.Halted()
	for _, p := range open {
		switch {
		case p.Grant != nil:
			waits.hold(p.ID, now)
			f.abandoned(p)
		case halted:
			waits.hold(p.ID, now)
		default:
			f.escalate(p, waits.open(p.ID, now), now)
		}
	}
}

// abandoned takes a claim back from an agent that has left the swarm.
func (f *follower) abandoned(p topic.Publication) {
	if _, ok := f.plan().spec(p.Grant.Agent); ok || p.Grant.Agent == dropbox.Lead {
		return
	}
	f.log.Info("claim of a removed agent was released", keyMessage, p.ID, keyAgent, p.Grant.Agent)
	f.mail.Note(topic.Of(f.store).Release(p.ID, p.Grant.Agent))
}

// escalate takes the next step for a publication that nobody has claimed, if a step is due.
func (f *follower) escalate(p topic.Publication, w *wait, now time.Time) {
	plan := f.plan()
	subscribers, err := topic.Of(f.store).Subscribers(p.Message.Topic)
	if err != nil {
		f.log.Warn("publications could not be read", keyErr, err)
		return
	}
	subscribers = slices.DeleteFunc(subscribers, func(name string) bool { return name == p.Message.From })
	rule := plan.Topics.For(p.Message.Topic)
	fallback := plan.fallback(rule, p.Message.From)
	next, ok := w.due(len(subscribers) > 0, fallback != "", rule.ClaimTimeout, now)
	if !ok {
		return
	}
	if next == fellBack && next != w.step {
		had, err := topic.Of(f.store).WasAssigned(p.ID, fallback)
		if err != nil {
			f.log.Warn("publications could not be read", keyErr, err)
			return
		}
		if had { // the fallback agent received it from an earlier daemon, and gave it up
			next = told
		}
	}
	switch next {
	case urged:
		_, err = topic.Of(f.store).OfferAgain(p, dropbox.Urgent, f.tokens.SignAgain(p.Message))
	case fellBack:
		err = f.fallBack(p, fallback)
	case told:
		f.tellUnclaimed(p, now)
	}
	w.took(next, now, err)
	if err != nil {
		f.log.Warn("publication could not be passed on", keyMessage, p.ID, keyErr, err)
	}
}

// fallBack gives a publication to a fallback agent.
func (f *follower) fallBack(p topic.Publication, agent string) error {
	if _, err := topic.Of(f.store).Claim(p.ID, agent, ""); err != nil {
		return err
	}
	err := topic.Of(f.store).Assign(p, agent, f.tokens.SignAgain(p.Message))
	if err != nil { // a claim without a message would hide the publication from all agents
		err = errors.Join(err, topic.Of(f.store).Release(p.ID, agent))
	}
	return err
}

// tellUnclaimed tells the lead once about a publication that nobody claims.
func (f *follower) tellUnclaimed(p topic.Publication, now time.Time) {
	f.notices.Tell(notice.Unclaimed{
		ID: p.ID, From: p.Message.From, Topic: p.Message.Topic, Title: mail.Describe(p.Message), Body: string(p.Message.Body), Waits: now.Sub(p.Message.Created),
	})
}
