package swarm

import (
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
	"github.com/claude-swarm/claude-swarm/swarm/whisper"
)

// The supervisor receives the events of every turn that the daemon runs or follows, and
// issues whispers and escalations. It acts on an agent only through two functions. whisper
// stores a whisper for the agent, and stuck prevents the agent from beginning another turn.

// escalations acts on agents for the supervisor. It is safe for concurrent use.
type escalations struct {
	member     func(name string) (*member, error)
	orders     *Orders
	holding    *stuckHolds
	holds      *journal.Holds
	whispers   *whisper.Store
	supervisor *supervisor.Supervisor
	mail       *mail.Service
	notices    *notice.Teller
	plan       func() Plan
	log        *slog.Logger
}

// maxWhisper is the maximum length of a whisper's text, in columns.
const maxWhisper = 500

// whisper stores a whisper from the supervisor to an agent.
func (es *escalations) whisper(w supervisor.Whisper) {
	m, err := es.member(w.Agent)
	if err != nil {
		return // a reload removed the agent
	}
	kept := whisper.Whisper{Key: w.ID, At: time.Now().UTC(), About: w.Turn, Type: string(w.Action), Text: m.hidden.Text(screen.Cut(screen.OneLine(w.Message), maxWhisper))}
	added, err := es.whispers.Add(w.Agent, kept)
	if err != nil {
		m.inbox.Note(err)
		return
	}
	if !added {
		return // the events of the turn were read again
	}
	if w.Action == supervisor.ThinkDeeper {
		m.inbox.Note(es.holds.Change(w.Agent, func(st *journal.Hold) { st.Deeper = kept.At }))
	}
	m.log.Info("supervisor whispers", keyTurn, w.Turn, "type", kept.Type, "text", kept.Text)
	m.inbox.AgentLog.Line(messageOf(w.Turn), "~ "+kept.Line())
	m.wakeup.wake()
}

// Whispers lends an agent's waiting whispers to the connection of a program that shows them
// to the agent. The parameter caller returns the name of the agent, or "" for a person, and
// is called only if a whisper is waiting. The connection calls written once, with the
// number of whispers that it wrote. These whispers count as shown, and the rest go back to
// waiting. If lent is empty, written is nil.
func (s *Swarm) Whispers(caller func() (agent string, err error)) (lent []whisper.Whisper, written func(n int)) {
	if !s.whispers.Wait() {
		return nil, nil
	}
	agent, err := caller()
	if err != nil || agent == "" {
		return nil, nil
	}
	m, err := s.member(agent)
	if err != nil {
		return nil, nil
	}
	lent, err = s.whispers.Lend(agent)
	m.inbox.Note(err)
	if len(lent) == 0 {
		return nil, nil
	}
	return lent, func(n int) {
		shown, err := s.whispers.Written(agent, lent, n, whisper.BySocket)
		m.inbox.Note(err)
		told := m.supervision.told()
		for _, w := range shown {
			told.Shown(w)
		}
		if len(shown) < len(lent) {
			told.Wake()
		}
	}
}

// stuck prevents an agent from beginning another turn until a person decides, and asks
// the person for a decision. The running turn is interrupted later if it goes on. Every step
// is safe to repeat.
func (es *escalations) stuck(e supervisor.Escalation) {
	m, err := es.member(e.Agent)
	if err != nil {
		return // a reload removed the agent
	}
	if known, err := es.whispers.Knows(e.Agent, e.ID); known || err != nil {
		m.inbox.Note(err)
		if es.holds.Of(e.Agent).IsStuck(e.ID) {
			es.overrunLater(m, e)
		}
		return // the events of the turn were read again
	}
	why := strings.TrimSuffix(screen.OneLine(m.hidden.Text(e.Why)), ".")
	now := time.Now().UTC()
	err = es.orders.steer(e.Agent, func(st *journal.Hold) {
		if st.Paused == nil || st.Paused.By == dropbox.Swarm { // a person's pause is not replaced
			st.Paused = &journal.Pause{By: dropbox.Swarm, Why: stuckReason(why), Since: now, Stuck: &journal.Stuck{Escalation: e.ID, Message: messageOf(e.Turn)}}
		}
	})
	if err != nil {
		m.inbox.Note(err)
		return
	}
	details := m.hidden.Text(screen.Plain(e.Details))
	m.log.Warn("agent is stuck", keyTurn, e.Turn, keyWhy, why)
	fact := notice.Stuck{Agent: e.Agent, Task: e.Task, Why: why, Escalation: e.ID, Message: messageOf(e.Turn), Details: details}
	m.inbox.AgentLog.Line(messageOf(e.Turn), "~ "+notice.Text(fact))
	err = es.notices.Add(fact)
	if es.holds.Of(e.Agent).IsStuck(e.ID) {
		es.overrunLater(m, e)
		err = errors.Join(err, es.mail.Questions.AskPerson(journal.Question{
			Key: stuckKey(e.ID), Kind: stuckQuestion, Agent: e.Agent, About: messageOf(e.Turn), Subject: notice.Text(fact),
			Body: strings.TrimSpace(details + "\n\n" + afterStuck(e.Agent, es.plan().supervision().InterruptAfter)),
			Words: []journal.AnswerWord{
				{Word: "resume", Does: "let it carry on from where it stopped, like claude-swarm resume " + e.Agent},
				{Word: "abort", Does: "give up the message and let the agent carry on with the next one, like claude-swarm abort " + e.Agent},
			},
			Text: e.Agent + " gets it as an urgent task, and goes on",
		}))
		es.holding.settleFreed() // a person may have decided while the question was being stored
	} else {
		es.supervisor.Watch(e.Agent).Resume() // a person has already paused it, or has already let it continue
	}
	if err != nil {
		m.inbox.Note(err)
		return // the agent is already paused, and the status says why
	}
	_, err = es.whispers.Add(e.Agent, whisper.Whisper{Key: e.ID, At: now, About: e.Turn, Type: string(supervisor.Escalate), Text: why, Shown: now})
	m.inbox.Note(err)
}

// answer carries out a person's answer to the question about a stuck agent.
func (es *escalations) answer(q journal.Question, a journal.QuestionAnswer) (happened string, err error) {
	m, err := es.member(q.Agent)
	if err != nil {
		return "", err
	}
	stuck := es.holds.Of(q.Agent).StuckIn()
	switch {
	case stuck == nil || stuckKey(stuck.Escalation) != q.Key:
		return q.Agent + " has already continued.", nil
	case a.Word == "" || a.Word == "resume" && a.Rest != "":
		if err := es.mail.Questions.Guide(q.Agent, q.About, a); err != nil {
			return "", err
		}
		return q.Agent + " gets that, and goes on.", es.orders.Resume(q.Agent, a.By)
	case a.Word == "resume":
		return q.Agent + " goes on.", es.orders.Resume(q.Agent, a.By)
	}
	_, err = es.orders.abortStuck(m, stuck, a.By)
	return "The message is given up, and " + q.Agent + " continues with the next one.", err
}

// noteJudge adds a line about the judge model to an agent's log, under the message that
// was judged.
func (es *escalations) noteJudge(agent, message, line string) {
	es.log.Info("supervisor", keyAgent, agent, "note", line)
	if m, err := es.member(agent); err == nil {
		m.inbox.AgentLog.Line(message, "~ "+m.hidden.Text(line))
	}
}
