package control

import (
	"context"
	"errors"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
)

// [Dial] returns ErrNoDaemon if no daemon answers.
var ErrNoDaemon = errors.New("no daemon is running here")

// ErrGone is the error from a call or a stream whose connection to the daemon has ended.
var ErrGone = errors.New("the connection to the daemon was lost")

// The codes of an [Error].
const (
	CodeUnknownAgent = "unknown_agent" // Name and Near are set
	CodeNoTurn       = "no_turn"       // the agent has no running turn
	CodeNotPaused    = "not_paused"    // resume: the agent was not on hold
	CodeNotDraining  = "not_draining"  // undrain: the agent was not draining
	CodeBadConfig    = "bad_config"    // reload: the file has mistakes; the old configuration stays in force
	CodeGrows        = "grows"         // reload: rights would grow while turns are running
	CodeBadRequest   = "bad_request"   // not JSON, or a missing or wrong field
	CodeUnknownType  = "unknown_type"  // an unknown request type
	CodeTooLong      = "too_long"      // a line longer than 1 MiB
	CodeBusy         = "busy"          // too many requests or connections at once
	CodeVersion      = "version"       // a different protocol version
	CodeCancelled    = "cancelled"     // the daemon is stopping
	CodeCannot       = "cannot"        // compact: the agent's client cannot do that
	CodeStopped      = "stopped"       // resume: the agent is stopped; Name is set
	CodeAttached     = "attached"      // compact, clear: a person is running the session; Name is set
	CodePerson       = "person"        // the caller lacks the right; for start and resume of an agent that a person holds, Name is set
	CodeUntraced     = "untraced"      // the daemon cannot find out who the caller is
	CodeBudget       = "budget"        // raise: the scope does not exist; Name and Near are set
	CodeNoCap        = "no_cap"        // raise: the scope has no cap in that unit
	CodeStopping     = "stopping"      // the daemon ends as soon as its running turns have ended
	CodeFailed       = "failed"        // all other errors
)

// An Error is an error from the daemon, as the client sees it. If it was made from one of
// these errors in package swarm, it unwraps to that error: [swarm.UnknownAgentError],
// [swarm.ErrNoTurn], [swarm.ErrNotPaused], [swarm.ErrNotDraining], [swarm.ErrStopping], [swarm.ErrCannotCompact],
// [swarm.StoppedError], [swarm.AttachedError], [swarm.PersonError]. It
// can also unwrap to a [budget.UnknownScopeError].
type Error struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Hint    string   `json:"hint,omitempty"` // what the person can do
	Name    string   `json:"name,omitempty"`
	Near    []string `json:"near,omitempty"`
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error {
	switch e.Code {
	case CodeUnknownAgent:
		return &swarm.UnknownAgentError{Name: e.Name, Near: e.Near}
	case CodeStopped:
		return &swarm.StoppedError{Name: e.Name}
	case CodeAttached:
		return &swarm.AttachedError{Name: e.Name}
	case CodePerson:
		if e.Name == "" { // the order is not for the caller, whichever agent it names
			return nil
		}
		return &swarm.PersonError{Name: e.Name}
	case CodeBudget:
		return &budget.UnknownScopeError{Name: e.Name, Near: e.Near}
	case CodeNoTurn:
		return swarm.ErrNoTurn
	case CodeNotPaused:
		return swarm.ErrNotPaused
	case CodeNotDraining:
		return swarm.ErrNotDraining
	case CodeStopping:
		return swarm.ErrStopping
	case CodeCannot:
		return swarm.ErrCannotCompact
	}
	return nil
}

// wireError converts the daemon's error to an [Error].
func wireError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	e := &Error{Code: CodeFailed, Message: err.Error()}
	if unknown, ok := errors.AsType[*swarm.UnknownAgentError](err); ok {
		e.Code, e.Name, e.Near = CodeUnknownAgent, unknown.Name, unknown.Near
	}
	if scope, ok := errors.AsType[*budget.UnknownScopeError](err); ok {
		e.Code, e.Name, e.Near, e.Hint = CodeBudget, scope.Name, scope.Near, "claude-swarm budget"
	}
	if _, ok := errors.AsType[*budget.NoCapError](err); ok {
		e.Code, e.Hint = CodeNoCap, "claude-swarm budget"
	}
	if stopped, ok := errors.AsType[*swarm.StoppedError](err); ok {
		e.Code, e.Name, e.Hint = CodeStopped, stopped.Name, "claude-swarm start "+stopped.Name
	}
	if person, ok := errors.AsType[*swarm.PersonError](err); ok {
		e.Code, e.Name, e.Hint = CodePerson, person.Name, `claude-swarm send lead "`+person.Name+` is paused, please look" --type status`
	}
	if attached, ok := errors.AsType[*swarm.AttachedError](err); ok {
		e.Code, e.Name, e.Hint = CodeAttached, attached.Name, "/compact or /clear in that session"
	}
	switch {
	case errors.Is(err, swarm.ErrRaise):
		e.Code, e.Hint = CodeFailed, `claude-swarm send lead "the budget is nearly used up" --type status`
	case errors.Is(err, swarm.ErrNoTurn):
		e.Code = CodeNoTurn
	case errors.Is(err, swarm.ErrNotPaused):
		e.Code = CodeNotPaused
	case errors.Is(err, swarm.ErrNotDraining):
		e.Code = CodeNotDraining
	case errors.Is(err, swarm.ErrCannotCompact):
		e.Code = CodeCannot
	case errors.Is(err, swarm.ErrStopping):
		e.Code, e.Hint = CodeStopping, "claude-swarm stop --now, then claude-swarm start"
	case errors.Is(err, context.Canceled):
		e.Code, e.Message = CodeCancelled, "the daemon is stopping"
	}
	return e
}
