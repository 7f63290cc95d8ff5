package swarm

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// A swarmBudget is the daemon's interface to the budget. It carries out people's decisions.
// It is safe for concurrent use.
type swarmBudget struct {
	book    *budget.Book
	home    journal.Home
	ledger  *journal.Ledger
	mail    *mail.Service
	plan    func() Plan
	members func() []*member
	log     *slog.Logger
}

// restore restores the reservations of the turns that an earlier daemon left. The book must
// contain the whole ledger before restore is called.
func (sb *swarmBudget) restore(p Plan) error {
	open, err := sb.home.OpenRecords(sb.ledger.Has)
	if err != nil {
		return err
	}
	for _, rec := range open {
		if slices.Contains(specNames(p.Agents), rec.Agent) {
			sb.book.Restore(rec)
		} else if err := sb.ledger.Add(lostLine(rec)); err != nil {
			return err
		}
	}
	return nil
}

// wake wakes the agents if there is a cap, because a blocked turn may now be able to
// start.
func (sb *swarmBudget) wake() {
	if sb.book.Bounds() {
		for _, m := range sb.members() {
			m.wakeup.wake()
		}
	}
}

// ErrRaise reports that an agent tried to raise a cap.
var ErrRaise = errors.New("only a person may raise a budget")

// RaiseBudget adds to the cap of a scope, and returns the new cap. The parameter by is
// the name of the agent or person who gave the order. The errors are a
// [*budget.UnknownScopeError], a [*budget.NoCapError], and [ErrRaise] if by is an agent.
func (s *Swarm) RaiseBudget(name string, amount budget.Amount, by string) (budget.Row, error) {
	if !s.fromPerson(by) {
		return budget.Row{}, ErrRaise
	}
	return s.budget.raise(name, amount, by)
}

// raise adds to the cap of a scope.
func (sb *swarmBudget) raise(name string, amount budget.Amount, by string) (budget.Row, error) {
	scope, err := sb.book.Find(name, specNames(sb.plan().Agents))
	if err != nil {
		return budget.Row{}, err
	}
	question := sb.book.Question(scope)
	if _, err := sb.book.Raise(scope, sb.book.Worker(scope), amount); err != nil {
		return budget.Row{}, err
	}
	sb.log.Info("budget raised", "scope", scope.String(), "by", by, "amount", amount.Text())
	sb.mail.Note(sb.mail.Questions.Settle(budgetKey(question), "the cap was raised by "+amount.Text()))
	sb.wake()
	line, _ := sb.book.Line(scope)
	return line.Row(), nil
}

// answer carries out a person's answer to a question.
func (sb *swarmBudget) answer(n journal.Question, a journal.QuestionAnswer) (happened string, err error) {
	q, ok := budget.QuestionNamed(n.About)
	if !ok {
		return "", fmt.Errorf("the question is about %q, which is not a budget", n.About)
	}
	answer := budget.Answer(a.Word)
	var waiting []string
	if answer == budget.End {
		if waiting, err = sb.waitingIn(q.Scope); err != nil {
			return "", err
		}
	}
	passed, err := sb.book.Answer(q, n.Agent, budget.Reply{ID: a.ID, Answer: answer}, waiting)
	if over, ok := errors.AsType[*budget.OverError](err); ok {
		return over.Error() + "; nothing has changed", nil
	} else if err != nil {
		return "", err
	}
	sb.wake()
	switch {
	case answer == budget.More:
		return q.Scope.String() + " continues: its cap is " + sb.book.Cap(q.Scope, n.Agent).Text(), nil
	case answer == budget.End:
		return fmt.Sprintf("%s in %s may have one more turn", screen.Count(passed, "message"), q.Scope), nil
	case q.Scope.Daily():
		return "the mail of " + q.Scope.String() + " waits until the next day", nil
	}
	return "the mail waiting in " + q.Scope.String() + " is given up", nil
}

// waitingIn returns the ids of the messages that are waiting for a turn in a scope.
func (sb *swarmBudget) waitingIn(scope budget.Scope) (ids []string, err error) {
	for _, m := range sb.members() {
		entries, err := m.inbox.Box.Peek()
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			msg, err := m.inbox.Box.Read(e)
			if errors.Is(err, dropbox.ErrGone) || err == nil && !msg.Type.Wakes() {
				continue
			}
			if err == nil && hold.TurnOn(m.name, msg).In(scope) {
				ids = append(ids, msg.ID)
			}
		}
	}
	return ids, nil
}

// settleOver ends the questions that no longer need an answer because the day is over,
// because the cap was raised by an order or in the configuration, because the agent has
// left, or because no mail waits for the answer.
func (sb *swarmBudget) settleOver() {
	for _, n := range sb.mail.Questions.Unanswered(budgetKind) {
		q, ok := budget.QuestionNamed(n.About)
		if !ok {
			continue
		}
		why := cmp.Or(sb.book.Over(q, n.Agent), sb.unneeded(q.Scope))
		if why == "" {
			continue
		}
		if err := sb.mail.Questions.Settle(budgetKey(q), why); err != nil {
			sb.mail.Note(err)
			continue
		}
		sb.mail.Note(sb.book.Next(q))
	}
}

// unneeded returns why nothing depends on the cap of a scope, or "" if something may. A
// task or a turn whose mail was given up, cancelled or done needs no decision; the cap of a
// day also holds back mail that arrives later.
func (sb *swarmBudget) unneeded(s budget.Scope) string {
	switch {
	case s.Kind == budget.KindAgent:
		if _, known := sb.plan().spec(s.Name); !known && s.Name != JudgeName {
			return hasLeft(s.Name)
		}
	case !s.Daily():
		if open, err := sb.isOpen(s); err == nil && !open {
			return "no mail waits for it"
		}
	}
	return ""
}

// isOpen reports whether any message in a scope is waiting for a turn or in a turn.
func (sb *swarmBudget) isOpen(s budget.Scope) (bool, error) {
	waiting, err := sb.waitingIn(s)
	if len(waiting) > 0 || err != nil {
		return true, err
	}
	for _, m := range sb.members() {
		claimed, err := m.inbox.Box.Claimed()
		if err != nil {
			return true, err
		}
		for _, e := range claimed {
			if msg, err := m.inbox.Box.Read(e); err != nil || hold.TurnOn(m.name, msg).In(s) {
				return true, nil // a message that cannot be read may be in the scope
			}
		}
	}
	return false, nil
}

// nextOf returns the command with which a person answers a question, or "" if the
// question is not open or has no id yet.
func (sb *swarmBudget) nextOf(key string) string {
	if n, ok := sb.mail.Questions.Of(key); ok && n.ID != "" && n.Settled.IsZero() {
		return "claude-swarm reply " + n.ID + " more   (or stop, or end)"
	}
	return ""
}

// offlineBudget reads the state of the budget from the files, or returns nil if there is no
// cap.
func offlineBudget(home journal.Home, p Plan) (*budget.Report, error) {
	book, damaged := budget.Open(home, p.budget(), nil)
	if book == nil || !book.Bounds() {
		return nil, damaged
	}
	known := map[string]bool{}
	err := journal.ReadLedger(home.Ledger(), func(l journal.LedgerLine) bool {
		if !known[l.Turn] {
			known[l.Turn] = true
			book.Settle(l)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	open, err := home.OpenRecords(func(turn string) bool { return known[turn] })
	if err != nil {
		return nil, err
	}
	for _, rec := range open {
		book.Restore(rec)
	}
	return book.Report(specNames(p.Agents)), damaged
}
