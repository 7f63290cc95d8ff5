package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// requested handles a request of the client.
func (e *exchange) requested(m *message, raw []byte) {
	switch {
	case e.step == starting && m.Method == protocol.AgentMethodInitialize:
		e.fail(refused(e, "it repeats what it is told, and is no ACP agent"))
	case e.followed:
		// It cannot be answered: the input of the client ended with the earlier daemon.
		e.run.End(follow.Lost(), time.Now())
	case m.Method == protocol.ClientMethodSessionRequestPermission:
		if e.step == working {
			e.hear(raw)
		}
		e.permission(m, raw)
	default:
		// We have declared neither files nor terminals; opencode asks anyway.
		e.run.Send(refuseMethod(m.ID, m.Method))
	}
}

// updated handles session/update. Updates before the prompt are the replay of a session, or its
// settings.
func (e *exchange) updated(m *message, raw []byte) {
	var p struct {
		Session string `json:"sessionId"`
		Update  update `json:"update"`
	}
	lenient(m.Params, &p)
	switch {
	case p.Session != "" && e.session.id != "" && p.Session != e.session.id:
		return // of a sub-agent or an unknown session
	case e.step == working && p.Update.Kind == "state_update":
		e.state2(&p.Update, raw)
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
		return // not ours: all of ours are texts
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
		e.session.waiting--
		if m.Error != nil {
			e.fail(unknownSetting(e, id, m.Error))
		} else {
			e.set()
		}
	case strings.HasPrefix(id, idSteer):
		e.steerAnswered(id, m, raw)
	}
}

// initialized takes the answer to initialize.
func (e *exchange) initialized(m *message) {
	if m.Error != nil {
		e.fail(e.classify(m.Error, false))
		return
	}
	lenient(m.Result, &e.session.hello)
	switch v := e.session.hello.Version; {
	case v == 0:
		e.fail(refused(e, "it does not name the version of the protocol that it speaks"))
	case v != first && (v != second || e.client.Protocol != second):
		e.fail(refused(e, fmt.Sprintf("it speaks version %d of the protocol, and we speak %d", v, first)))
	case !e.followed:
		e.opens()
	default:
		e.enter(opening)
	}
}

// notOpened takes the refusal of a session.
func (e *exchange) notOpened(f *fault) {
	asked := e.turn.Session.How == runner.Resume
	switch {
	case f.Code == codeAuthRequired:
		e.fail(notSignedIn(e, f))
	case asked && f.Code == codeNoMethod && !e.session.loading && e.session.hello.Can.Load && !e.followed:
		e.session.retried = true
		e.opens()
	case asked:
		e.fail(follow.Verdict{End: runner.NoSession, Reason: f.text()})
	default:
		e.fail(e.classify(f, false))
	}
}

// finished takes the answer to the prompt, which ends the turn.
func (e *exchange) finished(m *message, raw []byte) {
	if e.reply.came {
		return // a second answer
	}
	e.hear(raw)
	e.takeBack()
	e.reply.came, e.reply.fault = true, m.Error
	result := streamjson.Result{IsError: m.Error != nil, Denials: e.asks.denied}
	if m.Error != nil {
		result.Errors = []string{m.Error.text()}
	} else {
		lenient(m.Result, &e.reply.finished)
		result.StopReason = e.reply.finished.Reason
	}
	result.CostUnknown = e.stream.cost == nil || *e.stream.cost == 0 // opencode reports 0 for a model whose price it does not know
	e.stream.end(result, e.tokens(), raw)
	now := time.Now()
	if e.mayRest() {
		e.enter(ended)
		return
	}
	e.enter(ended)
	e.run.CloseInput(now)
}

// tokens returns the token counts of the result; nil where it has none.
func (e *exchange) tokens() *streamjson.Usage {
	f := &e.reply.finished
	if e.client.Tokens == inQuota {
		if t := f.Meta.Quota.Tokens; t != nil {
			return &streamjson.Usage{Input: t.Input, Output: t.Output}
		}
		return nil
	}
	if f.Usage == nil {
		return nil
	}
	return &streamjson.Usage{Input: f.Usage.Input, Output: f.Usage.Output, CacheRead: f.Usage.CacheRead, CacheWrite: f.Usage.CacheWrite}
}

// Tick does the steps that are due; see [follow.Protocol].
func (e *exchange) Tick(now time.Time) {
	e.decisions()
	if e.followed {
		return
	}
	switch e.step {
	case starting:
		if bound := e.startBound(); now.Sub(e.since) >= bound {
			e.late("it does not answer initialize within "+bound.String(), now)
		}
	case aging:
		e.opens()
	case opening, setting:
		if now.Sub(e.since) >= e.timing.Connect {
			e.late("it does not open its session within "+e.timing.Connect.String(), now)
		}
	case replaying:
		if e.run.Silent(now) >= replayPause || now.Sub(e.since) >= longestReplay {
			e.proves()
		}
	case proving:
		if e.proved(); e.step == proving && now.Sub(e.since) >= e.timing.Connect {
			e.run.End(noTools(e), now)
		}
	case working:
		e.steer()
		e.endAway(now)
	}
}

// late ends a client that takes too long to begin.
func (e *exchange) late(why string, now time.Time) {
	if e.bad.count > 0 {
		why += fmt.Sprintf(", and prints %q", e.bad.first)
	}
	v := follow.Verdict{End: runner.NoFirstEvent, Reason: e.client.Kind.Title + ": " + why, Hint: "look at " + e.turn.Stderr}
	if e.step == starting && e.client.Start > 0 {
		v = refused(e, why+", and may be no ACP agent")
	}
	e.run.Kill(v, now) // it has nothing to finish
}

func (e *exchange) startBound() time.Duration {
	if e.client.Start > 0 {
		return e.client.Start
	}
	return e.timing.Connect
}

// The replay of a session counts as complete after this pause, or after this longest wait.
// gemini continues a replay after its answer to session/load.
const (
	replayPause   = 500 * time.Millisecond
	longestReplay = 10 * time.Second
)

// proofPause is the time between two checks for the file of our tools' server.
const proofPause = 20 * time.Millisecond

// Due returns when Tick must be called again; see [follow.Protocol].
func (e *exchange) Due() time.Time {
	if e.followed {
		return time.Time{}
	}
	switch e.step {
	case starting:
		return e.since.Add(e.startBound())
	case aging:
		return time.Now().Truncate(time.Minute).Add(time.Minute)
	case opening, setting:
		return e.since.Add(e.timing.Connect)
	case replaying:
		return time.Now().Add(replayPause / 4)
	case proving:
		return time.Now().Add(proofPause)
	case working:
		if e.silence > 0 {
			return time.Now().Add(e.silence / 20)
		}
	}
	return time.Time{}
}

// Working reports whether the client has its prompt; see [follow.Protocol].
func (e *exchange) Working() bool { return e.step == working }

// Late blames the service if the client said that it retries the model.
func (e *exchange) Late(v follow.Verdict) follow.Verdict {
	if e.stream.retries > 0 {
		return follow.Verdict{End: runner.Limited, Reason: "the model does not answer: " + v.Reason, Hint: hintAway}
	}
	return v
}

// Cancel asks the client to cancel the turn; see [follow.Protocol].
func (e *exchange) Cancel() bool {
	if e.step != working || e.followed {
		return false
	}
	e.takeBack()
	e.run.Send(request("", protocol.AgentMethodSessionCancel, protocol.CancelNotification{SessionId: protocol.SessionId(e.session.id)}))
	return true
}

// endAway ends a turn whose client is silent because its model does not answer.
func (e *exchange) endAway(now time.Time) {
	silent := e.run.Silent(now)
	if e.silence == 0 || silent < e.silence || e.stream.open() || len(e.asks.open) > 0 || e.run.Ending() {
		return
	}
	e.run.End(follow.Verdict{End: runner.Limited, Reason: e.client.Kind.Title + " has said nothing for " + silent.Round(time.Second).String() + ": its model seems not to answer", Hint: hintAway}, now)
}
