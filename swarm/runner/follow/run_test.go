package follow_test

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// lines implements a line-based protocol. It passes each line from the client to hear.
type lines struct {
	run     *follow.Run
	hear    func(line string)
	tick    func(now time.Time)
	cancel  string // the line that cancels a turn; "" if there is none
	waiting bool   // the turn has not begun yet
	rests   bool
	offset  int64
}

func (p *lines) Tick(now time.Time) {
	if p.tick != nil {
		p.tick(now)
	}
}
func (p *lines) Due() time.Time                       { return time.Time{} }
func (p *lines) Working() bool                        { return !p.waiting }
func (p *lines) Late(v follow.Verdict) follow.Verdict { return v }
func (p *lines) Cancel() bool {
	if p.cancel != "" {
		p.run.Send([]byte(p.cancel + "\n"))
	}
	return p.cancel != ""
}

// follow reads all lines until the client or the turn ends.
func (p *lines) follow() runner.Outcome {
	r := bufio.NewReader(p.run.Output())
	var broken error
	for broken == nil && !p.rests {
		var line string
		line, broken = r.ReadString('\n')
		p.offset += int64(len(line))
		if p.hear != nil && line != "" {
			p.run.Heard(time.Now())
			p.hear(strings.TrimSpace(line))
		}
	}
	if !p.rests {
		p.run.Finish()
	}
	v := p.run.Cause()
	if v.End == "" {
		v.End = runner.Done
	}
	return p.run.Outcome(v, broken)
}

var kind = runner.Kind{Name: "lines", Install: "make install"}

// timing gives a client as much time as it needs. A test that waits for the end of a time
// shortens that time alone.
var timing = runner.Timing{Interrupt: time.Hour, Terminate: time.Hour, Close: time.Hour, Leftovers: 100 * time.Millisecond}

const soon = 200 * time.Millisecond

func turn(t *testing.T, id string) runner.Turn {
	dir := t.TempDir()
	return runner.Turn{ID: id + "-" + filepath.Base(filepath.Dir(dir)), Agent: "coder", Spec: runner.Spec{Dir: dir},
		Files: runner.Files{Stdout: filepath.Join(dir, "out"), Stderr: filepath.Join(dir, "err")}}
}

// begin starts a shell script as the client of the turn.
func begin(t *testing.T, ctx context.Context, tn runner.Turn, p *lines, script string, o follow.Options) {
	t.Helper()
	o.Timing = o.Timing.Or(timing)
	p.run = follow.New(ctx, tn, &kind, p, o)
	t.Cleanup(p.run.Close)
	if out, ok := p.run.Start([]string{"sh", "-c", script}, append(os.Environ(), runner.MarkVar+"="+tn.ID)); !ok {
		t.Fatal(out.Reason)
	}
}

func TestAConversation(t *testing.T) {
	tn := turn(t, "talk")
	var started runner.Process
	tn.Started = func(p runner.Process) error { started = p; return nil }
	var heard []string
	p := &lines{}
	p.hear = func(line string) {
		heard = append(heard, line)
		if line == "got one" {
			p.run.Send([]byte("two\n"))
		} else {
			p.run.CloseInput(time.Now())
		}
	}
	begin(t, context.Background(), tn, p, `while read -r line; do echo "got $line"; done; echo trouble >&2; exit 3`, follow.Options{})
	p.run.Send([]byte("one\n"))
	o := p.follow()
	if strings.Join(heard, ",") != "got one,got two" || o.End != runner.Done || o.ExitCode != 3 || started.PID == 0 {
		t.Errorf("heard %q, outcome %+v, started %v", heard, o, started)
	}
	if said := p.run.Stderr(); said != "trouble\n" {
		t.Errorf("standard error is %q", said)
	}
	for _, path := range []string{tn.Stdout, tn.Stderr} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestAClientThatCannotBeStarted(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*runner.Turn)
		args   []string
		end    runner.End
		hint   string
	}{
		"no program":    {nil, []string{"no-such-program-at-all"}, runner.BadSetup, "make install"},
		"no folder":     {func(t *runner.Turn) { t.Spec.Dir += "/none" }, []string{"sh"}, runner.BadSetup, "change cwd: for agent coder"},
		"no output":     {func(t *runner.Turn) { t.Stdout += "/none/out" }, []string{"sh"}, runner.NoResources, follow.HintDisk},
		"no record":     {func(t *runner.Turn) { t.Started = func(runner.Process) error { return os.ErrInvalid } }, []string{"sh"}, runner.Failed, "check the disk"},
		"no permission": {nil, []string{"/dev/null"}, runner.BadSetup, "check command: for agent coder"},
	} {
		t.Run(name, func(t *testing.T) {
			tn := turn(t, "start")
			if c.change != nil {
				c.change(&tn)
			}
			r := follow.New(context.Background(), tn, &kind, &lines{}, follow.Options{Timing: timing})
			defer r.Close()
			out, ok := r.Start(c.args, os.Environ())
			if ok || out.End != c.end || !strings.Contains(out.Hint, c.hint) || out.Began.IsZero() {
				t.Errorf("started %v: %+v", ok, out)
			}
		})
	}
}

// An answer from another goroutine wakes the turn.
func TestWake(t *testing.T) {
	answers := make(chan string, 1)
	p := &lines{}
	p.hear = func(line string) {
		if line == "may I" {
			go func() {
				answers <- "yes"
				p.run.Wake()
				p.run.Wake() // the second call must not block
			}()
		} else {
			p.run.CloseInput(time.Now())
		}
	}
	p.tick = func(time.Time) {
		select {
		case a := <-answers:
			p.run.Send([]byte(a + "\n"))
		default:
		}
	}
	begin(t, context.Background(), turn(t, "wake"), p, `echo may I; read -r answer; echo "$answer"; read -r end`, follow.Options{})
	if o := p.follow(); o.End != runner.Done {
		t.Error(o)
	}
}

func TestTheClientIsAskedBeforeItIsSignalled(t *testing.T) {
	for name, c := range map[string]struct {
		script, cancel, signal string
		exit                   int
		timing                 runner.Timing
	}{
		"it heeds the words":  {`trap 'exit 9' INT TERM; echo up; read -r word; echo "$word"; exit 0`, "cancel", "", 0, runner.Timing{}},
		"it heeds no words":   {`trap 'exit 9' INT; trap 'exit 8' TERM; echo up; while :; do read -r word; done`, "cancel", "", 8, runner.Timing{Interrupt: soon}},
		"there are no words":  {`trap 'exit 9' INT; trap 'exit 8' TERM; echo up; while :; do sleep 0.01; done`, "", "", 9, runner.Timing{}},
		"it heeds no signals": {`trap '' INT TERM; echo up; while :; do sleep 0.01; done`, "cancel", "killed", -1, runner.Timing{Interrupt: soon, Terminate: soon}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			p := &lines{cancel: c.cancel}
			p.hear = func(line string) {
				if line == "up" {
					stop()
				}
			}
			begin(t, ctx, turn(t, "cancel"), p, c.script, follow.Options{Timing: c.timing})
			o := p.follow()
			if o.End != runner.Stopped || o.ExitCode != c.exit || o.Signal != c.signal || o.Hint != follow.HintGoesBack {
				t.Errorf("%+v", o)
			}
		})
	}
}

// A client that ignores the end of its input is killed. If Options.Terminates is set, it
// gets SIGTERM first.
func TestTheEndOfTheInputIsNotTheEndOfTheClient(t *testing.T) {
	const script = `trap 'exit 7' TERM; echo done; while :; do sleep 0.01; done`
	for name, c := range map[string]struct {
		terminates bool
		exit       int
	}{
		"killed":           {false, -1},
		"terminated first": {true, 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &lines{}
			p.hear = func(string) { p.run.CloseInput(time.Now()) }
			o := follow.Options{Timing: runner.Timing{Close: soon}, Terminates: c.terminates}
			begin(t, context.Background(), turn(t, "close"), p, script, o)
			if o := p.follow(); o.End != runner.Done || o.ExitCode != c.exit {
				t.Errorf("at the end of a turn: %+v", o)
			}

			p = &lines{}
			p.hear = func(string) { p.rests = p.run.MayStay() }
			begin(t, context.Background(), turn(t, "rest"), p, script, o)
			p.follow()
			if x := p.run.Stay(0).Close(context.Background()); x.ExitCode != c.exit {
				t.Errorf("at the end of a client that stayed: %+v", x)
			}
		})
	}
}

func TestAClientThatStays(t *testing.T) {
	tn := turn(t, "stay")
	p := &lines{}
	p.hear = func(string) { p.rests = p.run.MayStay() }
	begin(t, context.Background(), tn, p, `while read -r line; do echo "got $line"; done; echo bye; exit 5`, follow.Options{})
	p.run.Send([]byte("one\n"))
	if o := p.follow(); !p.rests || o.ExitCode != 0 {
		t.Fatalf("stays %v: %+v", p.rests, o)
	}
	w := p.run.Stay(p.offset)
	p.run.Close()
	select {
	case <-w.Exited():
		t.Fatal("the client has ended with its turn")
	default:
	}

	tn.Client, tn.From, tn.ID = tn.ID, w.Place(), tn.ID+"-2"
	var heard []string
	next := &lines{}
	next.hear = func(line string) {
		heard = append(heard, line)
		next.run.CloseInput(time.Now())
	}
	next.run = follow.New(context.Background(), tn, &kind, next, follow.Options{Timing: timing})
	defer next.run.Close()
	if out, ok := next.run.GoOn(w); !ok {
		t.Fatal(out.Reason)
	}
	next.run.Send([]byte("two\n"))
	if o := next.follow(); strings.Join(heard, ",") != "got two,bye" || o.ExitCode != 5 {
		t.Errorf("heard %q: %+v", heard, o)
	}
	if _, ok := next.run.GoOn(w); ok {
		t.Error("a client that has ended took a turn")
	}
}

func TestATurnOfAnEarlierDaemon(t *testing.T) {
	tn := turn(t, "adopt")
	p := &lines{}
	p.hear = func(string) { p.rests = true }
	begin(t, context.Background(), tn, p, `echo one; read -r end; echo two`, follow.Options{})
	p.follow()
	w := p.run.Stay(0)
	defer w.Close(context.Background())

	var heard []string
	later := &lines{}
	later.hear = func(line string) {
		heard = append(heard, line)
		later.run.Send([]byte("none of ours\n"))
		syscall.Kill(w.Process().PID, syscall.SIGTERM)
	}
	later.run = follow.New(context.Background(), tn, &kind, later, follow.Options{Timing: timing})
	defer later.run.Close()
	if out, ok := later.run.Adopt(w.Process()); !ok {
		t.Fatal(out.Reason)
	}
	if o := later.follow(); strings.Join(heard, ",") != "one" || o.ExitCode != -1 || later.run.CanSend() {
		t.Errorf("heard %q: %+v", heard, o)
	}
	if later.run.MayStay() {
		t.Error("a client that is not our child may stay")
	}
}

// Without its output, a client of an earlier daemon can report nothing, so it does not go on
// beside the next attempt.
func TestATurnOfAnEarlierDaemonWithoutItsOutput(t *testing.T) {
	tn := turn(t, "lost")
	var client runner.Process
	tn.Started = func(p runner.Process) error { client = p; return nil }
	earlier := &lines{}
	begin(t, context.Background(), tn, earlier, "exec sleep 600", follow.Options{})
	if err := os.Remove(tn.Stdout); err != nil {
		t.Fatal(err)
	}
	later := &lines{}
	later.run = follow.New(context.Background(), tn, &kind, later, follow.Options{Timing: timing})
	t.Cleanup(later.run.Close)
	out, ok := later.run.Adopt(client)
	if ok || out.End != runner.NoResult || !strings.Contains(out.Reason, "the output of the earlier daemon's turn is gone") {
		t.Errorf("Adopt = %+v, %v, want that the output is gone", out, ok)
	}
	if client.Alive() {
		t.Error("the client still runs")
	}
}

// Close ends a client that nobody has finished, such as after a panic.
func TestCloseLeavesNoClient(t *testing.T) {
	tn := turn(t, "close")
	var client runner.Process
	tn.Started = func(p runner.Process) error { client = p; return nil }
	p := &lines{}
	begin(t, context.Background(), tn, p, "sleep 600 & exec sleep 600", follow.Options{})
	if !client.Alive() {
		t.Fatal("the client does not run")
	}
	p.run.Close()
	if client.Alive() {
		t.Error("the client still runs")
	}
}

func TestTheTimesOfATurn(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, c := range map[string]struct {
		spec    runner.Spec
		waiting bool
		want    runner.End
	}{
		"too long":      {runner.Spec{Timeout: 100 * time.Millisecond}, false, runner.TimedOut},
		"too silent":    {runner.Spec{Stall: 100 * time.Millisecond}, false, runner.Stalled},
		"not begun yet": {runner.Spec{Timeout: 100 * time.Millisecond, Stall: 100 * time.Millisecond}, true, runner.Done},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tn := turn(t, "times")
			c.spec.Dir = tn.Spec.Dir
			tn.Spec = c.spec
			p := &lines{waiting: c.waiting}
			begin(t, context.Background(), tn, p, `exec sleep 1`, follow.Options{Timing: runner.Timing{Sample: 100 * time.Millisecond}})
			if o := p.follow(); o.End != c.want {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestAFlood(t *testing.T) {
	tn := turn(t, "flood")
	p := &lines{hear: func(string) {}}
	begin(t, context.Background(), tn, p, `exec yes`, follow.Options{MaxOutput: 1 << 20})
	if o := p.follow(); o.End != runner.Failed || !strings.Contains(o.Reason, "more than 1 MiB") {
		t.Errorf("%+v", o)
	}
	if info, err := os.Stat(tn.Stdout); err != nil || info.Size() > 4<<20 {
		t.Errorf("%v, %v", info.Size(), err)
	}
}

func TestMessages(t *testing.T) {
	tn := turn(t, "steer")
	wake, mail := make(chan struct{}, 1), []string{"first"}
	tn.Steering = &runner.Steering{Wake: wake, Next: func() (runner.Steer, bool) {
		if len(mail) == 0 {
			return runner.Steer{}, false
		}
		s := runner.Steer{Prompt: mail[0]}
		mail = mail[1:]
		return s, true
	}}
	var heard []string
	p := &lines{}
	p.hear = func(line string) {
		heard = append(heard, line)
		if len(heard) == 1 {
			mail = []string{"second", "third"}
			wake <- struct{}{}
		} else if len(heard) == 3 {
			p.run.CloseInput(time.Now())
		}
	}
	p.tick = func(time.Time) {
		for s := range p.run.Messages() {
			p.run.Send([]byte(s.Prompt + "\n"))
		}
	}
	begin(t, context.Background(), tn, p, `exec cat`, follow.Options{})
	p.follow()
	if got := strings.Join(heard, ","); got != "first,second,third" {
		t.Errorf("heard %q", got)
	}
}
