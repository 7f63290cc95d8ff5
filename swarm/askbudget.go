package swarm

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// budgetKind is the kind of the questions about a scope at its cap.
const budgetKind = "budget"

// A budgetQuestion names a question about a scope at its cap.
type budgetQuestion struct {
	scope  budget.Scope
	date   string // of a scope that ends with the day, else "-"
	number int    // the cap was raised so often
}

func (q budgetQuestion) key() string { return budgetKind + " " + q.about() }

func (q budgetQuestion) about() string { return fmt.Sprintf("%s %s %d", q.scope, q.date, q.number) }

// budgetQuestionOf reads what about returned.
func budgetQuestionOf(about string) (q budgetQuestion, ok bool) {
	fields := strings.Fields(about)
	if len(fields) != 3 {
		return q, false
	}
	q.date = fields[1]
	n, err := strconv.Atoi(fields[2])
	q.number = n
	q.scope, ok = budget.ScopeNamed(fields[0])
	return q, ok && err == nil
}

// askAtCap asks the person once what becomes of a scope at its cap.
func (a *agent) askAtCap(b *budget.Block) {
	if b.Answer != "" || a.budget.IsAsked(b.Scope) {
		return
	}
	q := budgetQuestion{b.Scope, a.budget.Date(b.Scope), b.Number}
	about, why := a.name, "has spent "+b.Spent.In(b.Unit)+" of "+b.Cap.In(b.Unit)
	switch b.Kind {
	case budget.KindSwarm:
		about, why = "", why+" today"
	case budget.KindAgent:
		why += " today"
	case budget.KindTask:
		why += " for the task " + b.Name
	}
	err := a.deps.mail.Questions.AskPerson(journal.Question{
		Key: q.key(), Kind: budgetKind, Agent: a.name, About: q.about(), Subject: "budget: " + capText(b), Body: capBody(b), Words: capWords(b),
	})
	if err == nil {
		err = a.deps.mail.Raise(q.key(), journal.Notice{Word: journal.BudgetReached, Agent: about, Why: why, Held: true}, nil)
	}
	if err == nil {
		err = a.budget.Asked(b.Scope)
	}
	a.inbox.Note(err)
}

// warnBudget tells the lead once of each scope that is nearly used up.
func (a *agent) warnBudget(t budget.Turn) {
	for _, w := range a.budget.Warnings(t) {
		used := w.Spent.In(w.Unit) + " of " + w.Cap.In(w.Unit)
		about := ""
		if w.Kind != budget.KindSwarm {
			about = a.name
		}
		a.deps.mail.TellNotice(about, fmt.Sprintf("budget warning %s %s %d", w.Scope, w.Day, w.Number),
			journal.Notice{Word: journal.BudgetReached, Agent: about, Why: fmt.Sprintf("has spent %s (%s)", used, w.Scope)},
			"budget: "+w.Scope.String()+" is nearly used up", fmt.Sprintf(
				"%s has used %s. At its cap its mail waits, and you are asked what becomes of it.\n\nTo raise it now: claude-swarm budget raise %s AMOUNT\nAll budgets: claude-swarm budget\n", w.Scope, used, w.Scope))
		a.inbox.Note(a.budget.Warned(w))
	}
}

// capBody explains a question.
func capBody(b *budget.Block) string {
	text := capText(b) + ".\n\n"
	switch b.Kind {
	case budget.KindTurn:
		text += "The message waits."
	case budget.KindTask:
		text += "The messages of this task wait; the agents work on other tasks."
	default:
		text += "The mail waits until " + screen.Ahead(b.Until, time.Now()) + ", when the next day begins."
	}
	return text + "\n\nAll budgets: claude-swarm budget"
}

// capWords are the answers to a question.
func capWords(b *budget.Block) []journal.AnswerWord {
	stop := "give up what waits, and what comes later"
	if b.Daily() {
		stop = "leave the mail until the next day, without another question"
	}
	return []journal.AnswerWord{
		{Word: string(budget.More), Does: "raise the cap by " + b.Own.Text()},
		{Word: string(budget.Stop), Does: stop},
		{Word: string(budget.End), Does: "one more turn for each message that waits now"},
	}
}

// capText says that a scope is at its cap.
func capText(b *budget.Block) string {
	text := fmt.Sprintf("%s is at its cap: %s of %s are spent", b.Scope, b.Spent.In(b.Unit), b.Cap.In(b.Unit))
	if b.Kind == budget.KindTurn {
		text = fmt.Sprintf("a turn of %s has used its cap of %s", b.Name, b.Cap.In(b.Unit))
	}
	switch b.Answer {
	case budget.Stop:
		text += "; to stop was your answer"
	case budget.End:
		text += "; what could end has ended"
	}
	return text
}

// capNext is what a person types, or what happens by itself.
func (a *agent) capNext(b *budget.Block) string {
	next := "claude-swarm budget raise " + b.Scope.String() + " " + raiseText(b)
	if b.Daily() {
		next += "; goes on by itself at " + screen.Ahead(b.Until, time.Now())
	}
	return next
}

// replyNext is what a person types to answer an open question; "" where it has no id yet.
func (s *Swarm) replyNext(key string) string {
	if n, ok := s.mail.Questions.Of(key); ok && n.ID != "" && n.Settled.IsZero() {
		return "claude-swarm reply " + n.ID + " more   (or stop, or end)"
	}
	return ""
}

// raiseText is the cap of a block once more, as a person types it.
func raiseText(b *budget.Block) string {
	switch b.Unit {
	case budget.Turns:
		return fmt.Sprintf("%dturns", b.Own[budget.Turns])
	case budget.Time:
		return b.Own.Span().String()
	}
	return strconv.FormatFloat(b.Own.Dollars(), 'f', -1, 64)
}

// answerBudget does what a person answers to a question.
func (s *Swarm) answerBudget(n journal.Question, a journal.QuestionAnswer) (happened string, err error) {
	q, ok := budgetQuestionOf(n.About)
	if !ok {
		return "", fmt.Errorf("the question is about %q, which is no budget", n.About)
	}
	answer := budget.Answer(a.Word)
	var waiting []string
	if answer == budget.End {
		if waiting, err = s.waitingIn(q.scope); err != nil {
			return "", err
		}
	}
	err = s.budget.Answer(q.scope, n.Agent, q.number, q.date, answer, waiting)
	if over, ok := errors.AsType[*budget.OverError](err); ok {
		return over.Error() + "; nothing has changed", nil
	} else if err != nil {
		return "", err
	}
	s.wakeParked()
	switch {
	case answer == budget.More:
		return q.scope.String() + " goes on: its cap is " + s.budget.Cap(q.scope, n.Agent).Text(), nil
	case answer == budget.End:
		return fmt.Sprintf("%s in %s may end", screen.Count(len(waiting), "message"), q.scope), nil
	case q.scope.Daily():
		return "the mail of " + q.scope.String() + " waits for the next day", nil
	}
	return "what waits in " + q.scope.String() + " is given up", nil
}

// waitingIn lists the messages that wait for a turn in a scope.
func (s *Swarm) waitingIn(scope budget.Scope) (ids []string, err error) {
	for _, m := range s.members() {
		entries, err := m.inbox.Box.Peek()
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			msg, err := m.inbox.Box.Read(e)
			if errors.Is(err, dropbox.ErrGone) || err == nil && !msg.Type.Wakes() {
				continue
			}
			if err == nil && turnOn(m.name, msg).In(scope) {
				ids = append(ids, msg.ID)
			}
		}
	}
	return ids, nil
}

// ErrRaise says that an agent ordered to raise a cap.
var ErrRaise = errors.New("only a person may raise a budget")

// RaiseBudget adds to the cap of a scope, by an order of by, and returns the new cap. Its
// errors are a [*budget.UnknownScopeError], a [*budget.NoCapError], and [ErrRaise] where by is
// an agent.
func (s *Swarm) RaiseBudget(name string, amount budget.Amount, by string) (budget.Row, error) {
	if !s.fromPerson(by) {
		return budget.Row{}, ErrRaise
	}
	scope, err := s.budget.Find(name, specNames(s.Plan().Agents))
	if err != nil {
		return budget.Row{}, err
	}
	question := budgetQuestion{scope, s.budget.Date(scope), s.budget.Number(scope)}
	if _, err := s.budget.Raise(scope, s.budget.Worker(scope), amount); err != nil {
		return budget.Row{}, err
	}
	s.log.Info("budget raised", "scope", scope.String(), "by", by, "amount", amount.Text())
	s.mail.Note(s.mail.Questions.Settle(question.key(), "the cap was raised by "+amount.Text()))
	s.wakeParked()
	line, _ := s.budget.Line(scope)
	return line.Row(), nil
}

// settleBudgetDays ends the questions about days that are over.
func (s *Swarm) settleBudgetDays() {
	for _, of := range s.budget.Yesterday() {
		q := budgetQuestion{of.Scope, of.Day, of.Number}
		if err := s.mail.Questions.Settle(q.key(), "that day is over"); err != nil {
			s.mail.Note(err)
			continue
		}
		s.mail.Note(s.budget.Forget(of.Scope))
	}
}
