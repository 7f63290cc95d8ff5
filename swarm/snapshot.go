package swarm

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// pendingHold describes a hold that begins after the running turn and that the agent's
// state does not show yet. If there is no such hold, it returns "".
func (s *Swarm) pendingHold(agent string) (why, next string) {
	st := s.holds.Of(agent)
	switch {
	case st.Stopped != nil:
		return "stops when this turn has ended: " + st.Stopped.Reason(), "claude-swarm start " + agent + ", if it should continue"
	case st.StuckIn() != nil:
		why := st.Paused.Reason()
		if _, now, ok := s.stuckHolds.of(agent); ok {
			why = now
		}
		return why + overrunBound(s.Plan().supervision().InterruptAfter), "claude-swarm abort " + agent + ", or claude-swarm resume " + agent + ", if it should continue"
	case st.Paused.Holds(time.Now()):
		return "is paused when this turn has ended: " + st.Paused.Reason(), "claude-swarm resume " + agent + ", if it should continue"
	}
	return "", ""
}

// both joins two reasons. The first reason may be "".
func both(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// Status returns the current status of the named agents, or of all agents if no names are
// given. If some items cannot be counted, for example because the daemon has too many open
// files, Status reports this as trouble and still reports the states of the agents.
func (s *Swarm) Status(names ...string) (Status, error) {
	st := Status{
		V: 1, Project: s.turnDeps.Project, Mixed: s.Plan().mixed(), Halted: s.store.Halted(), Reason: screen.Short(s.store.HaltReason(), maxWhy), Trouble: append(s.troubles(), fullDisks(s.store, s.home)...),
		Daemon: &DaemonStatus{PID: os.Getpid(), Since: s.started, Version: s.opts.Version, Stopping: s.stopping(), Goroutines: runtime.NumGoroutine()},
		Agents: []AgentStatus{},
	}
	uncounted := s.countAttached()
	members, now := s.members(), time.Now()
	all := make([]string, len(members))
	for i, m := range members {
		all[i] = m.name
	}
	st.Judge, st.Removed = costBeside(s.ledger, all, now)
	if len(names) > 0 {
		members = nil
		for _, name := range names {
			m, err := s.member(name)
			if err != nil {
				return Status{}, err
			}
			members = append(members, m)
		}
	}
	var open []openMessage
	if slices.ContainsFunc(members, func(m *member) bool { return s.holds.Of(m.name).Drain != nil }) {
		var err error
		open, err = s.tasks.open()
		uncounted = cmp.Or(uncounted, err)
	}
	st.Budget = s.book.Report(specNames(s.Plan().Agents))
	for _, m := range members {
		a := m.view.status(m.turns.View.Picture())
		if b := turn.BackendOf(s.turnDeps.Backends, a.Backend); b != nil {
			a.UrgentWaits = a.Running && a.Message != nil && !b.Kind().Steers
		}
		if commands := roomFor(s.opts.Backends, m.spec()); a.Context.IsNearlyFull() && len(commands) > 0 {
			a.ContextNext = commands[0]
		}
		if o := s.holds.Of(m.name).Overtime; o.Holds(now) {
			a.Overtime = new(o.Until.UTC())
		}
		if key := m.view.asked(); key != "" && a.State == Parked {
			a.Next = cmp.Or(s.budget.nextOf(key), a.Next)
		}
		if stuck := s.holds.Of(m.name).StuckIn(); stuck != nil && a.State == Paused {
			if q, ok := s.mail.Questions.Of(stuckKey(stuck.Escalation)); ok && q.ID != "" && q.Settled.IsZero() {
				a.Next = fmt.Sprintf("claude-swarm resume %s, claude-swarm abort %s, or claude-swarm reply %s \"…\", which says how to go on", m.name, m.name, q.ID)
			}
		}
		if a.State == Away { // its session may have begun, or come further, since the agent's goroutine looked
			if held, ok := (hold.Attached{Home: s.home}).Now(hold.Query{Agent: m.name, Attached: true}); ok {
				a.Why, a.Next = held.Why, held.Next
			}
		}
		if a.State == Working {
			if why, next := s.pendingHold(m.name); why != "" {
				a.Why, a.Next = both(a.Why, why), next
			}
			if q := s.home.Asks(m.turns.Runs.Turn()).Longest(); q != nil {
				showAsked(q, &a, s.Plan())
			}
		}
		if a.Waiting = m.inbox.Queue.Waiting(); m.inbox.Queue.Stale() || a.Waiting.Total() > 0 || a.State != Idle && a.State != Working {
			// A person may have removed messages that are still in the agent's queue, and a
			// busy or held agent does not check its mailbox.
			entries, err := m.list()
			if uncounted = cmp.Or(uncounted, err); err == nil {
				a.Waiting = countWaiting(entries)
			}
		}
		if a.State == Paused && a.Why == hold.WhyHalted && s.halted.Ends() {
			a.State, a.Since, a.Why, a.Next, a.Paused, a.Activity = Idle, nil, "", "", false, "idle"
			if a.Waiting.Total() > 0 {
				a.State = Queued
			}
		}
		if d := s.holds.Of(m.name).Drain; d != nil {
			showDrain(&a, d, open)
		}
		if a.Warm != nil {
			a.Warm.Measure()
		}
		a.CostUSD = s.ledger.Cost(m.name, now)
		var err error
		a.Dead, err = m.inbox.Box.DeadLetters().Count()
		uncounted = cmp.Or(uncounted, err)
		a.Drops, err = m.inbox.Box.Drops().Count()
		uncounted = cmp.Or(uncounted, err)
		st.Agents = append(st.Agents, a)
	}
	unread, questions, err := forLead(s.store)
	st.Lead = LeadStatus{Unread: unread, Questions: questions, Agent: s.Plan().Lead, Name: s.Plan().LeadName}
	uncounted = cmp.Or(uncounted, err)
	st.Trouble = append(st.Trouble, unsortedTrouble(s.Plan(), s.opts.Backends, s.unsorted)...)
	gone, err := s.gone()
	st.Trouble = append(st.Trouble, goneTrouble(gone)...)
	uncounted = cmp.Or(uncounted, err)
	st.Gate, err = gateStatus(s.store, s.Plan().Agents, now)
	if uncounted = cmp.Or(uncounted, err); uncounted != nil {
		st.Trouble = append(st.Trouble, Problem{Why: "not everything could be counted: " + uncounted.Error()})
	}
	return st, nil
}

// countAttached counts the turns that people's own sessions have ended since the last call. The
// sessions' hooks are other processes, which write these turns to the ledger.
func (s *Swarm) countAttached() error {
	added, err := s.ledger.CatchUp()
	for _, line := range added {
		if m, unknown := s.member(line.Agent); unknown == nil {
			m.turns.View.Attached(line)
		}
	}
	return err
}

// RestartMoved is what a person types after a project was moved while its daemon was running.
const RestartMoved = "claude-swarm restart, in the folder where the project is now"

// troubles returns the problems that the daemon has recorded about itself. While the project's
// folder is gone, they are all consequences of that, and only that is returned.
func (s *Swarm) troubles() []Problem {
	if err := s.folder.check(); err != nil {
		return []Problem{{
			Why:  "the project was moved or deleted while the daemon was running, so the daemon cannot work: " + err.Error(),
			Next: RestartMoved,
		}}
	}
	var all []Problem
	for _, why := range s.notices.Trouble.List() {
		all = append(all, Problem{Why: why})
	}
	return all
}

// showAsked changes the state of a working agent to asking, and describes its question.
func showAsked(q *journal.Asked, a *AgentStatus, p Plan) {
	a.State, a.Since = Asking, new(q.Since)
	of, until := screen.Short(p.Called(q.Of), 100), screen.Ahead(q.Until, time.Now())
	a.Question = &QuestionStatus{ID: q.ID, Of: q.Of, Text: cmp.Or(q.Text, q.Call), Since: q.Since, Until: q.Until}
	if q.Call == "" {
		text := fmt.Sprintf("asks %s in %s, and waits until %s", of, q.ID, until)
		if q.Text != "" {
			text += ": " + q.Text
		}
		a.Why = both(a.Why, text)
	} else {
		a.Why = both(a.Why, fmt.Sprintf("asks %s in %s whether it may: %s; denied at %s without an answer", of, q.ID, q.Call, until))
	}
	switch {
	case a.Next != "":
	case q.Call != "" && q.Of == dropbox.Lead:
		a.Next = "claude-swarm reply " + q.ID + " allow"
	case q.Of == dropbox.Lead, dropbox.IsBridge(q.Mailbox):
		a.Next = fmt.Sprintf("claude-swarm reply %s \"…\"", q.ID)
	default:
		a.Next = "continues with the answer, or without it at " + until
	}
}

// Subscribe begins a subscription to events. The caller must close it.
func (s *Swarm) Subscribe(f Filter) *Subscription { return s.feed.subscribe(f) }
