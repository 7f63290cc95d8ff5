package claude

import (
	"context"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// A follower follows one turn. It implements [follow.Protocol] for Claude Code. Only the
// goroutine of Run, Serve or Follow uses it.
type follower struct {
	run    *follow.Run
	turn   runner.Turn
	timing runner.Timing

	followed bool // an earlier daemon started the client; we cannot write to its standard input
	warm     bool // the client has already run earlier turns
	keep     bool // keep the client for the next turn if possible
	rests    bool // the client stays for the next turn

	proof    proof // the proof that the client has our tools
	steering steering
	spending spending
	seen     seen
}

// seen contains the facts from the client's events that [runner.Account] does not record.
type seen struct {
	init     bool
	replay   time.Time // when our prompt was repeated; zero if it has not been repeated yet
	after    bool      // an event has arrived since the prompt was repeated
	before   int       // number of results before the prompt was repeated
	problem  string    // error name on the last assistant line
	words    string    // the last text of the main conversation
	api      streamjson.APIError
	source   string         // the source of the client's API key
	resetAt  time.Time      // from a rate limit event
	refusals int            // number of retries after a rejected key or login
	answers  bool           // the model, or the client in its place, has begun to answer
	refusal  follow.Verdict // the verdict if a hook refused the prompt; otherwise End is ""
	asking   bool           // the client is retrying a request and has not had an answer since

	cut bool // the client reached its cap while a sub-agent was working

	tasks tasks // what the client runs in parallel with the conversation
	taken bool  // the client has reported that it has our prompt, which it repeats later
}

func (b *backend) newFollower(ctx context.Context, t runner.Turn) *follower {
	r := &follower{turn: t, timing: b.options.Timing, warm: t.From != runner.Place{}}
	r.run = follow.New(ctx, t, &kind, r, b.options)
	r.steering.resume(t.Steered)
	return r
}

// judge returns the verdict on the turn.
func (r *follower) judge() follow.Verdict { return judge(r.evidence()) }

// evidence returns the facts on which the verdict is based.
func (r *follower) evidence() evidence {
	return evidence{
		turn: r.turn, cause: r.run.Cause(), own: r.judged(), began: r.run.Account.Began(), problem: r.seen.problem, words: r.seen.words, api: r.seen.api, source: r.seen.source,
		stderr: r.run.Stderr(), exit: r.run.Exit(), followed: r.followed,
		cut: r.cut(), untaken: r.warm && r.seen.replay.IsZero(), resetAt: r.seen.resetAt, now: time.Now(),
	}
}

// Late returns v, the verdict on a turn that exceeded a time limit. If the client is
// waiting for an API that does not answer, Late instead returns a verdict that names the
// service as the cause.
func (r *follower) Late(v follow.Verdict) follow.Verdict {
	if !r.seen.asking {
		return v
	}
	return unavailable("the API is not answering: "+v.Reason, runner.ServiceAway)
}
