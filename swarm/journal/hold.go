package journal

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// A Hold is the part of an agent's state that must survive a daemon restart: who
// paused or stopped the agent, and how its latest turns failed.
type Hold struct {
	Paused   *Pause         `json:"paused,omitempty"`
	Stopped  *Stop          `json:"stopped,omitempty"`
	Failures []Failure      `json:"failures,omitempty"` // since the last good turn, at most MaxFailureMemory
	Until    time.Time      `json:"backoff_until,omitzero"`
	Why      string         `json:"backoff_why,omitempty"`
	Order    *Order         `json:"order,omitempty"`   // an order to carry out before the next message
	Word     time.Time      `json:"word,omitzero"`     // when a person last reset the agent's turn count
	Doubt    *Doubt         `json:"doubt,omitempty"`   // a message that is parked for an unknown reason
	Service  *ServiceErrors `json:"service,omitempty"` // the errors of the service that its last turns met
	Overtime *Overtime      `json:"overtime,omitempty"`
	Deeper   time.Time      `json:"deeper,omitzero"`   // when the supervisor asked for deeper thinking in the next turn
	GiveUp   *GiveUp        `json:"give_up,omitempty"` // a message to give up before the next turn
	Drain    *Drain         `json:"drain,omitempty"`   // the agent begins no new task
	// ContextFull is when the person was told that the agent's context is nearly full. It
	// is zero if the context is not nearly full.
	ContextFull time.Time `json:"context_full,omitzero"`
}

// A Drain is an order that lets an agent finish the tasks that have begun, and keeps it from
// beginning other tasks.
type Drain struct {
	By    string    `json:"by"`
	Since time.Time `json:"since"`
}

// An Overtime is a person's order that lets an agent work outside its hours.
type Overtime struct {
	By    string    `json:"by"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until"` // when the agent's working hours begin
}

// A Doubt is a message whose turns end as Limited without the client reporting a reason.
// The message itself may be the cause.
type Doubt struct {
	Message string    `json:"message"`
	Since   time.Time `json:"since"`
}

// MaxFailureMemory is the maximum number of failures that are remembered for an agent. It
// is larger than the number that the default rules of RestartPolicy.Decide in package
// swarm need.
const MaxFailureMemory = 20

type Pause struct {
	By    string    `json:"by"`
	Why   string    `json:"why,omitempty"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"`  // zero means until the agent is resumed
	Turns bool      `json:"turns,omitempty"` // the agent started too many turns, so only a person can resume it
	Stuck *Stuck    `json:"stuck,omitempty"` // set if the supervisor asked for a person; only a person can resume the agent
	// Questions are the agent's questions that nobody answered in time. An answer ends the
	// pause.
	Questions []PauseQuestion `json:"questions,omitempty"`
}

// A PauseQuestion is an unanswered question that caused the pause of an agent.
type PauseQuestion struct {
	ID string `json:"id"`
	Of string `json:"of"` // the mailbox to which it was sent
	// Agents is set if any agent may answer, including agents that were not asked.
	Agents bool `json:"agents,omitempty"`
}

// NotAnswered returns a line saying that nobody answered a question. The question may
// have been sent in several copies.
func NotAnswered(asked []PauseQuestion, text string, patience time.Duration) string {
	var of, ids []string
	for _, q := range asked {
		of, ids = append(of, q.Of), append(ids, q.ID)
	}
	return fmt.Sprintf("%s did not answer %s within %s: %s", strings.Join(of, ", "), strings.Join(ids, ", "), patience, screen.Short(text, 100))
}

// Stuck is the work on which an agent is making no progress.
type Stuck struct {
	Escalation string `json:"escalation"` // id of the escalation
	Message    string `json:"message"`    // id
}

// A GiveUp is a person's order to give up a message on which no turn is working.
type GiveUp struct {
	Message string `json:"message"` // id
	By      string `json:"by"`
}

// StuckIn returns the work on which the agent is stuck, or nil if the agent is not paused
// for being stuck.
func (st Hold) StuckIn() *Stuck {
	if st.Paused == nil {
		return nil
	}
	return st.Paused.Stuck
}

// IsStuck reports whether the agent is paused for this escalation.
func (st Hold) IsStuck(escalation string) bool {
	stuck := st.StuckIn()
	return stuck != nil && stuck.Escalation == escalation
}

// Holds reports whether the pause is still in effect.
func (p *Pause) Holds(now time.Time) bool {
	return p != nil && (p.Until.IsZero() || p.Until.After(now))
}

type Stop struct {
	By      string    `json:"by"`
	Why     string    `json:"why,omitempty"`
	Hint    string    `json:"hint,omitempty"`
	Since   time.Time `json:"since"`
	Breaker bool      `json:"breaker,omitempty"` // the breaker, not a person, stopped the agent
}

// Holds stores the hold of every agent and the limit of every account durably in
// state.json. It is safe for concurrent use.
type Holds struct {
	doc *durable.Doc[holdsFile]

	mu   sync.Mutex          // guards good; it is locked before doc is used
	good map[string]goodTurn // by account, since this daemon started; see [Holds.ServiceWorks]
}

type holdsFile struct {
	V      durable.Version1 `json:"v"`
	Agents map[string]Hold  `json:"agents"`
	Limits map[string]Limit `json:"limits,omitempty"`
}

// OpenHolds reads the file. If the error is a [*durable.DamagedError], the returned holds are
// empty, and the daemon must not start with them: it would wake paused or stopped agents.
func OpenHolds(home Home) (*Holds, error) {
	doc, err := durable.OpenDoc[holdsFile](home.files, home.stateFile(), durable.DocOptions{
		Keep: true, Lost: "it is unknown which agents were paused or stopped",
	})
	s := &Holds{doc: doc, good: map[string]goodTurn{}}
	if e, ok := errors.AsType[*durable.DamagedError](err); ok {
		e.Next = fmt.Sprintf("mv %s %s, claude-swarm start, then pause or stop those agents again", screen.TypedWord(e.Path), screen.TypedWord(e.Aside()))
		return s, e
	} else if err != nil {
		return s, fmt.Errorf("read what was paused and stopped: %w", err)
	}
	doc.ChangeMemory(func(file *holdsFile) {
		for name, st := range file.Agents {
			if time.Since(st.Word) > countedFor { // turns before Word no longer count
				st.Word = time.Time{}
				file.Agents[name] = st
			}
		}
	})
	return s, nil
}

// Of returns the hold of an agent. The caller must not change the values that its fields
// point to.
func (s *Holds) Of(agent string) Hold { return s.doc.Get().Agents[agent] }

// Change calls f, which changes an agent's hold, and writes the file. If a field of the
// hold points to a value, f must replace the value instead of modifying it.
func (s *Holds) Change(agent string, f func(*Hold)) error {
	changed := false
	err := s.change(func(file *holdsFile) bool {
		st := file.Agents[agent]
		was := st
		f(&st)
		file.put(agent, st)
		changed = !was.empty() || !st.empty()
		return changed
	})
	if !changed { // as is usual after a good turn
		return s.CatchUp()
	}
	return err
}

// change calls f, which changes the file and returns false if it changed nothing.
func (s *Holds) change(f func(*holdsFile) bool) error { return wroteHolds(s.doc.Change(f)) }

// CatchUp writes the changes that could not be written earlier.
func (s *Holds) CatchUp() error { return wroteHolds(s.doc.CatchUp()) }

// Restore writes the holds if their file is missing.
func (s *Holds) Restore() error { return wroteHolds(s.doc.Restore()) }

func wroteHolds(err error) error {
	if err != nil {
		return fmt.Errorf("write what was paused and stopped: %w", err)
	}
	return nil
}

// put replaces an agent's hold.
func (file *holdsFile) put(agent string, st Hold) {
	file.Agents[agent] = st
	if st.empty() {
		delete(file.Agents, agent)
	}
}

func (st Hold) empty() bool {
	return st.Paused == nil && st.Stopped == nil && len(st.Failures) == 0 && st.Until.IsZero() && st.Order == nil && st.Word.IsZero() && st.Doubt == nil && st.Service == nil && st.Overtime == nil && st.Deeper.IsZero() && st.GiveUp == nil && st.Drain == nil && st.ContextFull.IsZero()
}

// EndDeeper ends the supervisor's order to think deeper in one turn, unless there is a
// newer order. at is the time of the order. If at is zero, EndDeeper does nothing.
func (s *Holds) EndDeeper(agent string, at time.Time) error {
	if at.IsZero() {
		return nil
	}
	return s.Change(agent, func(st *Hold) {
		if st.Deeper.Equal(at) {
			st.Deeper = time.Time{}
		}
	})
}

// An Order says what to do with the memory of an agent's client.
type Order struct {
	What  string    `json:"what"` // OrderClear or OrderCompact
	By    string    `json:"by"`
	Since time.Time `json:"since"`
}

const (
	OrderClear   = "clear"
	OrderCompact = "compact"
)

// A Failure is a turn that failed after the agent's last good turn.
type Failure struct {
	At       time.Time `json:"at"`
	Message  string    `json:"message"`
	NotBegun bool      `json:"unborn,omitempty"` // the client died before its first event
	GivenUp  bool      `json:"buried,omitempty"` // the message was given up because of this failure
	Reason   string    `json:"reason"`
}

// Reason describes why the agent is paused and who paused it.
func (p *Pause) Reason() string { return reason(p.Why, p.By) }

// Reason describes why the agent is stopped and who stopped it.
func (s *Stop) Reason() string { return reason(s.Why, s.By) }

// Reason describes how far the drain is, and who ordered it.
func (d *Drain) Reason(far string) string { return reason(far, d.By) }

func reason(why, by string) string {
	switch {
	case by == "" || by == dropbox.Swarm:
		return why
	case why == "":
		return "by " + by
	}
	return why + " (by " + by + ")"
}
