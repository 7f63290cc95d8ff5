package acp

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// line handles one line from the client.
func (e *exchange) line(line []byte, whole bool) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	m, ok := parse(line)
	if !ok || !whole {
		before := len(line)
		if whole {
			if glued, n, ok := gluedAnswer(line); ok {
				m, before = glued, n
			}
		}
		e.badLine(line[:before])
		if line = line[before:]; len(line) == 0 {
			return
		}
	}
	switch {
	case m.isRequest():
		e.requested(&m, line)
	case m.isAnswer():
		e.answered(&m, line)
	case m.Method == "session/update":
		e.updated(&m, line)
	case e.step == working:
		e.hear(line)
		e.stream.skip(m.Method, line)
	}
}

// badLine counts text from the client that is not a message, and passes it on.
func (e *exchange) badLine(text []byte) {
	e.bad.add(text)
	if e.step == starting && e.bad.count > maxBad {
		e.fail(e.program.notACP(&e.bad))
	} else if e.step == working {
		e.stream.event(streamjson.Event{Kind: streamjson.KindBad}, text)
	}
}

// requested handles a request from the client.
func (e *exchange) requested(m *message, raw []byte) {
	switch {
	case e.step == starting && m.Method == protocol.AgentMethodInitialize:
		e.fail(e.program.refused("it echoes its input, so it is not an ACP agent"))
	case e.followed:
		// We cannot answer it, because the client's input closed when the earlier daemon
		// ended.
		e.run.End(follow.Lost(), time.Now())
	case m.Method == protocol.ClientMethodSessionRequestPermission:
		if e.step == working {
			e.hear(raw)
		}
		if e.asks.count >= maxRequests {
			e.run.Kill(tooManyRequests(), time.Now()) // if the request were merely refused, the client would keep asking
			return
		}
		e.asks.requested(m, e.step != working || e.run.Ending(), raw)
	default:
		// We have not declared support for files or terminals, but opencode requests them
		// anyway.
		e.run.Send(refuseMethod(m.ID, m.Method))
	}
}

// updated handles session/update. Updates before the prompt replay the session or contain its
// settings.
func (e *exchange) updated(m *message, raw []byte) {
	var p struct {
		Session string `json:"sessionId"`
		Update  update `json:"update"`
	}
	lenient(m.Params, &p)
	switch {
	case p.Session != "" && e.session.id != "" && p.Session != e.session.id:
		return // an update for a sub-agent or an unknown session
	case e.step == working && p.Update.Kind == "state_update":
		// Before it accepts the prompt, the client also reports that it is idle.
		if m, ok := p.Update.answer2(); ok && e.reply.accepted {
			e.finished(&m, raw)
		} else {
			e.stream.skip("state_update", raw)
		}
	case e.step == working:
		e.hear(raw)
		e.stream.observe(&p.Update, raw)
	case p.Update.Cost != nil && strings.EqualFold(p.Update.Cost.Currency, "USD"):
		e.run.Account.BaseCost(p.Update.Cost.Amount)
	}
}

// answered handles the answer to one of our requests.
func (e *exchange) answered(m *message, raw []byte) {
	var id string
	if json.Unmarshal(m.ID, &id) != nil {
		return // not one of our ids, which are always strings
	}
	switch {
	case id == e.promptID() && e.session.hello.Version == second && m.Error == nil:
		e.reply.accepted = true
	case id == e.promptID():
		e.finished(m, raw)
	case id == idStart && e.step == starting:
		e.initialized(m)
	case id == idOpen && e.step == opening:
		if m.Error != nil {
			e.notOpened(m.Error)
		} else {
			e.opened(m.Result)
		}
	case (id == idSetMode || id == idModel) && e.step == setting:
		if v := e.handshake.settingAnswered(id, m.Error); v.End != "" {
			e.fail(v)
		} else {
			e.set()
		}
	case strings.HasPrefix(id, idSteer):
		if ev, taken := e.steered.answered(id, m); taken {
			e.stream.event(ev, raw)
		}
	}
}

// initialized handles the answer to initialize.
func (e *exchange) initialized(m *message) {
	switch v := e.handshake.initialized(m); {
	case v.End != "":
		e.fail(v)
	case !e.followed:
		e.opens()
	default:
		e.enter(opening)
	}
}

// notOpened handles the client's refusal to open a session.
func (e *exchange) notOpened(f *fault) {
	if !e.followed && e.handshake.triesLoad(f) {
		e.opens()
		return
	}
	e.fail(e.handshake.notOpened(f))
}

// finished handles the answer to the prompt, which ends the turn.
func (e *exchange) finished(m *message, raw []byte) {
	if e.reply.came {
		return // a second answer
	}
	e.hear(raw)
	e.asks.takeBack()
	e.reply.came, e.reply.fault = true, m.Error
	result := streamjson.Result{IsError: m.Error != nil, Denials: e.asks.denied}
	if m.Error != nil {
		result.Errors = []string{m.Error.text()}
	} else {
		lenient(m.Result, &e.reply.finished)
		result.StopReason = e.reply.finished.Reason
	}
	result.CostUnknown = e.stream.cost == nil || *e.stream.cost == 0 // opencode reports 0 if it does not know the model's price
	e.stream.end(result, e.reply.tokens(e.client.Tokens), raw)
	rests := e.mayRest()
	e.enter(ended)
	if !rests {
		e.run.CloseInput(time.Now())
	}
}
