package claude

import (
	"context"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// A follower follows one turn: it is the [follow.Protocol] of Claude Code. It belongs to
// the goroutine of Run, Serve or Follow.
type follower struct {
	run    *follow.Run
	turn   runner.Turn
	timing runner.Timing

	followed bool // an earlier daemon started the client; we cannot write to its standard input
	warm     bool // the client had earlier turns
	keep     bool // the client is to stay, if it can
	rests    bool // the client stays

	proof    proof // the proof that the client has our tools
	steering steering
	seen     seen
}

// seen contains the facts from the client's events that [runner.Account] does not keep.
type seen struct {
	init     bool
	replay   time.Time // when our prompt was repeated; zero: not yet
	after    bool      // an event came after the repeated prompt
	before   int       // results before the repeated prompt
	problem  string    // error word of the last assistant line
	words    string    // the last text of the main conversation
	api      streamjson.APIError
	source   string    // the source of the client's API key
	resetAt  time.Time // from a rate limit event
	refusals int       // retries after a refused key or login
	asking   bool      // the client retries a request and has had no answer since

	cut bool // the client reached its cap while a sub-agent worked

	tasks tasks // what the client runs in parallel with the conversation
	taken bool  // the client says that it has our prompt, which it repeats later
}

func (b *backend) newFollower(ctx context.Context, t runner.Turn) *follower {
	r := &follower{turn: t, timing: b.options.Timing, warm: t.From != runner.Place{}}
	r.run = follow.New(ctx, t, &kind, r, b.options)
	r.steering.resume(t.Steered)
	return r
}

// judge returns the verdict on the turn.
func (r *follower) judge() follow.Verdict { return judge(r.evidence()) }

// evidence returns the facts that the follower knows about the turn.
func (r *follower) evidence() evidence {
	return evidence{
		turn: r.turn, cause: r.run.Cause(), own: r.judged(), began: r.run.Account.Began(), problem: r.seen.problem, words: r.seen.words, api: r.seen.api, source: r.seen.source,
		stderr: r.run.Stderr(), exit: r.run.Exit(), followed: r.followed,
		cut: r.cut(), untaken: r.warm && r.seen.replay.IsZero(), resetAt: r.seen.resetAt, now: time.Now(),
	}
}

// Late returns v, the verdict on a turn that exceeded a time limit. But if the client
// waits for an API that does not answer, Late blames the service.
func (r *follower) Late(v follow.Verdict) follow.Verdict {
	if !r.seen.asking {
		return v
	}
	return limited("the API does not answer: "+v.Reason, hintAway)
}
