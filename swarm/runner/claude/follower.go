package claude

import (
	"context"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A follower follows one turn. All of it belongs to the goroutine of Run or Follow.
type follower struct {
	ctx    context.Context // Run's own, for as long as Run
	turn   runner.Turn
	timing runner.Timing
	began  time.Time

	client client
	feed   *feed // nil: its standard input is not ours
	output output
	ladder runner.Ladder
	cause  verdict // why the client is being ended, if it is
	proof  proof   // that it has its tools
	over   over

	steering steering
	account  runner.Account
	seen     seen
	poll     poller
	watch    watch
	room     runner.Room
}

// client is the client of a turn, and how the turn came by it.
type client struct {
	process  runner.Client // nil: dead
	followed bool          // by Follow: nothing of ours goes to its standard input
	warm     bool          // it had earlier turns
	keep     bool          // it is to stay, if it can
}

// output is how much a client has printed, in bytes.
type output struct {
	most    int64 // above which it is ended
	read    int64
	flooded bool // it has printed more than most, whether that was read or not
}

// over has the facts at the end of the turn.
type over struct {
	rests    bool         // its client stays
	place    runner.Place // where the next turn begins
	finished bool         // nothing of the turn runs any more: exit is known
	exit     runner.Exit
	stderr   string // the end of it
}

// seen has the facts from the stream that the account does not keep.
type seen struct {
	last     time.Time // when the last event came, or may still be waited for
	init     bool
	replay   time.Time // of our prompt; zero: not yet
	after    bool      // something followed that
	before   int       // results before it
	closing  time.Time // when the group is killed because it does not go; zero: not armed
	problem  string    // error word of the last assistant line
	words    string    // text of the last assistant line
	api      streamjson.APIError
	source   string    // where the client has its API key from
	resetAt  time.Time // told by a rate limit event
	refusals int       // retries after a refused key or login
	asking   bool      // the client asks the API again, and had no answer since

	tasks tasks // what it minds beside the conversation
	taken bool  // it says that it has our prompt, which it repeats later
}

// watch has the state of the looks at intervals.
type watch struct {
	stderrAt time.Time     // next look at how much it has printed
	cramped  bool          // there was no room for what it may have said
	sampleAt time.Time     // when the second look at the processor time is due; zero: no first one yet
	sample   time.Duration // what the first look saw
}

func (b *backend) newFollower(ctx context.Context, t runner.Turn) *follower {
	now := time.Now()
	r := &follower{ctx: ctx, turn: t, timing: b.timing, began: now, poll: newPoller(b.timing.Poll)}
	r.client.warm, r.output.most = t.From != runner.Place{}, b.maxOutput
	r.account = runner.NewAccount(&kind, t.From)
	r.ladder.Timing = b.timing
	r.steering.rung = true
	r.steering.resume(t.Steered)
	r.seen.last = now
	return r
}

// judge returns the verdict on the turn.
func (r *follower) judge() verdict { return judge(r.evidence()) }

// evidence has the facts that the follower knows about the turn.
func (r *follower) evidence() evidence {
	return evidence{
		turn: r.turn, cause: r.cause, own: r.judged(), began: r.account.Began(), problem: r.seen.problem, words: r.seen.words, api: r.seen.api, source: r.seen.source,
		stderr: r.over.stderr, exit: r.over.exit, followed: r.client.followed,
		untaken: r.client.warm && r.seen.replay.IsZero(), resetAt: r.seen.resetAt, now: time.Now(),
	}
}

// unlessAway is what ends a turn for its time, unless its client waits for an API
// that does not answer: then the service is at fault.
func (r *follower) unlessAway(v verdict) verdict {
	if !r.seen.asking {
		return v
	}
	return limited("the API does not answer: "+v.reason, hintAway)
}
