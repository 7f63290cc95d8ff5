package swarm

import (
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// budgetKind is the kind of a question about a scope at its cap.
const budgetKind = "budget"

// budgetKey returns the key of a question about a scope at its cap.
func budgetKey(q budget.Question) string { return budgetKind + " " + q.String() }

// ask asks the person once about a scope at its cap.
func (ab *agentBudget) ask(b *budget.Block) {
	q := b.Question
	if b.Answer != "" || !ab.book.NotAsked(q) {
		return
	}
	about, why := ab.name, "has spent "+b.Spent.In(b.Unit)+" of "+b.Cap.In(b.Unit)
	switch b.Kind {
	case budget.KindSwarm:
		about, why = "", why+" today"
	case budget.KindAgent:
		why += " today"
	case budget.KindTask:
		why += " for the task " + ab.mail.Called(b.Name)
	case budget.KindTurn:
		why += " in the turn of " + ab.mail.Called(b.Name)
	}
	if left := b.Left(); left != "" {
		why += "; " + left
	}
	err := ab.mail.Questions.AskPerson(journal.Question{
		Key: budgetKey(q), Kind: budgetKind, Agent: ab.name, About: q.String(), Subject: "budget: " + ab.capText(b), Body: ab.capBody(b), Words: capWords(b),
		Notice: &journal.Notice{Word: journal.BudgetReached, Agent: about, Why: why, Held: true},
	})
	if err != nil {
		ab.inbox.Note(err)
		return
	}
	// A raise or a reload may have ended the question while it was being stored.
	open, err := ab.book.Asked(q)
	if !open {
		err = ab.mail.Questions.Settle(budgetKey(q), ab.book.Over(q, ab.name))
	}
	ab.inbox.Note(err)
}

// warn warns once about each scope whose budget is nearly spent. For a daily scope it sends
// the lead a message and a notice. For a task it sends only the notice, because there may
// be many tasks in one night.
func (ab *agentBudget) warn(t budget.Turn) {
	for _, w := range ab.book.Warnings(t) {
		near := notice.NearCap{Scope: w.Scope.String(), Key: w.Question.String(), Used: "has spent " + w.Spent.In(w.Unit) + " of " + w.Cap.In(w.Unit)}
		if w.Kind != budget.KindSwarm {
			near.Agent = ab.name
		}
		if w.Kind == budget.KindTask {
			near.Task = ab.mail.Called(w.Name)
		}
		err := ab.notices.Add(near)
		if err == nil {
			err = ab.book.Warned(w)
		}
		ab.inbox.Note(err)
	}
}

// capBody returns the text of the question about a scope at its cap.
func (ab *agentBudget) capBody(b *budget.Block) string {
	text := ab.capText(b) + ".\n\n"
	switch b.Kind {
	case budget.KindTurn:
		text += "The message waits."
	case budget.KindTask:
		text += "The messages of this task are waiting; the agents can work on other tasks."
	default:
		text += "The mail waits until " + screen.Ahead(b.Until, time.Now()) + ", when the next day begins."
	}
	return text + "\n\nAll budgets: claude-swarm budget"
}

// capWords returns the possible answers to the question about a scope at its cap.
func capWords(b *budget.Block) []journal.AnswerWord {
	stop := "give up the waiting mail, and any that arrives later"
	if b.Daily() {
		stop = "leave the mail until the next day, without asking again"
	}
	return []journal.AnswerWord{
		{Word: string(budget.More), Does: "raise the cap by " + b.Own.Text()},
		{Word: string(budget.Stop), Does: stop},
		{Word: string(budget.End), Does: "one more turn for each message that is waiting now"},
	}
}

func (ab *agentBudget) capText(b *budget.Block) string { return capText(ab.mail.Called, b) }

// capText describes a scope that is at its cap. called returns what people call a message.
func capText(called func(id string) string, b *budget.Block) string {
	scope := b.Scope.String()
	if b.Kind == budget.KindTask {
		scope = fmt.Sprintf("the task %s (%s)", called(b.Name), scope)
	}
	text := fmt.Sprintf("%s is at its cap: %s of %s has been spent", scope, b.Spent.In(b.Unit), b.Cap.In(b.Unit))
	if b.Unit == budget.Turns {
		text = fmt.Sprintf("%s is at its cap: %d of %s have been used", scope, b.Spent[budget.Turns], b.Cap.In(b.Unit))
	}
	if left := b.Left(); left != "" {
		text = fmt.Sprintf("%s has spent %s of %s; %s", scope, b.Spent.In(b.Unit), b.Cap.In(b.Unit), left)
	}
	if b.Kind == budget.KindTurn {
		text = fmt.Sprintf("the turn of %s (%s) has used up its cap of %s", called(b.Name), scope, b.Cap.In(b.Unit))
	}
	switch b.Answer {
	case budget.Stop:
		text += "; your answer was stop"
	case budget.End:
		text += "; your answer was end"
	}
	return text
}
