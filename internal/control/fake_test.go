package control_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/whisper"
)

// fakeDaemon behaves like a daemon with two agents, coder and reviewer. It records the
// requests that it receives.
type fakeDaemon struct {
	turn chan struct{} // closed when coder's running turn has ended

	mu     sync.Mutex
	asked  []string
	reload error
	opened chan *fakeFeed
}

func newFakeDaemon() *fakeDaemon {
	return &fakeDaemon{turn: make(chan struct{}), opened: make(chan *fakeFeed, 16)}
}

func (d *fakeDaemon) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, fmt.Sprintf(format, args...))
}

func (d *fakeDaemon) notes() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.asked)
}

func (d *fakeDaemon) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = nil
}

func (d *fakeDaemon) check(agent string) error {
	if agent != "coder" && agent != "reviewer" {
		return &swarm.UnknownAgentError{Name: agent, Near: []string{"coder"}}
	}
	return nil
}

func (d *fakeDaemon) Status(names ...string) (swarm.Status, error) {
	d.note("status %s", strings.Join(names, " "))
	st := swarm.Status{V: 1, Project: "/p", Daemon: &swarm.DaemonStatus{PID: 42, Version: "1.0"}}
	if len(names) == 0 {
		names = []string{"coder", "reviewer"}
	}
	for _, name := range names {
		if name == "boom" {
			panic("boom")
		}
		if name == "huge" {
			st.Trouble = []swarm.Problem{{Why: strings.Repeat("x", 2<<20)}}
			continue
		}
		if err := d.check(name); err != nil {
			return swarm.Status{}, err
		}
		st.Agents = append(st.Agents, swarm.AgentStatus{Name: name, State: swarm.Idle})
	}
	return st, nil
}

func (d *fakeDaemon) StartAgent(agent, by string) error {
	d.note("start %s by %s", agent, by)
	return d.check(agent)
}

func (d *fakeDaemon) StopAgent(ctx context.Context, agent, by string, now bool) (*swarm.Cut, error) {
	d.note("stop %s by %s now %v", agent, by, now)
	var cut *swarm.Cut
	if now {
		cut = &swarm.Cut{Message: "k7f3q9m2xd", State: dropbox.Done}
	}
	select {
	case <-d.turn:
		d.note("stopped %s", agent)
		return cut, nil
	case <-ctx.Done():
		d.note("stop of %s cut", agent)
		return nil, ctx.Err()
	}
}

func (d *fakeDaemon) Pause(agent string, o swarm.PauseOrder) error {
	d.note("pause %s by %s for %v: %s", agent, o.By, o.For, o.Why)
	return d.check(agent)
}

func (d *fakeDaemon) Resume(agent, by string) error {
	d.note("resume %s by %s", agent, by)
	return d.check(agent)
}

func (d *fakeDaemon) LiftPause(agent, by string) error {
	d.note("lift the pause of %s by %s", agent, by)
	return d.check(agent)
}

func (d *fakeDaemon) Drain(agent, by string) error {
	d.note("drain %s by %s", agent, by)
	return d.check(agent)
}

func (d *fakeDaemon) Undrain(agent, by string) error {
	d.note("undrain %s by %s", agent, by)
	if agent == "reviewer" {
		return d.check(agent)
	}
	return fmt.Errorf("%s %w", agent, swarm.ErrNotDraining)
}

func (d *fakeDaemon) Abort(_ context.Context, agent, by, why string) (swarm.Cut, error) {
	d.note("abort %s by %s: %s", agent, by, why)
	return swarm.Cut{}, fmt.Errorf("%s: %w", agent, swarm.ErrNoTurn)
}

func (d *fakeDaemon) Interrupt(_ context.Context, agent, by, urgent string) (swarm.Cut, error) {
	d.note("interrupt %s by %s for %s", agent, by, urgent)
	return swarm.Cut{Message: "k7f3q9m2xd", State: dropbox.Done}, d.check(agent)
}

func (d *fakeDaemon) RaiseBudget(scope string, by budget.Amount, who string) (budget.Row, error) {
	d.note("raise %s %s by %s", scope, by.Text(), who)
	switch scope {
	case "swarm.day":
		return budget.Row{Scope: scope}, nil
	case "coder.day":
		return budget.Row{}, &budget.NoCapError{Scope: budget.Scope{Kind: budget.KindAgent, Name: "coder"}, Unit: budget.USD}
	}
	return budget.Row{}, &budget.UnknownScopeError{Name: scope, Near: []string{"swarm.day"}}
}

func (d *fakeDaemon) Clear(agent, by string) error {
	d.note("clear %s by %s", agent, by)
	return d.check(agent)
}

// Compact fails for reviewer, whose client cannot compact.
func (d *fakeDaemon) Compact(agent, by string) error {
	d.note("compact %s by %s", agent, by)
	if agent == "reviewer" {
		return fmt.Errorf("%s: %w", agent, swarm.ErrCannotCompact)
	}
	return d.check(agent)
}

func (d *fakeDaemon) Reload(o control.ReloadOrder) (swarm.Changes, error) {
	by := o.By
	d.note("reload by %s", by)
	return swarm.Changes{Added: []string{"tester"}}, d.reload
}

func (d *fakeDaemon) Shutdown(by string, now bool) { d.note("shutdown by %s now %v", by, now) }

func (d *fakeDaemon) Subscribe(f swarm.Filter) control.Feed {
	d.note("subscribe %+v", f)
	feed := &fakeFeed{ready: make(chan struct{}, 1), closed: make(chan struct{})}
	d.opened <- feed
	return feed
}

// fakeFeed is a feed with a queue like the real feed's: when the queue contains 1,024
// events, it drops the oldest.
type fakeFeed struct {
	ready, closed chan struct{}
	once          sync.Once

	mu    sync.Mutex
	queue []swarm.FeedEvent
	lost  int
}

func (f *fakeFeed) Ready() <-chan struct{}  { return f.ready }
func (f *fakeFeed) Closed() <-chan struct{} { return f.closed }
func (f *fakeFeed) Close()                  { f.once.Do(func() { close(f.closed) }) }

func (f *fakeFeed) Take() []swarm.FeedEvent {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.queue
	if f.lost > 0 {
		out = append([]swarm.FeedEvent{{Kind: swarm.FeedLost, Count: f.lost}}, out...)
	}
	f.queue, f.lost = nil, 0
	return out
}

func (f *fakeFeed) put(ev swarm.FeedEvent) {
	f.mu.Lock()
	if len(f.queue) == 1024 {
		f.queue = f.queue[1:]
		f.lost++
	}
	f.queue = append(f.queue, ev)
	f.mu.Unlock()
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// A project is a test project whose socket has a short path.
type project struct {
	project  string
	runtime  string
	callerOf func(pid int, claim *journal.Claim) (journal.Caller, error)
	whispers func(caller func() (string, error)) ([]whisper.Whisper, func(int))
}

func newProject(t testing.TB) project {
	t.Helper()
	// Do not use t.TempDir: its paths contain the test's name, and a socket's path can be
	// only about 100 bytes long.
	dir, err := os.MkdirTemp("", "cs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := project{project: filepath.Join(dir, "p"), runtime: filepath.Join(dir, "r")}
	for _, d := range []string{p.project, p.runtime} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p project) getenv(name string) string {
	if name == "XDG_RUNTIME_DIR" {
		return p.runtime
	}
	return ""
}

func (p project) dial(t testing.TB) *control.Client {
	t.Helper()
	c, err := control.Dial(t.Context(), p.project, "1.0", p.getenv)
	if err != nil {
		t.Fatalf("Dial: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// serve runs a server for d until stop is called. stop waits until the server has ended.
func serve(t testing.TB, p project, d control.Daemon) (stop func()) {
	t.Helper()
	l, err := control.Listen(p.project, p.getenv)
	if err != nil {
		t.Fatalf("Listen: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- control.NewServer(d, control.Options{Version: "1.0", CallerOf: p.callerOf, Whispers: p.whispers}).Serve(ctx, l)
	}()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("Serve: %v", err)
				}
			case <-time.After(patience):
				t.Error("Serve did not return")
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

// patience is the maximum wait for an event that takes only milliseconds on an idle
// machine.
const patience = 3 * time.Minute

// within fails the test unless cond becomes true in time.
func within(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}
