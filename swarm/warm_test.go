package swarm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/internal/testkit/standin"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// newWarmField returns a field whose clients are kept for a minute after a turn.
func newWarmField(t *testing.T, agents ...string) *field {
	t.Helper()
	f := newField(t, agents...)
	for i := range f.plan.Agents {
		f.plan.Agents[i].Linger = time.Minute
	}
	return f
}

// work sends a message and waits until its agent is idle again.
func (f *field) work(to, body string) string {
	f.t.Helper()
	id := f.send(to, body)
	f.receipt(to, id)
	f.untilState(to, swarm.Idle)
	return id
}

// processes lists the clients of the turns so far, in order. Consecutive turns of the
// same client count once.
func (f *field) processes() []runner.Process {
	var all []runner.Process
	for _, r := range f.backend.Runs() {
		all = append(all, r.Process)
	}
	return slices.Compact(all)
}

func TestAClientStaysForTheNextMessages(t *testing.T) {
	f := newWarmField(t, "coder")
	f.start()
	costs := []float64{0.25, 0.5, 0.125}
	var ids []string
	for i, script := range []string{"@cost 0.25\n@say one", "@cost 0.5\n@sh ls\n@say two", "@cost 0.125\n@say three"} {
		id := f.work("coder", script)
		ids = append(ids, id)
		r := f.receipt("coder", id)
		if r.CostUSD != costs[i] || len(r.Attempts) != 1 || r.Attempts[0].CostUSD != costs[i] || r.Turn != id+"-1" || !strings.HasSuffix(script, r.Text) {
			t.Errorf("receipt %d = %+v", i+1, r)
		}
		if (r.ToolCalls == 1) != (i == 1) {
			t.Errorf("receipt %d records %d tool calls", i+1, r.ToolCalls)
		}
		st := f.status("coder")
		if st.Warm == nil || st.Warm.PID != f.backend.Runs()[0].Process.PID || time.Since(st.Warm.Since) > time.Minute || st.PID != nil {
			t.Errorf("after turn %d the status is %+v with %+v", i+1, st, st.Warm)
		}
	}
	if got := f.processes(); len(got) != 1 {
		t.Errorf("the clients were %v, want one", got)
	}
	runs := f.backend.Runs()
	seen := map[string]bool{}
	for i, r := range runs {
		if seen[r.Turn.UUID] || r.Turn.Mark() != ids[0]+"-1" || r.Turn.ID != ids[i]+"-1" || r.Turn.Stdout != runs[0].Turn.Stdout {
			t.Errorf("turn %d is %s of client %s with uuid %s in %s", i+1, r.Turn.ID, r.Turn.Mark(), r.Turn.UUID, r.Turn.Stdout)
		}
		seen[r.Turn.UUID] = true
	}
	if c := f.status("coder").CostUSD.Total; c != 0.875 {
		t.Errorf("total cost = %v, want 0.875", c)
	}
	f.nothingLeft("coder")

	f.halt()
	if left := f.backend.Waiting(); len(left) != 0 {
		t.Errorf("the daemon has ended, and %v wait", left)
	}
	if _, err := os.Stat(journal.HomeOf(f.dir).PIDFile("coder")); err == nil {
		t.Error("the pid file is still there")
	}
}

// A client is closed when its wait ends, and the next message starts another client.
func TestAClientWaitsNoLongerThanLinger(t *testing.T) {
	f := newWarmField(t, "coder")
	f.plan.Agents[0].Linger = 50 * time.Millisecond
	f.start()
	f.work("coder", "one")
	f.until("the client was closed", func() bool { return len(f.backend.Waiting()) == 0 })
	f.until("the status knows", func() bool { return f.status("coder").Warm == nil })
	f.work("coder", "two")
	if got := f.processes(); len(got) != 2 {
		t.Errorf("the clients were %v, want two", got)
	}
}

// Each row is a change after which the agent needs a different client, or no client. The
// waiting client is closed before another one starts.
func TestWhatEndsAClientThatWaits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	pause := func(f *field) {
		if err := f.daemon.Pause("coder", swarm.PauseOrder{By: "lead"}); err != nil {
			f.t.Fatal(err)
		}
	}
	resume := func(f *field) {
		if err := f.daemon.Resume("coder", "lead"); err != nil {
			f.t.Fatal(err)
		}
	}
	reload := func(change func(*swarm.Plan)) func(*field) {
		return func(f *field) {
			plan := f.plan
			plan.Agents = slices.Clone(plan.Agents)
			change(&plan)
			if _, err := f.daemon.Reload(plan); err != nil {
				f.t.Fatal(err)
			}
		}
	}
	halt := func(f *field) string { return filepath.Join(f.store.Dir(), "HALT") }
	for name, c := range map[string]struct{ end, again func(*field) }{
		"pause": {pause, resume},
		"stop": {func(f *field) {
			if _, err := f.daemon.StopAgent(f.t.Context(), "coder", "lead", false); err != nil {
				f.t.Fatal(err)
			}
			if left := f.backend.Waiting(); len(left) != 0 {
				f.t.Errorf("the agent was stopped, and %v wait", left)
			}
		}, func(f *field) {
			if err := f.daemon.StartAgent("coder", "lead"); err != nil {
				f.t.Fatal(err)
			}
		}},
		"halt": {func(f *field) {
			if err := os.WriteFile(halt(f), nil, 0o600); err != nil {
				f.t.Fatal(err)
			}
		}, func(f *field) {
			if err := os.Remove(halt(f)); err != nil {
				f.t.Fatal(err)
			}
		}},
		"other settings":             {reload(func(p *swarm.Plan) { p.Agents[0].Client.Model = "other" }), nil},
		"another environment":        {reload(func(p *swarm.Plan) { p.Agents[0].Env = map[string]string{"A": "b"} }), nil},
		"another agent beside it":    {reload(func(p *swarm.Plan) { p.Agents = append(p.Agents, scripted("tester", "")) }), nil},
		"no linger any more":         {reload(func(p *swarm.Plan) { p.Agents[0].Linger = 0 }), nil},
		"a session for each message": {reload(func(p *swarm.Plan) { p.Agents[0].Session = turn.SessionFresh }), nil},
		"the agent is taken out":     {reload(func(p *swarm.Plan) { p.Agents[0].Name = "tester" }), reload(func(*swarm.Plan) {})},
		"it did something unasked": {func(f *field) {
			stream, err := os.OpenFile(f.backend.Runs()[0].Turn.Stdout, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				f.t.Fatal(err)
			}
			defer stream.Close()
			if _, err := stream.WriteString(`{"kind":"init"}` + "\n"); err != nil {
				f.t.Fatal(err)
			}
		}, nil},
		"it died": {func(f *field) { f.backend.Kill(f.backend.Waiting()[0]) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newWarmField(t, "coder")
			f.start()
			f.work("coder", "one")
			if len(f.backend.Waiting()) != 1 {
				t.Fatal("no client stays")
			}
			c.end(f)
			f.until("nobody waits", func() bool { return len(f.backend.Waiting()) == 0 })
			if c.again != nil {
				c.again(f)
			}
			id := f.work("coder", "two")
			if r := f.receipt("coder", id); len(r.Attempts) != 1 {
				t.Errorf("attempts = %+v, want one", r.Attempts)
			}
			if got := f.processes(); len(got) != 2 {
				t.Errorf("the clients were %v, want two", got)
			}
			if st, err := f.daemon.Status(); err != nil || len(st.Trouble) > 0 {
				t.Errorf("trouble: %v, %v", st.Trouble, err)
			}
		})
	}
}

// After a turn that failed or compacted the conversation, no client is kept.
func TestTurnsAfterWhichNoClientStays(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, script := range []string{"@fail no luck", "@say begun\n@noresult", "@compact\n@say ready"} {
		t.Run(script, func(t *testing.T) {
			f := newWarmField(t, "coder")
			f.plan.Agents[0].MaxFailures = 1
			f.start()
			f.work("coder", "one")
			f.answer(f.send("coder", script))
			f.untilState("coder", swarm.Idle)
			if left := f.backend.Waiting(); len(left) != 0 || f.status("coder").Warm != nil {
				t.Errorf("%v wait", left)
			}
			f.work("coder", "three")
			if got := f.processes(); len(got) != 2 {
				t.Errorf("the clients were %v, want two", got)
			}
		})
	}
}

// The limit on waiting clients applies to all agents together, and the client that has
// been waiting longest is closed first.
func TestMaxWarm(t *testing.T) {
	f := newWarmField(t, "a", "b", "c")
	f.plan.MaxWarm = 2
	f.start()
	for _, name := range []string{"a", "b", "a", "c"} {
		f.work(name, "work")
	}
	f.until("b's client was closed", func() bool { return f.status("b").Warm == nil && len(f.backend.Waiting()) == 2 })
	if f.status("a").Warm == nil || f.status("c").Warm == nil {
		t.Errorf("a %v and c %v wait, want both", f.status("a").Warm, f.status("c").Warm)
	}
	plan := f.plan
	plan.MaxWarm = 1
	if _, err := f.daemon.Reload(plan); err != nil {
		t.Fatal(err)
	}
	f.until("a's client was closed", func() bool { return f.status("a").Warm == nil && len(f.backend.Waiting()) == 1 })
}

// If a dying client does not accept a prompt, another client gets the prompt. No failure
// is counted, and the person is not notified.
func TestAClientThatDiesBeforeItTakesThePrompt(t *testing.T) {
	f := newWarmField(t, "coder")
	did := 0
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if standin.Body(turn.Prompt) == "one" {
			return []runnertest.Step{runnertest.Say("one")}
		}
		return []runnertest.Step{runnertest.Gone(), runnertest.Do(func(context.Context, runner.Turn) error { did++; return nil }), runnertest.Say("two")}
	}
	f.start()
	f.work("coder", "one")
	id := f.work("coder", "two")
	r := f.receipt("coder", id)
	if did != 1 || len(r.Attempts) != 2 || r.Attempts[0].Outcome != "gone" || r.Attempts[1].Outcome != "done" {
		t.Errorf("done %d times; attempts = %+v", did, r.Attempts)
	}
	runs := f.backend.Runs()
	if last := runs[len(runs)-1].Turn; last.UUID == runs[1].Turn.UUID || last.Session.How != runner.Resume || last.Session.ID != runs[0].Turn.Session.ID ||
		strings.Contains(last.Prompt, "begun before") {
		t.Errorf("the second attempt was %+v", last)
	}
	if st := f.status("coder"); st.CircuitOpen || st.Warm == nil {
		t.Errorf("status = %+v", st)
	}
	for _, m := range f.mail("lead") {
		if m.From == "swarm" {
			t.Errorf("the lead was told %q", m.Subject)
		}
	}
}

// A message that an agent sends in a later turn of a client belongs to that turn, even
// though the client's environment contains the id of the first turn.
func TestWhatIsSentBelongsToTheTurnThatRuns(t *testing.T) {
	f := newWarmField(t, "coder")
	sent := map[string]*dropbox.Message{}
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Do(func(context.Context, runner.Turn) error {
			who, err := journal.WhoAmI(journal.HomeOf(f.dir), func(name string) string {
				return map[string]string{runner.AgentVar: "coder", runner.MarkVar: turn.Mark()}[name]
			})
			if err != nil {
				return err
			}
			m := &dropbox.Message{Type: dropbox.Status}
			sent[turn.ID] = m
			return errors.Join(who.Envelope(m), who.Sent([]dropbox.Delivery{{ID: "sent-by-" + turn.ID, To: dropbox.Lead}}, m))
		}), runnertest.Say("done")}
	}
	f.start()
	for range 3 {
		id := f.work("coder", "work")
		r := f.receipt("coder", id)
		if m := sent[r.Turn]; m == nil || m.Turn != r.Turn || m.Thread != id || m.Trace != id || !slices.Equal(r.Sent, []string{"sent-by-" + r.Turn}) {
			t.Errorf("the message of turn %s is %+v; the receipt has sent %v", r.Turn, m, r.Sent)
		}
	}
	if got := f.processes(); len(got) != 1 {
		t.Errorf("the clients were %v, want one", got)
	}
}

// An agent that is told to stop while it is waiting for a slot ends its client
// immediately.
func TestAClientThatWaitsInLine(t *testing.T) {
	f := newWarmField(t, "coder", "tester")
	f.plan.MaxRunning = 1
	release := make(chan struct{})
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if standin.Body(turn.Prompt) == "long" {
			return []runnertest.Step{waitFor(release), runnertest.Say("done")}
		}
		return nil
	}
	f.start()
	f.work("coder", "one")
	long := f.send("tester", "long")
	f.untilState("tester", swarm.Working)
	next := f.send("coder", "two")
	if st := f.untilState("coder", swarm.Queued); st.Warm == nil {
		t.Error("the status does not show the client of an agent in line")
	}
	if _, err := f.daemon.StopAgent(f.t.Context(), "coder", "lead", false); err != nil {
		t.Fatal(err)
	}
	if left := f.backend.Waiting(); len(left) != 0 {
		t.Errorf("%v wait", left)
	}
	f.untilState("coder", swarm.Stopped)
	if err := f.daemon.StartAgent("coder", "lead"); err != nil {
		t.Fatal(err)
	}
	close(release)
	f.answer(long)
	f.answer(next)
}

// After a panic in a turn, no client is kept.
func TestAPanicLeavesNoClientWaiting(t *testing.T) {
	f := newWarmField(t, "coder")
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if standin.Body(turn.Prompt) == "two" {
			return []runnertest.Step{runnertest.Panic("a broken promise")}
		}
		return nil
	}
	f.start()
	f.work("coder", "one")
	f.send("coder", "two")
	f.untilState("coder", swarm.Stopped)
	if left := f.backend.Waiting(); len(left) != 0 || f.status("coder").Warm != nil {
		t.Errorf("%v wait", left)
	}
}

// If the disk is full when a turn ends, the work is not lost and is not repeated.
func TestAFullDiskAndAClientThatWaits(t *testing.T) {
	f := newWarmField(t, "coder")
	var full atomic.Bool
	store, err := dropbox.Open(f.store.Dir(), dropbox.Options{Step: func(dropbox.Step) error {
		if full.Load() {
			return syscall.ENOSPC
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	whole := f.store
	f.store = store
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Say("did it"), runnertest.Do(func(context.Context, runner.Turn) error {
			full.Store(standin.Body(turn.Prompt) == "fill")
			return nil
		})}
	}
	f.start()
	f.store = whole
	f.work("coder", "one")
	id := f.send("coder", "fill")
	f.untilState("coder", swarm.Backoff)
	full.Store(false)
	f.answer(id)
	if r := f.receipt("coder", id); len(r.Attempts) != 1 || r.Text != "did it" {
		t.Errorf("receipt = %+v", r)
	}
	f.work("coder", "three")
	if got := f.bodies(); !slices.Equal(got, []string{"one", "fill", "three"}) {
		t.Errorf("worked on %v", got)
	}
}

// A client has only one session. If every message gets its own session, or uses the
// newest session in the folder, the client is not kept.
func TestOnlyAnAgentsOwnSessionLingers(t *testing.T) {
	for mode, stays := range map[turn.SessionMode]int{"": 1, turn.SessionResume: 1, turn.SessionFresh: 0, turn.SessionContinue: 0} {
		t.Run("session "+string(mode), func(t *testing.T) {
			f := newWarmField(t, "coder")
			f.plan.Agents[0].Session = mode
			f.start()
			f.work("coder", "one")
			if got := len(f.backend.Waiting()); got != stays {
				t.Errorf("%d clients wait, want %d", got, stays)
			}
		})
	}
}
