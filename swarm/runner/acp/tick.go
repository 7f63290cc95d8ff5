package acp

import (
	"fmt"
	"time"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// Tick performs the actions that are due; see [follow.Protocol].
func (e *exchange) Tick(now time.Time) {
	e.asks.deliver()
	if e.followed {
		return
	}
	switch e.step {
	case starting, opening, setting, proving:
		if e.run.Stalls(now) {
			e.late("no sign of life for "+e.run.Silent(now).Round(time.Second).String(), now)
			return
		}
	}
	switch e.step {
	case starting:
		if bound := e.startBound(); now.Sub(e.since) >= bound {
			e.late("it did not answer initialize within "+bound.String(), now)
		}
	case aging:
		e.opens()
	case opening, setting:
		if now.Sub(e.since) >= e.timing.Connect {
			e.late("it did not open its session within "+e.timing.Connect.String(), now)
		}
	case replaying:
		if e.run.Silent(now) >= replayPause || now.Sub(e.since) >= longestReplay {
			e.proves()
		}
	case proving:
		if e.proved(); e.step == proving && now.Sub(e.since) >= e.timing.Connect {
			e.run.End(e.program.noTools(), now)
		}
	case working:
		e.steer()
		e.endAway(now)
	}
}

// late ends a client that takes too long to start.
func (e *exchange) late(why string, now time.Time) {
	if e.bad.count > 0 {
		why += fmt.Sprintf(", and printed %q", e.bad.first)
	}
	v := follow.Verdict{End: runner.NoFirstEvent, Reason: e.client.Kind.Title + ": " + why, Hint: e.program.hintStderr()}
	if e.step == starting && e.client.Start > 0 {
		v = e.program.refused(why + ", and may not be an ACP agent")
	}
	e.run.Kill(v, now) // the client has no work to finish
}

func (e *exchange) startBound() time.Duration {
	if e.client.Start > 0 {
		return e.client.Start
	}
	return e.timing.Connect
}

// The replay of a session counts as complete when the client has been silent for
// replayPause, and after longestReplay at the latest. The limits are needed because
// gemini continues a replay after its answer to session/load.
const (
	replayPause   = 500 * time.Millisecond
	longestReplay = 10 * time.Second
)

// proofPause is the time between two checks for the file that our tool server creates.
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

// Working reports whether the client is working on the prompt; see [follow.Protocol].
func (e *exchange) Working() bool { return e.step == working }

// Late names the service as the cause of a timeout if the client has reported that it is
// retrying the model.
func (e *exchange) Late(v follow.Verdict) follow.Verdict {
	if e.stream.trouble.retries > 0 {
		return follow.Verdict{End: runner.Limited, Reason: "the model is not answering: " + v.Reason, Hint: hintAway}
	}
	return v
}

// Cancel asks the client to cancel the turn; see [follow.Protocol].
func (e *exchange) Cancel() bool {
	if e.step != working || e.followed {
		return false
	}
	e.asks.takeBack()
	e.run.Send(request("", protocol.AgentMethodSessionCancel, protocol.CancelNotification{SessionId: protocol.SessionId(e.session.id)}))
	return true
}

// endAway ends a turn whose client is silent because its model does not answer.
func (e *exchange) endAway(now time.Time) {
	silent := e.run.Silent(now)
	if e.silence == 0 || silent < e.silence || e.stream.open() || len(e.asks.open) > 0 || e.run.Ending() {
		return
	}
	e.run.End(follow.Verdict{End: runner.Limited, Reason: e.client.Kind.Title + " has been silent for " + silent.Round(time.Second).String() + ": its model does not seem to be responding", Hint: hintAway}, now)
}

// steer sends the client the messages that have arrived. A client that does not support
// steering gets them in the next turn.
func (e *exchange) steer() {
	if !e.session.hello.Meta.Steering.Supported || e.run.Ending() || !e.reply.heard {
		return
	}
	for m := range e.run.Messages() {
		e.run.Send(e.steered.request(e.session.id, m))
	}
}
