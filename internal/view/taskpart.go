package view

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

func (s *taskScan) unfinished(f dropbox.Found) error {
	m, err := s.load(f)
	if m == nil || err != nil {
		return err
	}
	if !m.Type.Wakes() {
		return nil
	}
	p := TaskPart{ID: m.ID, Agent: f.Mailbox, State: TaskWaiting, Since: m.Created, Subject: m.Gist()}
	trace := m.Trace
	records, err := journal.Records(s.Home, m.ID, f.Entry.Begun)
	if err != nil {
		return err
	}
	var running *journal.Record
	for _, r := range records {
		// The daemon finds out to which task an unsigned message belongs when it claims it.
		trace, running = cmp.Or(r.Trace, trace), nil
		if r.End == "" {
			running = r
		}
	}
	t := s.of(trace)
	for _, r := range records {
		if r.End != "" && !s.booked[r.Turn] {
			t.turn(r.Agent, r.Ended, string(r.End), r.CostUSD, r.CostUnknown)
		}
	}
	if m.ID == trace {
		t.first = &f
	}
	switch f.State {
	case dropbox.Dead, dropbox.Refused:
		return s.lost(t, f, trace, p)
	case dropbox.Claimed:
		if ended, err := s.hasReceipt(f); ended || err != nil {
			t.involve(f.Mailbox) // the daemon is about to file it
			return err
		}
	}
	if taken, err := s.published(&p, f, m); taken || err != nil {
		return err
	}
	t.involve(p.Agent)
	s.now(t, f, running, &p)
	t.parts = append(t.parts, p)
	return nil
}

func (s *taskScan) hasReceipt(f dropbox.Found) (bool, error) {
	box, err := s.box(f)
	if err != nil {
		return false, err
	}
	return box.HasReceipt(f.Entry)
}

func (s *taskScan) published(p *TaskPart, f dropbox.Found, m *dropbox.Message) (taken bool, err error) {
	publication := f.Mailbox == s.Store.Topics().Name()
	if !publication && m.Offer == "" {
		return false, nil
	}
	by, err := s.ClaimedBy(cmp.Or(m.Offer, m.ID))
	switch {
	case err != nil:
		return false, err
	case publication && by == "":
		p.Agent, p.Why, p.Next = "", "nobody has claimed it on "+m.Topic, "claude-swarm claim "+p.ID+" --for AGENT"
	case publication:
		p.Agent, p.Why = by, by+" has claimed it"
		if by == dropbox.Lead {
			p.Next = "claude-swarm ack " + p.ID
		}
	default:
		return f.State == dropbox.Waiting && by != f.Mailbox, nil
	}
	return false, nil
}

func (s *taskScan) now(t *taskTrace, f dropbox.Found, running *journal.Record, p *TaskPart) {
	a, known := s.agent(p.Agent)
	mine := known && a.Message != nil && a.Message.ID == p.ID
	switch {
	case mine && a.State == swarm.Asking && a.Question != nil && strings.HasPrefix(a.Next, "claude-swarm "):
		p.State, p.Since, p.Why, p.Next = TaskAsking, a.Question.Since, a.Why, a.Next
		t.asked = append(t.asked, a.Question.ID)
		return
	case f.State == dropbox.Claimed && isAgent(f.Mailbox) && (mine || s.status.Daemon != nil || a.State == swarm.Away):
		p.State = TaskWorking
		if running != nil {
			p.Since = running.Begun.UTC()
		}
		return
	case t.capped != "":
		p.State, p.Why, p.Next = TaskParked, t.capWhy, t.capped
	case s.status.Halted:
		p.Why, p.Next = cmp.Or(s.status.Reason, "the swarm is halted"), "claude-swarm unhalt"
	case !isAgent(p.Agent): // nobody has claimed it, or the person has
	case !known:
		p.Why, p.Next = p.Agent+" is not in the configuration", "claude-swarm remove "+p.Agent
	default:
		if held := HoldupOf(a); held != nil {
			p.Why, p.Next = held.Why, held.Next
			if held.State == swarm.Parked {
				p.State = TaskParked
			}
		}
	}
}

func (s *taskScan) agent(name string) (swarm.AgentStatus, bool) {
	i := slices.IndexFunc(s.status.Agents, func(a swarm.AgentStatus) bool { return a.Name == name })
	if i < 0 {
		return swarm.AgentStatus{}, false
	}
	return s.status.Agents[i], true
}

func (s *taskScan) caps() {
	if s.status.Budget == nil {
		return
	}
	for _, row := range s.status.Budget.Scopes {
		trace, ok := strings.CutPrefix(row.Scope, "task.")
		if !ok || len(row.Full) == 0 {
			continue
		}
		amount := "1"
		switch unit := row.Full[0]; {
		case unit == "usd" && row.Cap.USD != nil:
			amount = strconv.FormatFloat(*row.Cap.USD, 'f', -1, 64)
		case unit == "turns" && row.Cap.Turns != nil:
			amount = strconv.Itoa(*row.Cap.Turns) + "turns"
		case row.Cap.Seconds != nil:
			amount = (time.Duration(*row.Cap.Seconds) * time.Second).String()
		}
		t := s.of(trace)
		t.capWhy, t.capped = "the task is at its cap", "claude-swarm budget raise "+row.Scope+" "+amount
	}
}

func (s *taskScan) lost(t *taskTrace, f dropbox.Found, trace string, p TaskPart) error {
	reasons := s.reasons[string(f.State)+"/"+f.Mailbox]
	if reasons == nil {
		var err error
		if reasons, err = s.reasonsIn(f); err != nil {
			return err
		}
		s.reasons[string(f.State)+"/"+f.Mailbox] = reasons
	}
	p.Why = firstLineOf(cmp.Or(reasons[p.ID], NoReason))
	p.State, p.Next = TaskFailed, "claude-swarm dead retry "+p.ID
	if f.State == dropbox.Refused {
		p.Next = "claude-swarm refused retry " + p.ID
	}
	if p.ID == trace {
		p.State = TaskGivenUp
	} else if p.Why == dropbox.CancelReason {
		return nil
	}
	if f.Mailbox == s.Store.Topics().Name() {
		p.Agent = ""
	}
	t.involve(p.Agent)
	t.parts = append(t.parts, p)
	return nil
}

func firstLineOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func (s *taskScan) reasonsIn(f dropbox.Found) (map[string]string, error) {
	all := map[string]string{}
	box, err := s.box(f)
	if errors.Is(err, dropbox.ErrNoMailbox) {
		return all, nil // refused mail of an agent whose mailbox has been removed
	} else if err != nil {
		return nil, err
	}
	if f.State == dropbox.Refused {
		list, err := box.Refusals().List()
		for _, r := range list {
			all[r.ID] = r.Reason
		}
		return all, err
	}
	list, err := box.DeadLetters().List()
	for _, d := range list {
		all[d.ID] = d.Reason
	}
	return all, err
}

func (s *taskScan) forPerson(f dropbox.Found) error {
	m, err := s.load(f)
	if m == nil || err != nil {
		return err
	}
	t := s.traces[m.Trace]
	if t == nil || !isAgent(m.From) {
		return nil // it belongs to no task, or the daemon sent it
	}
	switch m.Type {
	case dropbox.Result:
		if m.Created.After(t.resultAt) {
			t.result, t.resultAt = m.ID, m.Created
		}
	case dropbox.Question:
		if !slices.Contains(t.asked, m.ID) && s.answerable(m) {
			t.involve(m.From)
			t.parts = append(t.parts, TaskPart{
				ID: m.ID, Agent: m.From, State: TaskAsking, Since: m.Created, Subject: m.Gist(),
				Why: m.From + " asks: " + screen.Short(m.Gist(), maxAskedText), Next: "claude-swarm reply " + m.ID + ` "…"`,
			})
		}
	}
	return nil
}

const maxAskedText = 100

func (s *taskScan) answerable(m *dropbox.Message) bool {
	if m.Turn == "" {
		return true
	}
	for _, a := range s.Home.Asks(m.Turn).All() {
		if a.ID == m.ID {
			return !a.Over || a.Late == client.AtPause
		}
	}
	return true
}
