package acp

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// maxAsked is the maximum number of requests in a turn that can be open at the same time;
// further requests are denied. Clients usually have one or two open requests.
const maxAsked = 32

// maxRequests is the maximum number of permission requests in one turn. Each request
// stays in memory until the end of the turn.
const maxRequests = 10000

// asks are the permission requests of one turn. Answers come from other goroutines, which
// wake the turn. All other state belongs to the turn's goroutine.
type asks struct {
	send   func(line []byte)
	wake   func()
	permit func(runner.PermissionRequest) runner.Decision // like Turn.Permit; if nil, every request is denied
	stream *stream                                        // the stream of the turn

	open      map[string]*asked // keyed by request id
	count     int               // number of requests in the turn
	denied    []streamjson.Denial
	decisions []runner.Decision

	mu      sync.Mutex
	decided []decided
	wg      sync.WaitGroup
}

// tooManyRequests returns the verdict on a turn whose client sends too many permission
// requests.
func tooManyRequests() follow.Verdict {
	return follow.Verdict{End: runner.Failed, Reason: fmt.Sprintf("the client asked for more than %d permissions in one turn", maxRequests),
		Hint: "allow what it needs in permissions:, or look at what it does"}
}

// asked is a request that has not been answered yet.
type asked struct {
	id      json.RawMessage
	options []option
	call    *toolCall
}

type decided struct {
	key      string
	decision runner.Decision
}

// requested handles session/request_permission. late is true for a request that arrives
// before the prompt, after the answer to the prompt, or while we are ending the client.
func (s *asks) requested(m *message, late bool, raw []byte) {
	s.count++
	var p permissionAsked
	lenient(m.Params, &p)
	p.fromVersion2()
	s.stream.endTexts(raw)
	c := s.stream.call(p.Call.ID)
	text := c.text
	c.merge(p.Call.toolFields, p.Call.Content, &p.Meta)
	c.text = text // the content of a request describes the call, not its result
	a := &asked{id: m.ID, options: p.Options, call: c}
	switch {
	case late:
		s.send(answer(m.ID, cancelledOutcome()))
		return
	case c.own() != "":
		// An agent may call our tools unless a rule denies it; the gate decides which
		// messages pass.
		s.stream.announce(c, raw)
		if s.permit != nil {
			if d := s.permit(requestOf(c)); !d.Allowed {
				s.settle(a, d)
				return
			}
		}
		s.choose(a, true)
		return
	}
	s.stream.announce(c, raw)
	key := string(m.ID)
	if s.permit == nil || len(s.open) >= maxAsked || s.open[key] != nil { // two requests with the same id would share an answer
		s.settle(a, runner.Decision{Request: requestOf(c), At: time.Now()})
		return
	}
	if s.open == nil {
		s.open = map[string]*asked{}
	}
	s.open[key] = a
	request := requestOf(c)
	// The goroutine ends when the request is answered or the turn ends, and the backend
	// waits for it.
	s.wg.Go(func() {
		d := s.permit(request)
		s.mu.Lock()
		s.decided = append(s.decided, decided{key, d})
		s.mu.Unlock()
		s.wake()
	})
}

// maxTitle is the length to which titles are cut, in bytes.
const maxTitle = 1 << 10

// serverTool matches the titles of calls to tools of MCP servers: gemini's "read (files MCP
// Server)" and cline's "files__read: {…}".
var serverTool = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^(?:([\w-]+) \(([\w-]+) MCP Server\)|([\w-]+?)__([\w-]+): \{.*)$`)
})

// requestOf returns the permission request that describes a call.
func requestOf(c *toolCall) runner.PermissionRequest {
	r := runner.PermissionRequest{Kind: c.ToolKind, Command: c.command(), Paths: c.files(), Title: strings.ToValidUTF8(c.Title[:min(len(c.Title), maxTitle)], "")}
	if r.Kind == "" || c.mcp {
		r.Kind = other
	}
	if _, runs := commandIn(c.Input); runs && !c.mcp {
		r.Kind = execute // codex uses the kind "read" for a command that only reads
	}
	// The title of a call that runs a command or changes a file is not trusted, because the
	// model may have written it.
	isChange := slices.Contains([]string{execute, edit, remove, move}, r.Kind)
	if found := serverTool().FindStringSubmatch(c.Title); found != nil && !isChange {
		r.Kind, r.Tool = other, found[2]+found[3]+"__"+found[1]+found[4]
	} else if r.Kind == other && (c.mcp || c.Name != "") {
		r.Tool = c.name()
	}
	if says(c.Input) && json.Valid(c.Input) {
		r.Input = c.Input
	}
	if r.Command != "" {
		r.Beside = besides(c.Input)
	}
	if r.Own = c.own() != ""; r.Own {
		r.Kind, r.Tool, r.Command, r.Paths = other, c.name(), "", nil // the input contains our own arguments
	}
	if r.Kind == execute {
		r.Paths = nil // the only path is the working directory, not the files that the command uses
	}
	return r
}

// besideKeys are the fields of a command's input in which codex requests permissions
// beyond the command itself.
var besideKeys = []string{"additionalPermissions", "additional_permissions", "url", "urls"}

// besides returns the fields of an input that request more than the command itself, or
// nil if there are none.
func besides(input json.RawMessage) json.RawMessage {
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) != nil {
		return nil
	}
	more := map[string]json.RawMessage{}
	for _, key := range besideKeys {
		if value := in[key]; says(value) && !slices.Contains([]string{`""`, "[]"}, string(value)) {
			more[key] = value
		}
	}
	if len(more) == 0 {
		return nil
	}
	data, err := json.Marshal(more)
	if err != nil {
		return nil // cannot happen, because the values are valid JSON
	}
	return data
}

// deliver sends the client the answers that have arrived.
func (s *asks) deliver() {
	s.mu.Lock()
	come := s.decided
	s.decided = nil
	s.mu.Unlock()
	for _, d := range come {
		if a := s.open[d.key]; a != nil {
			delete(s.open, d.key)
			s.settle(a, d.decision)
		}
	}
}

// settle answers a request and records the decision.
func (s *asks) settle(a *asked, d runner.Decision) {
	if d.Allowed && !slices.ContainsFunc(a.options, func(o option) bool { return o.Kind == "allow_once" }) {
		d.Allowed, d.Why = false, "the client does not accept permission for a single call"
	}
	s.decisions = append(s.decisions, d)
	if !d.Allowed {
		s.denied = append(s.denied, streamjson.Denial{Tool: a.call.name(), ID: a.call.ID, Input: a.call.input()})
		s.stream.deny(a.call) // gemini sends no further update about the call
	}
	s.choose(a, d.Allowed)
}

// choose answers a request with one of the options that the client offers. It finds the
// option by its kind, because ids differ from client to client. It prefers options for a
// single call, because gemini and codex offer several options of the kind allow_always.
func (s *asks) choose(a *asked, allow bool) {
	kinds := []string{"reject_once", "reject_always"}
	if allow {
		kinds = []string{"allow_once", "allow_always"}
	}
	for _, kind := range kinds {
		for _, o := range a.options {
			if o.Kind == kind {
				s.send(answer(a.id, protocol.RequestPermissionResponse{
					Outcome: protocol.NewRequestPermissionOutcomeSelected(protocol.PermissionOptionId(o.ID)),
				}))
				return
			}
		}
	}
	s.send(answer(a.id, cancelledOutcome()))
}

func cancelledOutcome() protocol.RequestPermissionResponse {
	return protocol.RequestPermissionResponse{Outcome: protocol.NewRequestPermissionOutcomeCancelled()}
}

// takeBack answers all open requests with "cancelled", and records that nobody decided on
// them. Without these answers, gemini and cline hang after session/cancel.
func (s *asks) takeBack() {
	for _, key := range slices.Sorted(maps.Keys(s.open)) {
		a := s.open[key]
		delete(s.open, key)
		s.decisions = append(s.decisions, runner.Decision{Request: requestOf(a.call), By: runner.Nobody, Why: "the turn has ended", At: time.Now().UTC()})
		s.send(answer(a.id, cancelledOutcome()))
	}
}
