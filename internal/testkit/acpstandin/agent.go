package acpstandin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"time"
)

// serve answers messages until the input ends.
func (a *agent) serve() int {
	for {
		m, err := a.conn.read()
		if e, ok := errors.AsType[*rpcError](err); ok {
			a.conn.write("", map[string]any{"id": nil, "error": e})
			continue
		} else if err != nil {
			if !errors.Is(err, io.EOF) {
				a.complain(err)
			}
			return a.leave()
		}
		switch {
		case m.Method == "" && !a.conn.answered(m):
			a.complain(errors.New("an answer to nothing: " + string(m.ID)))
		case m.Method == "":
		case m.ID == nil:
			a.notified(m)
		case m.Method == "session/prompt":
			a.prompt(m)
		default:
			after := func() {}
			result, err := a.request(m, &after)
			a.conn.answer(m, result, err)
			after()
		}
	}
}

// leave does what the client does after its input has ended, and returns the exit status.
func (a *agent) leave() int {
	if a.deaf.Load() {
		select {}
	}
	if a.turn.Load() != nil {
		return 0 // the turn owns the session; its servers' input ends when this process exits
	}
	a.late.Wait()
	for _, s := range a.sessions {
		if len(s.servers) > 0 && a.is.StaysOpen {
			a.complain(errors.New("its input has ended, and it stays"))
			select {} // waits for a signal
		}
		for _, server := range s.servers {
			server.close()
		}
	}
	time.Sleep(time.Duration(a.is.ExitAfter) * time.Millisecond)
	return 0
}

// notified handles a notification. It ignores unknown notifications.
func (a *agent) notified(m message) {
	if t := a.turn.Load(); m.Method == "session/cancel" && t != nil && !a.deaf.Load() {
		t.cancel(errCancelled)
	}
}

// params contains the parameters of all requests that the stand-in supports.
type params struct {
	Protocol  *int              `json:"protocolVersion"`
	SessionID string            `json:"sessionId"`
	Cwd       string            `json:"cwd"`
	Servers   []json.RawMessage `json:"mcpServers"`
	Prompt    []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"prompt"`
	ModeID   string `json:"modeId"`
	ModelID  string `json:"modelId"`
	ConfigID string `json:"configId"`
	Value    string `json:"value"`
}

// text returns the text of the prompt.
func (p *params) text() string {
	text := ""
	for _, block := range p.Prompt {
		text += block.Text
	}
	return text
}

// request answers every request except session/prompt. It can return a function, after,
// that must run after the answer has been written.
func (a *agent) request(m message, after *func()) (any, error) {
	var p params
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return nil, invalid("%v", err)
	}
	switch m.Method {
	case "initialize":
		if p.Protocol == nil {
			return nil, invalid("protocolVersion is missing")
		}
		return a.initialized(), nil
	case "session/new":
		if a.is.Login {
			return nil, &rpcError{Code: -32000, Message: "Authentication required"}
		}
		return a.begin(m, &p, after, nil)
	case "session/resume", "session/load":
		if m.Method == "session/resume" && !a.is.Resume || m.Method == "session/load" && !a.is.Load {
			return nil, notFound(m.Method)
		}
		s, err := a.open(p.SessionID, p.Cwd)
		if err != nil {
			return nil, err
		}
		if a.sessions[s.ID] != nil {
			return nil, &rpcError{Code: -32602, Message: "Session " + s.ID + " is already loaded"}
		}
		return a.begin(m, &p, after, s)
	}
	s := a.sessions[p.SessionID]
	switch {
	case m.Method == "session/set_mode" && a.is.ModesBy != "options", m.Method == "session/set_model" && a.is.ModesBy == "modes",
		m.Method == "session/set_config_option" && a.is.ModesBy != "modes", m.Method == "session/close" && a.is.Resume,
		m.Method == "_session/steering" && a.is.Steering:
	default:
		return nil, notFound(m.Method)
	}
	if s == nil {
		return nil, a.unknownSession(p.SessionID)
	}
	switch {
	case m.Method == "session/close":
		for _, server := range s.servers {
			server.close()
		}
		delete(a.sessions, s.ID)
	case m.Method == "_session/steering":
		return a.steered(&p), nil
	case m.Method == "session/set_model", p.ConfigID == "model":
		s.Model = p.ModelID + p.Value // only one of the two parameters is set
	case !slices.Contains(a.is.Modes, p.ModeID+p.Value):
		return nil, invalid("no mode is called %q", p.ModeID+p.Value)
	default:
		s.Mode = p.ModeID + p.Value
	}
	return map[string]any{}, s.save()
}

// initialized returns the answer to initialize, which lists the agent's capabilities.
func (a *agent) initialized() any {
	sessions := map[string]any{}
	if a.is.Resume {
		sessions["resume"], sessions["close"] = map[string]any{}, map[string]any{}
	}
	info := map[string]any{"name": a.is.Name, "version": a.is.Version}
	if a.is.Title != "" {
		info["title"] = a.is.Title
	}
	result := map[string]any{
		"protocolVersion": a.is.Protocol, "agentInfo": info,
		"agentCapabilities": map[string]any{"loadSession": a.is.Load, "sessionCapabilities": sessions,
			"promptCapabilities": map[string]any{"image": true, "embeddedContext": true}, "mcpCapabilities": map[string]any{"http": false, "sse": false}},
		"authMethods": []any{map[string]any{"id": "key", "name": "API Key", "description": "Use an API key"}},
	}
	if a.is.Steering {
		result["_meta"] = map[string]any{"steering": map[string]any{"supported": true}}
	}
	return result
}

// begin opens the session s, or a new session if s is nil.
func (a *agent) begin(m message, p *params, after *func(), s *session) (any, error) {
	if !filepath.IsAbs(p.Cwd) {
		return nil, invalid("cwd: %q is not an absolute path", p.Cwd)
	}
	specs, err := a.serverSpecs(p)
	if err != nil {
		return nil, err
	}
	result := map[string]any{}
	var replayed []said
	if s == nil {
		s = a.create(p.Cwd)
		result["sessionId"] = s.ID
		if mode := a.getenv("INITIAL_AGENT_MODE"); slices.Contains(a.is.Modes, mode) {
			s.Mode = mode
		}
	} else if m.Method == "session/load" {
		replayed = s.History
	}
	a.sessions[s.ID] = s
	s.waiting = specs
	if !a.is.LateServers {
		a.startServers(s)
	}
	a.leaveDaemon()
	late := 0
	if a.is.Late && len(replayed) > 1 {
		late = len(replayed) / 2
	}
	for _, entry := range replayed[:len(replayed)-late] {
		a.update(s, entry.Update)
	}
	*after = func() {
		for _, entry := range replayed[len(replayed)-late:] {
			a.update(s, entry.Update)
		}
		a.update(s, map[string]any{"sessionUpdate": "available_commands_update", "availableCommands": []any{map[string]any{"name": "init", "description": "makes a file"}}})
	}
	a.describe(s, result)
	return result, nil
}

// describe adds the modes and models of a session to result.
func (a *agent) describe(s *session, result map[string]any) {
	switch a.is.ModesBy {
	case "both":
		result["configOptions"] = []any{option("mode", s.Mode, a.is.Modes)}
	case "options":
		result["configOptions"] = []any{option("model", s.Model, append([]string{s.Model}, a.is.Models...)), option("mode", s.Mode, a.is.Modes)}
		return
	}
	var modes, models []any
	for _, mode := range a.is.Modes {
		modes = append(modes, map[string]any{"id": mode, "name": mode})
	}
	for _, model := range a.is.Models {
		models = append(models, map[string]any{"modelId": model, "name": model})
	}
	result["modes"] = map[string]any{"availableModes": modes, "currentModeId": s.Mode}
	if a.is.ModesBy == "both" {
		return
	}
	result["models"] = map[string]any{"availableModels": models, "currentModelId": s.Model}
}

func option(id, value string, values []string) any {
	var all []any
	for _, v := range slices.Compact(values) {
		all = append(all, map[string]any{"value": v, "name": v})
	}
	return map[string]any{"type": "select", "id": id, "name": id, "category": id, "currentValue": value, "options": all}
}

// update sends session/update.
func (a *agent) update(s *session, update map[string]any) {
	p := map[string]any{"sessionId": s.ID, "update": update}
	if a.is.Noise {
		p["_unknown"] = []int{1}
		update["_unknown"] = map[string]any{"deep": true}
	}
	a.conn.notify("session/update", p)
}

// prompt begins a turn.
func (a *agent) prompt(m message) {
	var p params
	if err := json.Unmarshal(m.Params, &p); err != nil {
		a.conn.answer(m, nil, invalid("%v", err))
		return
	}
	s := a.sessions[p.SessionID]
	if s == nil {
		a.conn.answer(m, nil, a.unknownSession(p.SessionID))
		return
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	t := &turn{a: a, s: s, ctx: ctx, cancel: cancel, steering: make(chan string, 16)}
	if !a.turn.CompareAndSwap(nil, t) {
		a.conn.answer(m, nil, errors.New("SessionRuntime state is \"running\""))
		return
	}
	go t.run(m, p.text()) // runs until the process exits
}

// steered delivers a message to the running turn.
func (a *agent) steered(p *params) any {
	if t := a.turn.Load(); t != nil {
		select {
		case t.steering <- p.text():
			return map[string]any{"outcome": "injected"}
		default:
		}
	}
	return map[string]any{"outcome": "rejected"}
}
