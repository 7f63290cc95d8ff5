package acp

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// maxAsked is how many requests of a turn may wait for an answer; further ones are denied.
// A client asks for one or two at a time.
const maxAsked = 32

// asks are the permission requests of one turn. Answers come from other goroutines, which
// wake the turn; everything else belongs to the turn's goroutine.
type asks struct {
	open      map[string]*asked // by the id of the request
	denied    []streamjson.Denial
	decisions []runner.Decision

	mu      sync.Mutex
	decided []decided
	wg      sync.WaitGroup
}

// asked is a request without an answer.
type asked struct {
	id      json.RawMessage
	options []option
	call    *toolCall
}

type decided struct {
	key      string
	decision runner.Decision
}

// permission handles session/request_permission.
func (e *exchange) permission(m *message, raw []byte) {
	var p permissionAsked
	lenient(m.Params, &p)
	p.fromVersion2()
	e.stream.endTexts(raw)
	c := e.stream.call(p.Call.ID)
	text := c.text
	c.merge(p.Call.toolFields, p.Call.Content, &p.Meta)
	c.text = text // the content of a request is about the call, not its result
	a := &asked{id: m.ID, options: p.Options, call: c}
	switch {
	case e.step != working || e.run.Ending():
		e.run.Send(answer(m.ID, cancelledOutcome()))
		return
	case c.own() != "":
		// An agent may always send mail; the gate decides what passes.
		e.stream.announce(c, raw)
		e.choose(a, true)
		return
	}
	e.stream.announce(c, raw)
	if e.turn.Permit == nil || len(e.asks.open) >= maxAsked {
		e.settle(a, runner.Decision{Request: requestOf(c), At: time.Now()})
		return
	}
	key := string(m.ID)
	if e.asks.open == nil {
		e.asks.open = map[string]*asked{}
	}
	e.asks.open[key] = a
	request := requestOf(c)
	// It ends with the answer or with the turn; leave waits for it.
	e.asks.wg.Go(func() {
		d := e.turn.Permit(e.permitCtx, request)
		e.asks.mu.Lock()
		e.asks.decided = append(e.asks.decided, decided{key, d})
		e.asks.mu.Unlock()
		e.run.Wake()
	})
}

// requestOf describes a call for the decision about it.
func requestOf(c *toolCall) runner.PermissionRequest {
	r := runner.PermissionRequest{Kind: c.ToolKind, Command: c.command(), Paths: c.files(), Title: c.Title}
	if r.Kind == "" || c.mcp {
		r.Kind = other
	}
	if r.Kind == other && (c.mcp || c.Name != "") {
		r.Tool = c.name()
	}
	if says(c.Input) && json.Valid(c.Input) {
		r.Input = c.Input
	}
	if r.Kind == execute {
		r.Paths = nil // they tell the working folder, not the files that the command uses
	}
	return r
}

// decisions sends the client the answers that have arrived.
func (e *exchange) decisions() {
	e.asks.mu.Lock()
	come := e.asks.decided
	e.asks.decided = nil
	e.asks.mu.Unlock()
	for _, d := range come {
		if a := e.asks.open[d.key]; a != nil {
			delete(e.asks.open, d.key)
			e.settle(a, d.decision)
		}
	}
}

// settle answers a request and records the decision.
func (e *exchange) settle(a *asked, d runner.Decision) {
	e.asks.decisions = append(e.asks.decisions, d)
	if !d.Allowed {
		e.asks.denied = append(e.asks.denied, streamjson.Denial{Tool: a.call.name(), ID: a.call.ID, Input: a.call.input()})
		e.stream.deny(a.call) // gemini sends no further update about the call
	}
	e.choose(a, d.Allowed)
}

// choose answers with one of the options that the client offers. It looks for the kind of
// the option: ids differ from client to client, and gemini and codex offer several options
// that allow always.
func (e *exchange) choose(a *asked, allow bool) {
	kinds := []string{"reject_once", "reject_always"}
	if allow {
		kinds = []string{"allow_once", "allow_always"}
	}
	for _, kind := range kinds {
		for _, o := range a.options {
			if o.Kind == kind {
				e.run.Send(answer(a.id, protocol.RequestPermissionResponse{
					Outcome: protocol.NewRequestPermissionOutcomeSelected(protocol.PermissionOptionId(o.ID)),
				}))
				return
			}
		}
	}
	e.run.Send(answer(a.id, cancelledOutcome()))
}

func cancelledOutcome() protocol.RequestPermissionResponse {
	return protocol.RequestPermissionResponse{Outcome: protocol.NewRequestPermissionOutcomeCancelled()}
}

// takeBack answers all open requests with "cancelled". Without these answers gemini and
// cline hang after session/cancel.
func (e *exchange) takeBack() {
	for key, a := range e.asks.open {
		delete(e.asks.open, key)
		e.run.Send(answer(a.id, cancelledOutcome()))
	}
}

// leave cancels the open decisions and waits until they have ended.
func (e *exchange) leave(cancel context.CancelFunc) {
	cancel()
	e.asks.wg.Wait()
}
