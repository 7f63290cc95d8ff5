package swarm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"math/rand/v2"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// The keys of the daemon's log.
const (
	keyAgent   = "agent"
	keyMessage = "message"
	keyTurn    = "turn"
	keyErr     = "err"
	keyState   = "state"
	keyWhy     = "why"
	keyTook    = "took"
	keyCost    = "cost_usd"
)

// house is what all agents of a daemon share. Everything in it is safe for
// several goroutines.
type house struct {
	home     journal.Home
	environ  []string
	store    *dropbox.Store
	ledger   *journal.Ledger
	holds    *journal.Holds
	sessions *journal.Sessions
	counts   journal.TurnCounts
	tokens   *journal.Tokens
	feed     *feed
	slots    *slots
	deps     *turn.Deps // of the turns
	restart  RestartPolicy
	log      *slog.Logger
	mail     *mail.Service
	wakeAll  func(account string)
	plan     func() Plan
	advise   func(Spec) string // nil: nothing
}

// An agent owns one mailbox and one session. Its goroutine is the one that runs
// run; fields below own are touched by nothing else.
type agent struct {
	*house
	name    string
	inbox   *mail.Inbox
	bell    doorbell
	view    view
	turns   *turn.Turns
	control control

	// own
	log *slog.Logger
	// unsettled says that cur/ may hold what is to be taken up: at the start, and
	// after the disk refused to file what came of a turn.
	unsettled bool
	hidden    *turn.Secrets
}

// Why a turn is ended before its end; the causes of its context.
var (
	errAborted     = errors.New("aborted")
	errInterrupted = errors.New("interrupted")
	errStopping    = errors.New("the daemon is stopping")
)

// run serves the agent until stop is done, then lets the running turn end; when
// kill is done it ends that too. It takes up first what an earlier daemon left,
// and then calls ready. A panic is a broken promise of ours: it stops this
// agent alone, until a person starts it again.
func (a *agent) run(stop, kill context.Context, ready func()) {
	defer a.inbox.AgentLog.Close()
	ready = sync.OnceFunc(ready)
	for a.serve(stop, kill, ready) {
		ready()
		for stop.Err() == nil && a.stopped() {
			a.bell.wait(stop, forever)
		}
	}
}

// serve is run until a panic; it tells whether there was one.
func (a *agent) serve(stop, kill context.Context, ready func()) (panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			panicked = true
			a.log.Error("agent panicked", keyErr, fmt.Sprint(p), "stack", string(debug.Stack()))
			why := "a fault in claude-swarm: " + fmt.Sprint(p)
			hint := "report it with " + a.home.DaemonLog() + ", then claude-swarm start " + a.name
			a.halt(why, hint)
			a.show(Stopped, why, hint)
		}
	}()
	defer func() { a.turns.Close(kill, "its agent ends") }()
	a.show(Starting, "", "")
	a.inbox.Queue.Changed("")
	a.unsettled = true
	if !a.control.attached() { // what lies in cur/ of an attached agent is its session's
		if err := a.settleLeft(kill); err != nil {
			a.diskTrouble(stop, "take up what was left", err)
		}
	}
	ready()
	for stop.Err() == nil {
		if wait := a.step(stop, kill); wait != 0 {
			a.rest(stop, wait)
		}
	}
	return false
}

// forever is longer than any wait that means something; the 30 s look at the
// folders rings anyway.
const forever = 365 * 24 * time.Hour

// wait returns at the next ring, after d, or when ctx is done.
func (b doorbell) wait(ctx context.Context, d time.Duration) {
	if d != forever {
		b.waitFor(ctx, d)
		return
	}
	select { // an idle agent holds no timer
	case <-b:
	case <-ctx.Done():
	}
}

func (b doorbell) waitFor(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-b:
	case <-t.C:
	case <-ctx.Done():
	}
}

// step does the next thing that is to be done, and says how long nothing will
// be; 0 means look again at once.
func (a *agent) step(stop, kill context.Context) time.Duration {
	if a.turns.HasClient() {
		a.tend(kill)
	}
	if wait, held := a.held(time.Now()); held {
		a.turns.Close(kill, "the agent is held")
		return wait
	}
	if err := a.settleLeft(kill); err != nil {
		return a.diskTrouble(stop, "take up what was left", err)
	}
	if o := a.holds.Of(a.name).Order; o != nil {
		return a.obey(stop, kill, o)
	}
	if err := a.inbox.Queue.Refresh(a.list); err != nil {
		return a.diskTrouble(stop, "list the mailbox", err)
	}
	e, ok := a.inbox.Queue.Head()
	if !ok {
		a.turns.ClientWaits()
		a.show(Idle, "", "")
		return forever
	}
	if m, err := a.inbox.Box.Read(e); err == nil {
		if !m.Type.Wakes() {
			a.inbox.Queue.MarkNote(e)
			return 0
		}
		if a.holdForTurns(m) {
			return 0
		}
	}
	if a.slots.full() {
		a.turns.ClientWaits()
		a.show(Queued, "all places for running turns are taken", "runs as soon as one is free")
	}
	var wake doorbell
	if a.turns.HasClient() {
		wake = a.bell // it may have to be closed meanwhile
	}
	switch err := a.slots.acquire(stop, e.Base(), wake); {
	case errors.Is(err, errWoken):
		return 0
	case err != nil:
		return forever // stop is done
	}
	defer a.slots.release()
	if _, held := a.held(time.Now()); held { // while it waited
		return 0
	}
	return a.work(stop, kill)
}

// list lists the agent's mail. The lead is told of what was among it and is none.
func (a *agent) list() ([]dropbox.Entry, error) {
	entries, aside, err := a.inbox.Box.ListAside()
	a.house.tellAside(a.inbox.Box, aside)
	return entries, err
}

// settleLeft takes up what is left in cur/, if there may be something.
func (a *agent) settleLeft(kill context.Context) error {
	if !a.unsettled {
		return nil
	}
	if err := a.takeUp(kill); err != nil {
		return err
	}
	a.unsettled = false
	return nil
}

// held tells whether something keeps the agent from working now, shows it, and
// says when to look again.
func (a *agent) held(now time.Time) (time.Duration, bool) {
	if a.control.attached() {
		a.unsettled = true // for the day when it is the daemon's again
		why, next := attachedStatus(a.home, a.name)
		a.show(Away, why, next)
		return forever, true
	}
	st := a.holds.Of(a.name)
	if p := st.Paused; p != nil && p.Since.Sub(now) > journal.ClockStep {
		// The clock was set back: the pause does not last longer for that.
		back := *p
		back.Since = now.UTC()
		if !p.Until.IsZero() {
			back.Until = p.Until.Add(-p.Since.Sub(now)).UTC()
		}
		st.Paused = &back
		a.inbox.Note(a.holds.Change(a.name, func(s *journal.Hold) { s.Paused = &back }))
	}
	switch {
	case st.Stopped != nil:
		a.view.breaker(st.Stopped.Breaker)
		a.showSince(Stopped, st.Stopped.Since, st.Stopped.Reason(), orElse(st.Stopped.Hint, "claude-swarm start "+a.name))
		return forever, true
	case st.Paused.Holds(now):
		next := "claude-swarm resume " + a.name
		if !st.Paused.Until.IsZero() {
			next = "goes on by itself at " + screen.Ahead(st.Paused.Until, time.Now()) + ", or " + next
		}
		a.showSince(Paused, st.Paused.Since, st.Paused.Reason(), next)
		return until(st.Paused.Until, now), true
	case st.Paused != nil:
		a.inbox.Note(a.holds.Change(a.name, func(s *journal.Hold) { s.Paused = nil }))
	}
	a.view.breaker(false)
	account := a.account()
	if l, end, ok := a.holds.LimitOf(account, a.name, now); ok {
		a.view.limited(&LimitStatus{Account: account, Until: end.UTC(), Hint: l.Hint})
		a.showSince(Limited, l.Since, l.Why, afterLimit(l, a.name, end))
		a.tellLimit(account, l)
		return until(end, now), true
	}
	if st.Until.After(now) {
		// A clock that was set back must not hold an agent longer than the
		// longest wait that there is.
		if st.Until.Sub(now) <= 2*a.restart.orDefaults().MaxDelay {
			a.show(Backoff, st.Why, "tries again at "+screen.Ahead(st.Until, time.Now())+", or at once after claude-swarm resume "+a.name)
			return until(st.Until, now), true
		}
	}
	if a.store.Halted() {
		a.show(Paused, "everything is halted", "claude-swarm unhalt")
		return forever, true
	}
	return 0, false
}

// until is how long it is from now to t; a zero t is never.
func until(t, now time.Time) time.Duration {
	if t.IsZero() {
		return forever
	}
	return max(t.Sub(now), time.Millisecond)
}

func (a *agent) spec() Spec { return a.control.settings() }

// settings are how the agent's next turn is run.
func (a *agent) settings() turn.Settings {
	s := a.spec()
	s.Tools = a.hasTools(s)
	client := s.Client
	client.System = systemText(s, a.plan(), filepath.Join(a.store.Dir(), a.name))
	return turn.Settings{
		Backend: s.Backend, Client: client, Env: s.Env, EnvDrop: s.EnvDrop,
		Session: s.Session, Linger: s.Linger, WindowTokens: s.windowTokens(), Tools: s.Tools,
	}
}

// kind is what is known of the agent's kind of client.
func (a *agent) kind() *runner.Kind { return turn.BackendOf(a.deps.Backends, a.spec().Backend).Kind() }

// hasTools tells whether the agent's client gets the tools of the swarm.
func (a *agent) hasTools(s Spec) bool { return s.Tools && a.deps.Tools != nil }

// tend closes the client that waits when it is to wait no longer.
func (a *agent) tend(kill context.Context) { a.turns.Tend(kill, a.settings(), a.unsettled) }

// rest waits until there may be something to do, d at most. This and what it calls
// for an idle agent have small frames: a stack of 4 KiB does for them.
func (a *agent) rest(ctx context.Context, d time.Duration) {
	a.turns.ClientWaits()
	if !a.turns.HasClient() {
		a.bell.wait(ctx, d)
		return
	}
	a.turns.Rest(ctx, a.bell, d)
}

// stopped tells whether the agent is to stay stopped.
func (a *agent) stopped() bool { return a.holds.Of(a.name).Stopped != nil }

// show publishes a change of state.
func (a *agent) show(s State, why, next string) { a.showSince(s, time.Now(), why, next) }

func (a *agent) showSince(s State, since time.Time, why, next string) {
	a.view.waiting(a.inbox.Queue.Waiting())
	if !a.view.set(s, since, why, next) {
		return
	}
	a.log.Info("agent state changed", keyState, string(s), keyWhy, why)
	a.feed.publish(FeedEvent{Kind: FeedState, At: time.Now().UTC(), Agent: a.name, State: s, Text: why})
}

// diskTrouble shows that the agent cannot use its files, and says when to try
// again. Nothing is claimed meanwhile.
func (a *agent) diskTrouble(ctx context.Context, doing string, err error) time.Duration {
	a.log.Error("mailbox not usable", "doing", doing, keyErr, err)
	a.show(Backoff, "cannot "+doing+": "+err.Error(), "tries again every "+a.restart.Disk.String()+"; see claude-swarm doctor")
	a.inbox.Queue.Changed("")
	t := time.NewTimer(a.restart.Disk)
	defer t.Stop()
	select { // not the doorbell: trouble that rings must not spin
	case <-t.C:
	case <-ctx.Done():
	}
	return 0
}

// halt opens the breaker: the agent stops until a person says so.
func (a *agent) halt(why, hint string) {
	now := time.Now().UTC()
	a.inbox.Note(a.holds.Change(a.name, func(s *journal.Hold) {
		s.Stopped = &journal.Stop{By: dropbox.Swarm, Why: why, Hint: hint, Since: now, Breaker: true}
	}))
	a.tellLead("stopped:"+a.name+":"+now.Format(time.RFC3339), a.name+" is stopped",
		fmt.Sprintf("%s is stopped: %s.\n\nIts mail waits. To go on: %s\n", a.name, why, hint))
}

// account names the account that the agent's client uses: agents that share a
// login or key share its usage limit.
func (a *agent) account() string { return accountOf(a.kind().Login, a.environ, a.spec()) }

// jitter is the share by which a wait is lengthened.
func jitter(d time.Duration) time.Duration { return jittered(d, rand.Float64()) }

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
