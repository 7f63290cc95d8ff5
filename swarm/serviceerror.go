package swarm

import (
	"cmp"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// An error of the service usually holds all agents of an account, so all of them are parked.
// If other turns of the account succeed meanwhile, the error is the agent's own, and only
// this agent waits. [journal.ServiceErrors] decides whose an error is:
//
//	no other turn succeeded since it began   all agents are parked, and nothing counts
//	another turn succeeded                   this agent backs off alone
//	... with the same model, again since     the turn is tried once in a new session; after
//	the agent's previous error               that, each such error counts against the message
//	... and no answer ever arrives           nothing counts, because the agent's settings may
//	                                         be the cause; after max_failures it is stopped
//
// If nobody else uses the account, nobody can show whose the error is. The message then waits
// for as long as the errors last, but from time to time its turn is tried in a new session.

// metError returns the error of the service that a turn met. how is how the turn got its
// session.
func (t *settler) metError(message string, out runner.Outcome, how runner.How, now time.Time) journal.MetError {
	return journal.MetError{
		Account: t.account(), Message: message, Model: t.modelOf(out), Began: journal.BeganError(out, now),
		Renewed: how != runner.Resume,
	}
}

// modelOf returns the model of a turn, or the configured one if the client reported none.
func (t *settler) modelOf(out runner.Outcome) string {
	return cmp.Or(out.Model, t.control.settings().Client.Model)
}

// doubtsConversation reports whether the conversation that a turn resumed may be the cause of
// an error of the service. If so, the turn is tried in a new session.
func (t *settler) doubtsConversation(message string, out runner.Outcome) bool {
	if out.Service == runner.NoServiceError {
		return false
	}
	now := time.Now()
	errs, whose := t.holds.Blamed(t.name, t.metError(message, out, runner.Resume, now), now)
	if whose.Own || !whose.Unshared {
		return whose.Alone && !errs.Cleared
	}
	// No other turn has shown whose the error is. A real outage must not cost the conversation, so this
	// is tried late, and then ever more rarely.
	return errs.Count >= 2*t.control.settings().maxFailures() && errs.Count >= 2*errs.Renewed
}

// serviceFailed files a turn that met an error of the service. It reports false if all agents
// of the account must be parked.
func (t *settler) serviceFailed(j *mail.Job, out runner.Outcome, now time.Time) (own bool, err error) {
	met := t.metError(j.Claim.ID, out, runner.How(j.Rec.How), now)
	errs, whose := t.holds.Blamed(t.name, met, now)
	limit := t.control.settings().maxFailures()
	switch {
	case !whose.Own:
		return false, t.holds.MetService(t.name, met, now)
	case whose.Counts && out.Service == runner.ServiceFailed:
		out.End, out.Reason = runner.Failed, ownReason(out.Reason, errs)
		if err := t.failed(j, out); err != nil {
			return true, err
		}
		if j.Claim.Failed+1 >= limit {
			met.Message = "" // it was given up
		}
		return true, t.holds.MetService(t.name, met, now)
	}
	if err := t.inbox.PutBackAll(j, out); err != nil {
		return true, err
	}
	if err := t.holds.MetService(t.name, met, now); err != nil {
		return true, err
	}
	if whose.Counts && errs.Alone >= limit {
		t.breaker.open(ownReason(out.Reason, errs), startHint(fmt.Sprintf("check the network settings in env: of agent %s, or take the message back with claude-swarm cancel %s", t.name, j.Claim.ID), t.name))
		return true, nil
	}
	wait := jitter(journal.Backoff(t.control.settings().retryDelay(), errs.Count-1, t.restart.orDefaults().MaxDelay))
	why := ownReason(out.Reason, errs)
	if err := t.holds.Change(t.name, func(s *journal.Hold) { s.Until, s.Why = now.Add(wait), why }); err != nil {
		return true, err
	}
	t.tellOwn(errs, why, now.Add(wait))
	return true, nil
}

// ownReason returns the reason for a failure that only this agent meets.
func ownReason(reason string, errs journal.ServiceErrors) string {
	tried := ""
	if errs.Cleared {
		tried = ", and a new session did not help"
	}
	return reason + " (only this agent meets the error: other turns on its account succeed" + tried + ")"
}

// tellOwn tells the lead once that an agent waits alone.
func (t *settler) tellOwn(errs journal.ServiceErrors, why string, again time.Time) {
	if errs.Told {
		return
	}
	t.notices.Tell(notice.WaitsAlone{Agent: t.name, Why: why, Since: errs.Since, Again: again})
	t.inbox.Note(t.holds.Change(t.name, func(s *journal.Hold) {
		if s.Service != nil {
			told := *s.Service
			told.Told = true
			s.Service = &told
		}
	}))
}

// serviceWorks records that a turn of the agent succeeded.
func (t *settler) serviceWorks(message string, out runner.Outcome) {
	ended, err := t.holds.ServiceWorks(t.name, t.account(), message, t.modelOf(out), time.Now())
	t.inbox.Note(err)
	if ended == nil {
		return
	}
	t.inbox.Note(t.notices.Add(notice.Unpaused{Agent: t.name, Since: ended.Since, Why: "a turn succeeded again"}))
}
