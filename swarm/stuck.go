package swarm

import (
	"errors"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
)

// stuckHolds are the pauses of agents that the supervisor found stuck, together with the questions
// about them. They are safe for concurrent use.
type stuckHolds struct {
	holds      *journal.Holds
	supervisor *supervisor.Supervisor
	mail       *mail.Service
	known      func(agent string) bool // whether there is an agent with this name
}

// of returns why an agent is stuck, with the numbers of this moment. ok is false if its pause
// has another reason, or if an earlier daemon found it stuck.
func (h *stuckHolds) of(agent string) (escalation, why string, ok bool) {
	escalation, why, ok = h.supervisor.Watch(agent).Stuck()
	return escalation, stuckReason(why), ok && h.holds.Of(agent).IsStuck(escalation)
}

// decided is called when a person has decided what to do about a stuck agent.
func (h *stuckHolds) decided(agent string, stuck *journal.Stuck, what string) error {
	h.supervisor.Watch(agent).Resume()
	return h.mail.Questions.Settle(stuckKey(stuck.Escalation), what)
}

// settleFreed ends the questions about agents that are no longer stuck, or have left. A
// decision settles its question itself, unless the daemon was killed in between, or was still
// storing the question.
func (h *stuckHolds) settleFreed() {
	for _, n := range h.mail.Questions.Unanswered(stuckQuestion) {
		_, escalation, _ := strings.Cut(n.Key, " ")
		if !h.known(n.Agent) {
			h.mail.Note(h.mail.Questions.Settle(n.Key, hasLeft(n.Agent)))
		} else if !h.holds.Of(n.Agent).IsStuck(escalation) {
			h.mail.Note(h.mail.Questions.Settle(n.Key, n.Agent+" is no longer held for being stuck"))
		}
	}
}

// hasLeft is the reason why a question about a removed agent needs no answer.
func hasLeft(agent string) string { return agent + " has left the swarm" }

// stuckQuestion is the kind of question that asks about a stuck agent.
const stuckQuestion = "escalation"

// StuckQuestions is the key prefix of messages that ask the person about a stuck agent. A
// notice about such an agent is also added to the event list.
const StuckQuestions = "question:" + stuckQuestion + ":"

func stuckKey(escalation string) string { return stuckQuestion + " " + escalation }

// stuckReason returns the reason for the pause of a stuck agent.
func stuckReason(why string) string { return "stuck: " + strings.TrimSuffix(screen.OneLine(why), ".") }

// stuckNow returns why an agent is stuck, as its hold records it.
func stuckNow(st journal.Hold) string {
	if st.StuckIn() == nil {
		return "it was stuck" // a person has decided since the interrupt
	}
	return st.Paused.Reason()
}

// abortStuck ends the pause of a stuck agent, and gives up its message. If a turn is
// still working on the message, abortStuck ends that turn. It does not wait, and later
// sends the outcome of the message on the returned channel.
func (or *Orders) abortStuck(m *member, stuck *journal.Stuck, by string) (<-chan Cut, error) {
	if !or.fromPerson(by) {
		return nil, &PersonError{Name: m.name}
	}
	if was := or.holds.Of(m.name).Paused; was.Holds(time.Now()) {
		or.mail.Note(or.notices.Add(notice.Unpaused{Agent: m.name, Since: was.Since, Why: "aborted by " + by, By: by}))
	}
	given := m.control.givesUp()
	ended, cut, running := m.control.cutShort(by, "", errAborted)
	err := or.steer(m.name, func(st *journal.Hold) {
		if !running {
			st.GiveUp = &journal.GiveUp{Message: stuck.Message, By: by}
		}
		if st.StuckIn() != nil {
			or.word(m.name, by, st)
			st.Paused = nil
		}
	})
	if err != nil {
		return nil, err
	}
	if running {
		done := make(chan Cut, 1)
		given = done
		go func() { // the goroutine ends with the turn
			<-ended
			done <- *cut
		}()
	}
	return given, errors.Join(or.whispers.Forget(m.name), or.stuck.decided(m.name, stuck, "aborted by "+by))
}
