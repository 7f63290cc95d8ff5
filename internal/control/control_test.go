package control_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/rights"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/whisper"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestVerbsReachTheDaemon(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	serve(t, p, d)
	c, ctx := p.dial(t), t.Context()
	close(d.turn)

	st, err := c.Status(ctx, "reviewer")
	if err != nil || len(st.Agents) != 1 || st.Agents[0].Name != "reviewer" || st.Daemon.PID != 42 {
		t.Errorf("Status(reviewer) = %+v, %v", st, err)
	}
	ch, err := c.Reload(ctx, "lead", false)
	if diff := cmp.Diff(swarm.Changes{Added: []string{"tester"}}, ch); err != nil || diff != "" {
		t.Errorf("Reload: %v (-want +got):\n%s", err, diff)
	}
	cut, err := c.Stop(ctx, "coder", "lead", true)
	if diff := cmp.Diff(&swarm.Cut{Message: "k7f3q9m2xd", State: dropbox.Done}, cut); err != nil || diff != "" {
		t.Errorf("Stop with now: %v (-want +got):\n%s", err, diff)
	}
	if cut, err := c.Stop(ctx, "coder", "lead", false); err != nil || cut != nil {
		t.Errorf("Stop = %+v, %v, want no turn that was ended", cut, err)
	}
	for name, err := range map[string]error{
		"Start":    c.Start(ctx, "coder", "lead"),
		"Pause":    c.Pause(ctx, "coder", swarm.PauseOrder{By: "lead", Why: "lunch", For: 90 * time.Minute}),
		"Resume":   c.Resume(ctx, "coder", "lead"),
		"Lift":     c.LiftPause(ctx, "coder", "lead"),
		"Drain":    c.Drain(ctx, "coder", "lead"),
		"Undrain":  c.Undrain(ctx, "reviewer", "lead"),
		"Compact":  c.Compact(ctx, "coder", "lead"),
		"Clear":    c.Clear(ctx, "coder", "coder"),
		"Shutdown": c.Shutdown(ctx, "lead", true),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	got := d.notes()
	for _, want := range []string{
		"status reviewer", "reload by lead", "start coder by lead", "stop coder by lead now true", "stopped coder",
		"pause coder by lead for 1h30m0s: lunch", "resume coder by lead", "lift the pause of coder by lead", "drain coder by lead", "undrain reviewer by lead", "compact coder by lead", "clear coder by coder", "shutdown by lead now true",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("the daemon was not asked %q, only %q", want, got)
		}
	}
}

func TestErrorsKeepTheirType(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	d.reload = &control.Error{Code: control.CodeBadConfig, Message: "claude-swarm.yaml:3:1: no key agnets", Hint: "write agents"}
	serve(t, p, d)
	c := p.dial(t)

	err := c.Resume(t.Context(), "codre", "lead")
	unknown, ok := errors.AsType[*swarm.UnknownAgentError](err)
	if !ok || unknown.Name != "codre" || !slices.Equal(unknown.Near, []string{"coder"}) {
		t.Errorf("Resume(codre) = %#v, want an UnknownAgentError near coder", err)
	}
	if _, err := c.Abort(t.Context(), "coder", "lead", "no answer"); !errors.Is(err, swarm.ErrNoTurn) {
		t.Errorf("Abort = %v, want ErrNoTurn", err)
	}
	if err := c.Undrain(t.Context(), "coder", "lead"); !errors.Is(err, swarm.ErrNotDraining) {
		t.Errorf("Undrain = %v, want ErrNotDraining", err)
	}
	if err := c.Compact(t.Context(), "reviewer", "lead"); !errors.Is(err, swarm.ErrCannotCompact) {
		t.Errorf("Compact = %v, want ErrCannotCompact", err)
	}
	_, err = c.Reload(t.Context(), "lead", false)
	wire, ok := errors.AsType[*control.Error](err)
	if !ok || wire.Code != control.CodeBadConfig || wire.Hint != "write agents" {
		t.Errorf("Reload = %#v, want bad_config with its hint", err)
	}
	if err := c.Pause(t.Context(), "coder", swarm.PauseOrder{For: -time.Second}); err == nil {
		t.Error("Pause for a negative time: no error")
	}
	// A panic becomes the answer to one request; the next request is answered as usual.
	if _, err := c.Status(t.Context(), "boom"); err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("Status(boom) = %v, want the panic", err)
	}
	if _, err := c.Status(t.Context(), "huge"); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("Status(huge) = %v, want an error about its size", err)
	}
	if _, err := c.Status(t.Context()); err != nil {
		t.Errorf("Status after the others: %v", err)
	}
}

func TestALongRequestHoldsUpNobody(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	serve(t, p, d)
	c := p.dial(t)
	stopped := make(chan error, 1)
	go func() { _, err := c.Stop(t.Context(), "coder", "lead", false); stopped <- err }()
	within(t, "the daemon is told to stop coder", func() bool { return len(d.notes()) > 0 })
	if _, err := c.Status(t.Context()); err != nil {
		t.Fatalf("Status beside Stop: %v", err)
	}
	close(d.turn)
	if err := <-stopped; err != nil {
		t.Errorf("Stop: %v", err)
	}
}

// A client that is no longer waiting for a turn must not end the turn. This could happen
// because, in the daemon, Stop ends the turn when its context is done.
func TestHangingUpDoesNotCutAStop(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	serve(t, p, d)
	c := p.dial(t)
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { _, err := c.Stop(ctx, "coder", "lead", false); stopped <- err }()
	within(t, "the daemon is told to stop coder", func() bool { return len(d.notes()) > 0 })
	cancel()
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("Stop = %v, want context.Canceled", err)
	}
	c.Close()
	// The server has now answered another client, so it has had time to notice that the
	// first client is gone.
	if _, err := p.dial(t).Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(d.turn)
	within(t, "the stop ends well", func() bool { return slices.Contains(d.notes(), "stopped coder") })
}

func TestStream(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	serve(t, p, d)
	c := p.dial(t)
	s, err := c.Subscribe(t.Context(), swarm.Filter{Agent: "coder", Text: true})
	if err != nil {
		t.Fatal(err)
	}
	feed := <-d.opened
	at := time.Date(2026, 11, 21, 4, 51, 2, 0, time.UTC)
	want := []swarm.FeedEvent{
		{Kind: swarm.FeedLine, At: at, Agent: "coder", ID: "k7f3q9m2xd", Text: "04:51:02 coder k7f3q9m2xd  hello\n"},
		{Kind: swarm.FeedState, At: at, Agent: "coder", State: swarm.Working},
	}
	for _, ev := range want {
		feed.put(ev)
	}
	for _, w := range want {
		got, err := s.Next(t.Context())
		if diff := cmp.Diff(w, got); err != nil || diff != "" {
			t.Errorf("Next: %v (-want +got):\n%s", err, diff)
		}
	}
	// Text that is too long for a line is truncated, and the truncation is marked.
	feed.put(swarm.FeedEvent{Kind: swarm.FeedRaw, Text: strings.Repeat("\x01", 3<<20)})
	ev, err := s.Next(t.Context())
	if err != nil || !strings.Contains(ev.Text, "bytes cut") {
		t.Errorf("Next after a 3 MiB text: %v, %d bytes", err, len(ev.Text))
	}
	s.Close()
	<-feed.closed // the daemon's side has also ended
	if _, err := s.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("Next after Close = %v, want EOF", err)
	}
	if _, err := c.Status(t.Context()); err != nil {
		t.Errorf("Status after the stream: %v", err)
	}
}

func TestASlowReaderLosesTheOldest(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	serve(t, p, d)
	c := p.dial(t)
	s, err := c.Subscribe(t.Context(), swarm.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	feed := <-d.opened
	const n = 20_000
	text := strings.Repeat("x", 1000)
	for i := range n {
		feed.put(swarm.FeedEvent{Kind: swarm.FeedLine, Count: i, Text: text})
	}
	seen, lost, last := 0, 0, -1
	for last < n-1 {
		ev, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind == swarm.FeedLost {
			lost += ev.Count
			continue
		}
		if ev.Count <= last {
			t.Fatalf("event %d after %d", ev.Count, last)
		}
		seen, last = seen+1, ev.Count
	}
	if seen+lost != n {
		t.Errorf("%d events seen and %d reported lost, want %d together", seen, lost, n)
	}
	if lost == 0 {
		t.Error("no event was lost: the test does not test what it says")
	}
}

func TestTheEndOfTheDaemonIsSeen(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	stop := serve(t, p, d)
	c := p.dial(t)
	s, err := c.Subscribe(t.Context(), swarm.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	unread, err := p.dial(t).Subscribe(t.Context(), swarm.Filter{}) // the test does not read this connection
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		(<-d.opened).put(swarm.FeedEvent{Kind: swarm.FeedLine})
	}
	if _, err := s.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop()
	<-c.Gone()
	for err == nil {
		_, err = s.Next(t.Context())
	}
	if !errors.Is(err, control.ErrGone) && !errors.Is(err, io.EOF) {
		t.Errorf("Next = %v, want ErrGone", err)
	}
	if _, err := c.Status(t.Context()); !errors.Is(err, control.ErrGone) {
		t.Errorf("Status = %v, want ErrGone", err)
	}
	if _, err := control.Dial(t.Context(), p.project, "1.0", p.getenv); !errors.Is(err, control.ErrNoDaemon) {
		t.Errorf("Dial = %v, want ErrNoDaemon", err)
	}
	unread.Close()
}

func TestAnotherVersionIsAWarning(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	serve(t, p, d)
	c, err := control.Dial(t.Context(), p.project, "0.9", p.getenv)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if want := "the daemon is version 1.0, but this program is version 0.9"; c.Warning() != want {
		t.Errorf("Warning() = %q, want %q", c.Warning(), want)
	}
	if w := p.dial(t).Warning(); w != "" {
		t.Errorf("Warning() of the same version = %q, want none", w)
	}
}

func TestOneConnectionTooManyIsToldWhy(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	serve(t, p, d)
	var first *control.Client
	for i := range 64 {
		c := p.dial(t)
		if i == 0 {
			first = c
		}
	}
	for range 20 {
		_, err := control.Dial(t.Context(), p.project, "1.0", p.getenv)
		if e, ok := errors.AsType[*control.Error](err); !ok || e.Code != control.CodeBusy || e.Hint == "" {
			t.Fatalf("Dial = %v, want the code %s with a hint", err, control.CodeBusy)
		}
	}
	first.Close()
	within(t, "there is room for another", func() bool {
		c, err := control.Dial(t.Context(), p.project, "1.0", p.getenv)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// The process at the other end, not the request, determines who has given an order, and
// whether it may. The table is that of package rights.
func TestAnOrderIsItsCallers(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	var who journal.Caller
	var trouble error
	p.callerOf = func(pid int, claim *journal.Claim) (journal.Caller, error) {
		if pid != os.Getpid() || claim != nil {
			t.Errorf("asked about process %d with the claim %v, not %d with none", pid, claim, os.Getpid())
		}
		return who, trouble
	}
	serve(t, p, d)
	c, ctx := p.dial(t), t.Context()
	close(d.turn)
	orders := map[string]func() error{
		"start":     func() error { return c.Start(ctx, "reviewer", "lead") },
		"stop":      func() error { _, err := c.Stop(ctx, "reviewer", "lead", true); return err },
		"pause":     func() error { return c.Pause(ctx, "reviewer", swarm.PauseOrder{By: "lead"}) },
		"pause own": func() error { return c.Pause(ctx, "coder", swarm.PauseOrder{By: "lead"}) },
		"resume":    func() error { return c.Resume(ctx, "reviewer", "") },
		"drain":     func() error { return c.Drain(ctx, "reviewer", "lead") },
		"undrain":   func() error { return c.Undrain(ctx, "reviewer", "") },
		"abort": func() error {
			if _, err := c.Abort(ctx, "coder", "lead", ""); !errors.Is(err, swarm.ErrNoTurn) {
				return err
			}
			return nil
		},
		"interrupt": func() error { _, err := c.Interrupt(ctx, "reviewer", "reviewer", "x"); return err },
		"compact":   func() error { return c.Compact(ctx, "coder", "lead") },
		"clear":     func() error { return c.Clear(ctx, "reviewer", "lead") },
		"raise":     func() error { _, err := c.RaiseBudget(ctx, "swarm.day", budget.Of(1, 0, 0), "lead"); return err },
		"reload":    func() error { _, err := c.Reload(ctx, "lead", false); return err },
		"shutdown":  func() error { return c.Shutdown(ctx, "lead", true) },
	}
	for name, e := range rights.Requests() {
		if e.Right > rights.Anyone && orders[name] == nil {
			t.Errorf("%s is not tried", name)
		}
	}
	for name, caller := range map[string]struct {
		who     journal.Caller
		err     error
		refused []string
		code    string
	}{
		"a person":         {},
		"a turn":           {who: journal.Caller{Agent: "coder", Turn: "k7f3q9m2xd-1"}, refused: []string{"start", "stop", "pause", "resume", "drain", "undrain", "raise", "reload", "shutdown"}, code: control.CodePerson},
		"attached session": {who: journal.Caller{Agent: "coder", Turn: "k7f3q9m2xd-1", Attached: true}, refused: []string{"raise"}, code: control.CodePerson},
		"nobody knows":     {err: errors.New("whoever asked has ended"), refused: slices.Sorted(maps.Keys(orders)), code: control.CodeUntraced},
	} {
		who, trouble = caller.who, caller.err
		for order, give := range orders {
			before := len(d.notes())
			err := give()
			answer, _ := errors.AsType[*control.Error](err)
			if refused := slices.Contains(caller.refused, order); refused != (err != nil) || refused && (answer == nil || answer.Code != caller.code || answer.Hint == "") {
				t.Errorf("%s: %s = %v, want refused: %v", name, order, err, refused)
			} else if refused && len(d.notes()) != before {
				t.Errorf("%s: %s was refused and carried out", name, order)
			}
		}
		for _, note := range d.notes() {
			if caller.who.Agent != "" && strings.Contains(note, "by lead") {
				t.Errorf("%s: %s", name, note)
			}
		}
		d.forget()
		if _, err := c.Status(ctx); err != nil {
			t.Errorf("%s: Status = %v", name, err)
		}
	}
}

// The daemon says who a caller is, or that it cannot find out.
func TestWhoAmI(t *testing.T) {
	p := newProject(t)
	want, trouble := journal.Caller{Agent: "coder", Turn: "k7f3q9m2xd-1"}, error(nil)
	told := journal.Claim{Agent: "coder", Mark: "k7f3q9m2xd-1"}
	p.callerOf = func(pid int, claim *journal.Claim) (journal.Caller, error) {
		if pid != os.Getpid() || claim == nil || *claim != told {
			t.Errorf("asked about process %d, %v", pid, claim)
		}
		return want, trouble
	}
	serve(t, p, newFakeDaemon())
	c := p.dial(t)
	if got, err := c.WhoAmI(t.Context(), told); got != want || err != nil {
		t.Errorf("WhoAmI = %+v, %v", got, err)
	}
	trouble = errors.New("whoever asked has ended")
	_, err := c.WhoAmI(t.Context(), told)
	if answer, ok := errors.AsType[*control.Error](err); !ok || answer.Code != control.CodeUntraced || answer.Message != trouble.Error() {
		t.Errorf("WhoAmI = %v", err)
	}
}

// A program in an agent's turn gets the whispers once, before the response to a request. A
// person gets no whispers, and a program that only asks who it is neither: it would throw them
// away.
func TestWhispersComeBeforeTheResponse(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	agent := ""
	waiting := []whisper.Whisper{{Type: "CORRECTION", Text: "Ask for help."}, {Type: "THINK_DEEPER", Text: "Think."}}
	written := make(chan int, 1)
	p.callerOf = func(int, *journal.Claim) (journal.Caller, error) { return journal.Caller{Agent: agent}, nil }
	p.whispers = func(caller func() (string, error)) ([]whisper.Whisper, func(int)) {
		if name, err := caller(); name != "coder" || err != nil {
			return nil, nil
		}
		lent := waiting
		waiting = nil
		return lent, func(n int) { written <- n }
	}
	serve(t, p, d)
	var shown []string
	ask := func() []string {
		c := p.dial(t)
		if _, err := c.WhoAmI(t.Context(), journal.Claim{}); err != nil {
			t.Fatal(err)
		}
		c.OnWhisper(func(line string) { shown = append(shown, line) })
		if err := c.Whispers(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.Close() // the reader has now ended, so shown is complete
		return shown
	}
	if got := ask(); got != nil {
		t.Errorf("a person gets %q", got)
	}
	agent = "coder"
	want := []string{"[SUPERVISOR/CORRECTION] Ask for help.", "[SUPERVISOR/THINK_DEEPER] Think."}
	for range 2 {
		if diff := cmp.Diff(want, ask()); diff != "" {
			t.Errorf("whispers (-want +got):\n%s", diff)
		}
	}
	if n := <-written; n != 2 {
		t.Errorf("%d whispers count as written, want 2", n)
	}
}

// Whispers that were not written because the connection was closed do not count as shown.
// The server reports once how many were written, and the next connection gets the remaining
// ones.
func TestAWhisperIsNotLostWithItsConnection(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	waits := []whisper.Whisper{{Type: "CORRECTION", Text: "Ask for help."}}
	closed := make(chan struct{})
	results := make(chan int, 2)
	first := true
	p.callerOf = func(int, *journal.Claim) (journal.Caller, error) { return journal.Caller{Agent: "coder"}, nil }
	p.whispers = func(func() (string, error)) ([]whisper.Whisper, func(int)) {
		if first {
			first = false
			<-closed
		}
		return waits, func(n int) { results <- n }
	}
	serve(t, p, d)
	c := p.raw(t)
	if _, err := fmt.Fprintln(c.conn, `{"type":"whispers","id":"1"}`); err != nil {
		t.Fatal(err)
	}
	c.conn.Close()
	close(closed)
	if n := <-results; n != 0 {
		t.Errorf("%d whispers count as written to a connection that is closed", n)
	}
	var shown []string
	next := p.dial(t)
	next.OnWhisper(func(line string) { shown = append(shown, line) })
	if err := next.Whispers(t.Context()); err != nil {
		t.Fatal(err)
	}
	next.Close()
	if n := <-results; n != 1 || len(shown) != 1 {
		t.Errorf("the next connection gets %q, and %d count as written", shown, n)
	}
}

// An agent learns from a subscription what the others do, but reads only its own text. So
// does a caller about whom the daemon cannot find out who it is.
func TestAnAgentReadsNoTextOfOthers(t *testing.T) {
	text := "04:51:02 boss hello\n"
	events := []swarm.FeedEvent{
		{Kind: swarm.FeedLine, Agent: "coder", Text: text}, {Kind: swarm.FeedRaw, Agent: "coder", Text: text}, {Kind: swarm.FeedAlert, Agent: "coder", Text: text},
		{Kind: swarm.FeedLine, Agent: "boss", Text: text}, {Kind: swarm.FeedPartial, Agent: "boss", Text: text}, {Kind: swarm.FeedRaw, Agent: "boss", Text: text},
		{Kind: swarm.FeedState, Agent: "boss", State: swarm.Working},
	}
	for name, test := range map[string]struct {
		agent string
		err   error
		read  []int // the events whose text the caller reads
		gone  []int // those that it does not get
	}{
		"person":   {read: []int{0, 1, 2, 3, 4, 5}},
		"agent":    {agent: "coder", read: []int{0, 1}, gone: []int{4, 5}},
		"untraced": {err: errors.New("the opener has ended"), gone: []int{1, 4, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			p, d := newProject(t), newFakeDaemon()
			p.callerOf = func(int, *journal.Claim) (journal.Caller, error) { return journal.Caller{Agent: test.agent}, test.err }
			serve(t, p, d)
			s, err := p.dial(t).Subscribe(t.Context(), swarm.Filter{Text: true, Raw: true})
			if err != nil {
				t.Fatal(err)
			}
			feed := <-d.opened
			for i, ev := range events {
				feed.put(ev)
				if slices.Contains(test.gone, i) {
					continue
				}
				if !slices.Contains(test.read, i) {
					ev.Text = ""
				}
				got, err := s.Next(t.Context())
				if diff := cmp.Diff(ev, got); err != nil || diff != "" {
					t.Errorf("event %d: %v (-want +got):\n%s", i, err, diff)
				}
			}
		})
	}
}
