package swarm

import (
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// admission decides whether an agent may begin a turn. Its lists contain what can keep an agent
// from one, in the order in which it is asked: the first hold that applies is the one that the
// status shows. To add a hold, write its file in package hold, and add it to its list in
// newAdmission. An admission is safe for concurrent use.
type admission struct {
	records  *journal.Holds
	accounts accounts
	plan     func() Plan
	budget   hold.Budget
	counts   *journal.TurnCounts
	agent    hold.List // asked before the agent looks for mail, and again before a turn begins
	waits    hold.List // those of the message that also keep an urgent message from a running turn
	message  hold.List // asked about the message that is next
}

func newAdmission(home journal.Home, records *journal.Holds, counts *journal.TurnCounts, halted *hold.Halted, waits hold.List, budget hold.Budget, accounts accounts, plan func() Plan) *admission {
	return &admission{
		records: records, accounts: accounts, plan: plan, budget: budget, counts: counts,
		agent: hold.List{
			hold.Attached{Home: home},
			hold.Stopped{},
			hold.Paused{},
			hold.Off{},
			hold.Limited{Limits: records},
			hold.Backoff{},
			halted,
		},
		waits: waits,
		message: append(slices.Clone(waits),
			budget,
			hold.Turns{Counts: counts, PerHour: func() int { return plan().TurnsPerHour }},
		),
	}
}

// offlineHolds contains the holds that the files show without a daemon. The other holds keep
// an agent only from what a daemon does.
func offlineHolds(home journal.Home) hold.List {
	return hold.List{hold.Attached{Home: home}, hold.Stopped{}, hold.Paused{}}
}

// blocked returns how a block of the budget keeps an agent from beginning a turn.
func (ad *admission) blocked(b *budget.Block) hold.Held { return ad.budget.By(b, time.Now()) }

// mayTurn reports whether a turn that begins now stays within the limit on turns.
func (ad *admission) mayTurn(agent string, byLead bool, now time.Time) bool {
	return ad.counts.Over(agent, ad.plan().TurnsPerHour, byLead, now) == ""
}

// queryOf returns the query about an agent with these settings.
func (ad *admission) queryOf(spec Spec, now time.Time) hold.Query {
	return hold.Query{
		Agent: spec.Name, Now: now, Record: ad.records.Of(spec.Name), Attached: spec.Attached, Hours: spec.Hours,
		Account: func() string { return ad.accounts.of(spec) },
	}
}

// canWork reports whether the lead agent can begin turns. A person's own session and an agent
// that waits after a failure count as able to work, because they will read their mail soon.
// While everything is halted, nobody else works either.
func (ad *admission) canWork(lead string) bool {
	spec, ok := ad.plan().spec(lead)
	if !ok {
		return false
	}
	for held := range ad.agent.All(ad.queryOf(spec, time.Now())) {
		switch held.Kind {
		case hold.KindAttached, hold.KindBackoff, hold.KindHalted:
		default:
			return false
		}
	}
	return true
}

// allHeld reports whether every agent is stopped, paused, or parked by a limit or a
// budget. An agent outside its hours, or one that waits after a failure, does not count as
// held, because it will resume work without a person's help, and a halt is what a person
// ordered. Attached agents are ignored, because the daemon does not run them.
func (ad *admission) allHeld(members []*member) bool {
	some := false
	for _, m := range members {
		if m.control.attached() {
			continue
		}
		some = true
		held := m.view.state() == Parked // a budget is asked only about a message
		for h := range ad.agent.All(ad.queryOf(m.spec(), time.Now())) {
			switch h.Kind {
			case hold.KindOff, hold.KindBackoff, hold.KindHalted:
			default:
				held = true
			}
		}
		if !held {
			return false
		}
	}
	return some
}

// held reports whether a hold keeps the agent from working now. If so, it shows the hold and
// returns how long to wait before the next check.
func (a *agent) held(now time.Time) (time.Duration, bool) {
	return a.heldBut(now, func() bool { return a.called(now) })
}

// heldFor reports whether a hold keeps the agent from beginning the turn of a claimed
// message.
func (a *agent) heldFor(m *dropbox.Message, now time.Time) bool {
	_, held := a.heldBut(now, func() bool { return a.passesHours(m) })
	return held
}

// heldBut works like held, except that outside the agent's hours it calls passes, which
// reports whether the next turn may begin anyway. It carries out the ends of holds that are
// over.
func (a *agent) heldBut(now time.Time, passes func() bool) (time.Duration, bool) {
	q := a.admission.queryOf(a.spec(), now)
	q.Passes, q.Answered = passes, a.answered
	for {
		var err error
		q.Record, err = a.holds.Now(a.name, now, 2*a.restart.orDefaults().MaxDelay)
		a.inbox.Note(err)
		end, h, held := a.admission.agent.Ask(q)
		switch {
		case end != nil:
			a.end(end)
		case held:
			return a.showHeld(h), true
		default:
			return 0, false
		}
	}
}

// end tells people that a hold is over, and forgets its record.
func (a *agent) end(e *hold.End) {
	if e.Why != "" {
		a.inbox.Note(a.notices.Add(notice.Unpaused{Agent: a.name, Since: e.Since, Why: e.Why}))
	}
	a.inbox.Note(a.holds.Change(a.name, e.Forget))
	if e.Why != "" {
		a.inbox.Questions.Wake()
	}
}

// showHeld shows what keeps the agent from beginning a turn, and returns how long to wait
// before the next check.
func (a *agent) showHeld(h hold.Held) time.Duration {
	if h.Kind == hold.KindAttached {
		a.unsettled, a.unfiled = true, nil // the daemon checks cur/ when it runs the agent again
	}
	now := time.Now()
	if h.Since.IsZero() {
		h.Since = now
	}
	a.view.held(h)
	a.showSince(State(h.State), h.Since, h.Why, h.Next)
	if h.Limit != nil {
		a.limits.tell(a.name, h.Limit.Account, h.Limit.Limit)
	}
	return until(h.Until, now)
}

// answered reports whether an answer that ends the pause is now in the mailbox.
func (a *agent) answered(p *journal.Pause) bool {
	if len(p.Questions) == 0 {
		return false
	}
	entries, err := a.inbox.Box.Peek()
	if err != nil {
		return false // the next check reports it
	}
	for _, e := range entries {
		if e.Created.Before(p.Since.Add(-time.Minute)) { // an earlier answer was already returned during the turn
			continue
		}
		m, err := a.inbox.Box.Read(e)
		if err != nil || m.Type != dropbox.Result && m.Type != dropbox.Question && m.From != dropbox.Swarm {
			continue
		}
		for _, q := range p.Questions {
			of := q.Of
			if q.Agents && mail.IsAgent(m.From) {
				of = m.From
			}
			if m.ReplyTo == q.ID && mail.MayAnswer(m, of, a.name, a.inbox.Tokens.Of) {
				a.log.Info("the question was answered, so the pause ended", keyMessage, m.ID, "question", q.ID)
				return true
			}
		}
	}
	return false
}

// until returns the duration from now to t. If t is zero, it returns the constant
// forever.
func until(t, now time.Time) time.Duration {
	if t.IsZero() {
		return forever
	}
	return max(t.Sub(now), time.Millisecond)
}
