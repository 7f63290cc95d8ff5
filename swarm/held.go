package swarm

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

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
// reports whether the next turn may begin anyway.
func (a *agent) heldBut(now time.Time, passes func() bool) (time.Duration, bool) {
	if a.control.attached() {
		a.unsettled, a.unfiled = true, nil // the daemon checks cur/ when it runs the agent again
		why, next := attachedStatus(a.home, a.name)
		a.show(Away, why, next)
		return forever, true
	}
	st := a.holds.Of(a.name)
	if p := st.Paused; p != nil && p.Since.Sub(now) > journal.ClockStep {
		// The clock was set back, and this must not lengthen the pause.
		back := *p
		back.Since = now.UTC()
		if !p.Until.IsZero() {
			back.Until = p.Until.Add(-p.Since.Sub(now)).UTC()
		}
		st.Paused = &back
		a.inbox.Note(a.holds.Change(a.name, func(s *journal.Hold) { s.Paused = &back }))
	}
	if p := st.Paused; p.Holds(now) && st.Stopped == nil && a.answered(p) {
		a.inbox.Note(a.notices.Add(notice.Unpaused{Agent: a.name, Since: p.Since, Why: "its question has been answered"}))
		a.inbox.Note(a.holds.Change(a.name, func(s *journal.Hold) {
			if s.Paused != nil && s.Paused.Since.Equal(p.Since) { // nobody has paused it since then
				s.Paused = nil
			}
		}))
		st.Paused = a.holds.Of(a.name).Paused
		a.deps.mail.Questions.Wake()
	}
	switch {
	case st.Stopped != nil:
		a.view.breaker(st.Stopped.Breaker)
		a.showSince(Stopped, st.Stopped.Since, st.Stopped.Reason(), cmp.Or(st.Stopped.Hint, "claude-swarm start "+a.name))
		return forever, true
	case st.Paused.Holds(now):
		next := "claude-swarm resume " + a.name
		if st.StuckIn() != nil {
			next += ", or claude-swarm abort " + a.name
		}
		for _, q := range st.Paused.Questions {
			if q.Of == dropbox.Lead || dropbox.IsBridge(q.Of) {
				next = "claude-swarm reply " + q.ID + " \"…\", or " + next
				break
			}
		}
		if !st.Paused.Until.IsZero() {
			next = "continues on its own at " + screen.Ahead(st.Paused.Until, time.Now()) + ", or " + next
		}
		a.showSince(Paused, st.Paused.Since, st.Paused.Reason(), next)
		return until(st.Paused.Until, now), true
	case st.Paused != nil:
		a.inbox.Note(a.notices.Add(notice.Unpaused{Agent: a.name, Since: st.Paused.Since, Why: "its pause is over"}))
		a.inbox.Note(a.holds.Change(a.name, func(s *journal.Hold) { s.Paused = nil }))
		a.deps.mail.Questions.Wake()
	}
	if st.Overtime != nil && !st.Overtime.Holds(now) {
		a.inbox.Note(a.holds.Change(a.name, func(s *journal.Hold) { s.Overtime = nil }))
	}
	a.view.breaker(false)
	if again, off := a.off(now); off && !passes() {
		return a.showOff(again, now), true
	}
	account := a.account()
	if l, end, ok := a.holds.LimitOf(account, a.name, now); ok {
		a.view.limited(&LimitStatus{Account: account, Until: end.UTC(), Hint: l.Hint})
		a.showSince(Limited, l.Since, l.Why, afterLimit(l, a.name, end))
		a.tellLimit(account, l)
		return until(end, now), true
	}
	if st.Until.After(now) {
		// If the clock was set back, the hold must not last longer than the maximum wait.
		if st.Until.Sub(now) <= 2*a.restart.orDefaults().MaxDelay {
			a.show(Backoff, st.Why, "tries again at "+screen.Ahead(st.Until, time.Now())+", or immediately after claude-swarm resume "+a.name)
			return until(st.Until, now), true
		}
	}
	if again, halted := a.halted.holds(now); halted {
		a.show(Paused, whyHalted, "claude-swarm unhalt")
		return again, true
	}
	return 0, false
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
			if m.ReplyTo == q.ID && mail.MayAnswer(m, of, a.name, a.tokens.Of) {
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

// attachedStatus describes which session handles the mail of an attached agent, and what
// to do if no session does. The plugin that attach creates is stored next to the daemon's
// files. Its path is shown relative to the project.
func attachedStatus(home journal.Home, name string) (why, next string) {
	if b, err := home.BindingOf(name); err == nil && b != nil {
		return fmt.Sprintf("your own session handles its mail: pid %d", b.Process.PID), ""
	}
	next = "claude-swarm attach " + name
	if info, err := os.Stat(filepath.Join(home.Dir(), "attach", name)); err == nil && info.IsDir() {
		next = "claude --plugin-dir " + filepath.Join(filepath.Base(home.Dir()), "attach", name)
	}
	return "no session of your own is attached as " + name, next
}
