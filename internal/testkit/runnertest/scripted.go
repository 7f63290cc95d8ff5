package runnertest

import (
	"cmp"
	"context"
	"os"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Scripted is a [runner.Backend] that starts no processes. It provides those guarantees of
// a real backend that are possible in memory: Started is called before the first event, a
// session is created once and resumed only if it exists, a prompt with a given UUID is run
// once, Stall and Timeout are applied, and Stdout is written in a format that Follow can
// read (one event per line). Its clients can stay (see [runner.Resident]) if they have an
// output file. The zero value is ready to use, and Scripted is safe for concurrent use.
type Scripted struct {
	// Name is the name of the kind of client; "" means "scripted".
	Name string
	// Script returns the steps of a turn; nil means the steps in its prompt.
	Script func(runner.Turn) []Step
	// Outlive returns the remaining steps of a client, which Follow plays after the
	// events in the turn's file. nil means that the client is dead.
	Outlive func(runner.Turn, runner.Process) []Step
	// Plain makes it a backend for clients that cannot resume a session and that report
	// no cost.
	Plain bool
	// Asks makes it a backend for clients that name their sessions and ask
	// [runner.Turn].Permit before they run a command or write a file. These clients
	// report no cost, and run a prompt with a known UUID again.
	Asks bool
	// Quiet makes it a backend for clients that resume a session, but report no
	// compaction, run no hook and read no mail during a turn.
	Quiet bool
	// Billing is the billing of the clients' account, as they report it.
	Billing runner.Billing
	// Starts is how long a client takes to start before it gets its prompt.
	Starts time.Duration
	// Timing sets how long to wait before a prompt is considered not run. Its other
	// fields have no effect.
	Timing runner.Timing

	mu       sync.Mutex
	sessions map[string]bool
	uuids    map[string]bool
	runs     []Run
	waiting  map[runner.Process]*waiting
}

// A Run is one turn that a Scripted backend has started.
type Run struct {
	Turn     runner.Turn
	Process  runner.Process
	Followed bool // started by Follow, not by Run
	Began    time.Time
	Ended    time.Time // zero while the turn is running
	Outcome  runner.Outcome
}

// Kind returns a kind that differs from that of every real client.
func (s *Scripted) Kind() *runner.Kind {
	k := kind
	switch {
	case s.Plain:
		k = plain
	case s.Asks:
		k = asking
	case s.Quiet:
		k = quiet
	}
	k.Name = cmp.Or(s.Name, k.Name)
	return &k
}

// Runs returns all turns so far, in the order in which they began.
func (s *Scripted) Runs() []Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Run(nil), s.runs...)
}

// Running returns the number of turns that have not ended.
func (s *Scripted) Running() int {
	n := 0
	for _, r := range s.Runs() {
		if r.Ended.IsZero() {
			n++
		}
	}
	return n
}

// Forget removes a session, as if a person had deleted the client's files.
func (s *Scripted) Forget(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, session)
}

// Run plays the turn's script.
func (s *Scripted) Run(ctx context.Context, t runner.Turn) runner.Outcome {
	i, p := s.begin(t, runner.Process{}, false)
	out := s.run(ctx, t, p, os.O_TRUNC)
	s.end(i, out)
	return out
}

func (s *Scripted) run(ctx context.Context, t runner.Turn, p runner.Process, mode int) runner.Outcome {
	c, err := s.client(ctx, t, mode)
	if err != nil {
		return c.fail(runner.Failed, err.Error())
	}
	defer c.close()
	if t.Started != nil {
		if err := t.Started(p); err != nil {
			return c.fail(runner.Failed, "the turn was not recorded: "+err.Error())
		}
	}
	if s.Asks && t.Session.How != runner.Resume {
		t.Session.ID = "named-" + t.ID
	}
	c.session = t.Session.ID
	if c.session == "" {
		c.session = "scripted-" + t.ID
	}
	if mode == os.O_TRUNC { // a client that has waited for this turn already has its session
		if reason := s.takeSession(t.Session); reason != "" {
			return c.fail(runner.NoSession, reason)
		}
	}
	if s.Starts > 0 {
		select {
		case <-time.After(s.Starts):
		case <-ctx.Done():
			return c.fail(runner.Stopped, "the turn was stopped")
		}
	}
	t.IsPrompted()
	steps := script(t.Prompt)
	if s.Script != nil {
		steps = s.Script(t)
	}
	if s.takeUUID(t.UUID) && !s.Asks {
		steps = []Step{promptNotRun(s.Timing)}
	}
	return c.play(steps)
}

func (s *Scripted) client(ctx context.Context, t runner.Turn, mode int) (*client, error) {
	c, err := newClient(ctx, s.Kind(), t, mode)
	c.billing = s.Billing
	return c, err
}

// Follow emits the events in the turn's file. If none of them is a result, Follow plays
// Outlive; without Outlive it returns [runner.NoResult].
func (s *Scripted) Follow(ctx context.Context, t runner.Turn, p runner.Process) runner.Outcome {
	i, _ := s.begin(t, p, true)
	out := s.follow(ctx, t, p)
	s.end(i, out)
	return out
}

func (s *Scripted) follow(ctx context.Context, t runner.Turn, p runner.Process) runner.Outcome {
	c, err := s.client(ctx, t, os.O_APPEND)
	if err != nil {
		return c.fail(runner.NoResult, err.Error())
	}
	defer c.close()
	if err := c.replay(); err != nil {
		return c.fail(runner.NoResult, err.Error())
	}
	if len(c.account.Results()) > 0 && (c.taken || t.From == runner.Place{}) {
		return c.concluded()
	}
	if s.Outlive == nil {
		return c.fail(runner.NoResult, "the client is dead and left no result")
	}
	return c.play(s.Outlive(t, p))
}

func (s *Scripted) begin(t runner.Turn, p runner.Process, followed bool) (int, runner.Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !followed && p.PID == 0 {
		// No process has a negative PID, so no process can be signaled by mistake.
		p = runner.Process{PID: -len(s.runs) - 1, Start: 1}
	}
	s.runs = append(s.runs, Run{Turn: t, Process: p, Followed: followed, Began: time.Now()})
	return len(s.runs) - 1, p
}

func (s *Scripted) end(i int, out runner.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs[i].Ended, s.runs[i].Outcome = time.Now(), out
}

// takeSession returns the reason why the session cannot be used, or "".
func (s *Scripted) takeSession(want runner.Session) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.sessions[want.ID]
	switch {
	case want.How != runner.New && s.Plain:
		return "this client begins a new session each time"
	case want.How == runner.Resume && !known:
		return "no conversation found with session ID " + want.ID
	case want.How == runner.Fork && !s.sessions[want.From]:
		return "no conversation found with session ID " + want.From
	case (want.How == runner.New || want.How == runner.Fork) && known:
		return "session ID " + want.ID + " is already in use"
	}
	if s.sessions == nil {
		s.sessions = make(map[string]bool)
	}
	s.sessions[want.ID] = true
	return ""
}

// takeUUID reports whether a prompt with this UUID has been received before.
func (s *Scripted) takeUUID(uuid string) bool {
	if uuid == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uuids[uuid] {
		return true
	}
	if s.uuids == nil {
		s.uuids = make(map[string]bool)
	}
	s.uuids[uuid] = true
	return false
}
