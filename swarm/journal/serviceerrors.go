package journal

import (
	"maps"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// ServiceErrors counts the turns of one agent that met an error of the service in a row.
// Usually the service is the cause, and all agents of the account wait. But if turns on
// other messages of the account succeed after such an error began, the service works, and
// the error is the agent's own: only this agent waits. An error is alone if, in addition,
// one of those turns used the same model and ended after the agent's previous error began,
// and no other agent began to meet errors since then. Only such an error may count against
// the message.
type ServiceErrors struct {
	Account string    `json:"account"`
	Message string    `json:"message"` // id of the message whose turn met the last error; "" after it was given up
	Model   string    `json:"model,omitempty"`
	Since   time.Time `json:"since"`             // when the first of these errors began
	Last    time.Time `json:"last"`              // when the last of them began
	Count   int       `json:"count"`             // how many there were
	Own     time.Time `json:"own,omitzero"`      // when a turn on another message showed that the errors are the agent's own; zero if none did
	Alike   time.Time `json:"alike,omitzero"`    // when such a turn used the same model; zero after it was counted
	Alone   int       `json:"alone,omitempty"`   // how many errors counted against the message
	Renewed int       `json:"renewed,omitempty"` // Count when an error was last met in a new session
	// Cleared says that an error on the message was alone although its session was new, so
	// the conversation is not the cause.
	Cleared bool `json:"cleared,omitempty"`
	Told    bool `json:"told,omitempty"` // the lead was told that only this agent waits
}

// A MetError is an error of the service that a turn met.
type MetError struct {
	Account, Message, Model string
	// Began is when the error began: the start of the turn if the API did not answer in
	// that turn, otherwise the time of the failure.
	Began time.Time
	// Renewed says that the turn did not resume a conversation that could be the cause.
	Renewed bool
}

// BeganError returns when the error began that ended a turn at the time now.
func BeganError(out runner.Outcome, now time.Time) time.Time {
	now = now.UTC().Round(0)
	if out.ContextTokens == 0 && out.Began.Before(now) && !out.Began.IsZero() {
		return out.Began.UTC().Round(0)
	}
	return now
}

// A Blame says whose an error of the service is.
type Blame struct {
	Own    bool // the agent's: only this agent waits
	Alone  bool // the error was alone: the conversation or the message is the cause
	Counts bool // the error was alone, and a new session has met it too: it counts against the message
	// Unshared says that no other agent of the account meets errors. If the error is not
	// Own either, no other turn of the account has shown whose it is.
	Unshared bool
}

// Blamed returns the agent's errors including e, and whose e is, without recording e.
func (s *Holds) Blamed(agent string, e MetError, now time.Time) (ServiceErrors, Blame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs, whose, _ := s.addedTo(s.doc.Get(), agent, e, now)
	return errs, whose
}

// MetService records an error.
func (s *Holds) MetService(agent string, e MetError, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.change(func(file *holdsFile) bool {
		errs, _, first := s.addedTo(*file, agent, e, now)
		if first {
			delete(s.good, e.Account)
			file.doubtOthers(agent, e.Account)
		}
		st := file.Agents[agent]
		st.Service = &errs
		file.put(agent, st)
		return true
	})
}

// addedTo returns the agent's errors including e, whose e is, and whether e is the first.
// The caller holds the mutex.
func (s *Holds) addedTo(file holdsFile, agent string, e MetError, now time.Time) (errs ServiceErrors, whose Blame, first bool) {
	errs, first = s.followed(file.Agents[agent].Service, e, now)
	whose = Blame{Own: !errs.Own.IsZero(), Unshared: file.unshared(agent, e.Account, now)}
	whose.Alone = whose.Own && errs.Alike.After(errs.Last)
	errs.Count++
	errs.Last = e.Began
	if e.Renewed {
		errs.Renewed = errs.Count
		errs.Cleared = errs.Cleared || whose.Alone
	}
	if whose.Counts = whose.Alone && errs.Cleared; whose.Counts {
		errs.Alone++
		errs.Alike = time.Time{} // the next error needs another turn that shows it
	}
	return errs, whose, first
}

// followed returns the agent's errors before e, as far as e continues them, and whether e is
// the first. was are the agent's last errors, or nil. The caller holds the mutex.
func (s *Holds) followed(was *ServiceErrors, e MetError, now time.Time) (errs ServiceErrors, first bool) {
	if was == nil || was.Account != e.Account || was.over(now) {
		good := s.good[e.Account]
		errs = ServiceErrors{Account: e.Account, Message: e.Message, Model: e.Model, Since: e.Began, Last: e.Began}
		if at := good.any; at.After(e.Began) {
			errs.Own = at
		}
		if at := good.of[e.Model]; at.After(e.Began) {
			errs.Alike = at
		}
		return errs, true
	}
	errs = *was
	if errs.Message != e.Message {
		errs.Message, errs.Alone, errs.Renewed, errs.Cleared = e.Message, 0, 0, false
	}
	if errs.Model != e.Model {
		errs.Model, errs.Alike = e.Model, time.Time{}
	}
	return errs, false
}

// over reports whether the errors have ended, because the agent's last one is long past.
func (e *ServiceErrors) over(now time.Time) bool { return now.Sub(e.Last) >= sameOutage }

// unshared reports whether no other agent of the account meets errors.
func (file *holdsFile) unshared(agent, account string, now time.Time) bool {
	for name, st := range file.Agents {
		if e := st.Service; name != agent && e != nil && e.Account == account && !e.over(now) {
			return false
		}
	}
	return true
}

// doubtOthers drops what is known about the errors of the account's other agents, because
// one more agent meets errors now: the service may be failing for all of them.
func (file *holdsFile) doubtOthers(agent, account string) {
	for name, st := range file.Agents {
		if e := st.Service; name != agent && e != nil && e.Account == account {
			doubted := *e
			doubted.Own, doubted.Alike = time.Time{}, time.Time{}
			st.Service = &doubted
			file.Agents[name] = st
		}
	}
}

// A goodTurn is when turns of an account last succeeded.
type goodTurn struct {
	any time.Time
	of  map[string]time.Time // by model
}

// ServiceWorks records that a turn of an account succeeded at the time now. It ends the
// errors on the turn's message, and shows whose the errors on other messages are. If the
// lead was told about the ended errors, it returns them.
func (s *Holds) ServiceWorks(agent, account, message, model string, now time.Time) (ended *ServiceErrors, err error) {
	now = now.UTC().Round(0)
	s.mu.Lock()
	defer s.mu.Unlock()
	good := goodTurn{any: now, of: maps.Clone(s.good[account].of)}
	if good.of == nil {
		good.of = map[string]time.Time{}
	}
	good.of[model] = now
	s.good[account] = good

	err = s.change(func(file *holdsFile) (changed bool) {
		for name, st := range file.Agents {
			e := st.Service
			switch {
			case e == nil:
				continue
			case name == agent && (e.Message == message || e.Message == "" || e.over(now) || e.Account != account):
				if e.Told {
					ended = e
				}
				st.Service = nil
			case e.Account != account, !e.Own.IsZero() && (e.Model != model || e.Alike.After(e.Last)):
				continue
			default:
				shown := *e
				shown.Own = now
				if e.Model == model {
					shown.Alike = now
				}
				st.Service = &shown
			}
			file.put(name, st)
			changed = true
		}
		return changed
	})
	return ended, err
}
