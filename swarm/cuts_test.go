package swarm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// errCut is the error that each change to the mailboxes returns after a cut, so that the
// dead daemon changes nothing more.
var errCut = errors.New("the daemon is dead")

// cutStore runs a daemon on a store that refuses every change once the function at has
// returned true, and then ends the daemon. Afterwards the mailboxes are in the same state as
// if the daemon had been killed.
func (f *field) cutStore(at func(dropbox.Step) bool) {
	f.t.Helper()
	dead := make(chan struct{})
	once := false
	store, err := dropbox.Open(f.store.Dir(), dropbox.Options{Step: func(st dropbox.Step) error {
		select {
		case <-dead:
			return errCut
		default:
		}
		if !once && at(st) {
			once = true
			close(dead)
			return errCut
		}
		return nil
	}})
	if err != nil {
		f.t.Fatal(err)
	}
	whole := f.store
	f.store = store
	f.start()
	select {
	case <-dead:
	case <-f.t.Context().Done():
		f.t.Fatal("never cut")
	}
	f.halt()
	if err := store.Close(); err != nil {
		f.t.Fatal(err)
	}
	f.store = whole
}

// cutEverywhere runs a task once for each change made to the mailboxes after the client's
// text. In each run the disk refuses that change and all later ones. After its text, the
// client takes the given last steps. Then a daemon starts again and cutEverywhere calls
// check. The function over reports whether the task has ended.
func cutEverywhere(t *testing.T, last []runnertest.Step, over func(f *field) bool, check func(f *field, id string)) {
	t.Helper()
	task := func(ended *bool) (*field, string) {
		f := newField(t, "coder")
		f.plan.Agents[0].MaxFailures = 1
		f.backend.Script = func(runner.Turn) []runnertest.Step {
			return append([]runnertest.Step{runnertest.Say("did it"), runnertest.Do(func(context.Context, runner.Turn) error {
				*ended = true
				return nil
			})}, last...)
		}
		return f, f.send("coder", "work")
	}
	// A run without a cut records the changes.
	var steps []dropbox.Step
	ended := false
	probe, _ := task(&ended)
	probe.store.Close()
	store, err := dropbox.Open(probe.store.Dir(), dropbox.Options{Step: func(st dropbox.Step) error {
		if ended {
			steps = append(steps, st)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	probe.store = store
	probe.start()
	probe.until("all is done", func() bool { return over(probe) })
	probe.halt()
	if len(steps) < 8 {
		t.Fatalf("only %d changes after the client's end: %v", len(steps), steps)
	}
	for n, at := range steps {
		t.Run(fmt.Sprintf("%02d %s %s", n, at.Op, strings.ReplaceAll(filepath.Dir(at.Name), "/", "_")), func(t *testing.T) {
			ended, seen := false, 0
			f, id := task(&ended)
			f.t = t
			f.cutStore(func(dropbox.Step) bool {
				if ended {
					seen++
				}
				return ended && seen == n+1
			})
			f.start()
			f.answer(id)
			f.until("all is done", func() bool { return over(f) })
			f.untilState("coder", swarm.Idle)
			f.nothingLeft("coder")
			if did, told := len(f.bodies()), len(f.bounces(id)); did != 1 || told != 1 {
				t.Errorf("cut before %v: done %d times, answered %d times; want once each", at, did, told)
			}
			check(f, id)
			f.halt()
		})
	}
}

// TestCutsAroundTheEndOfATurn checks that the task is done once and answered once, and that
// no work is left over.
func TestCutsAroundTheEndOfATurn(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	cutEverywhere(t, nil, func(f *field) bool { return len(f.files("coder", "done")) == 2 && len(f.files("coder", "cur")) == 0 }, func(f *field, id string) {
		f.ledgerSays(id, "done")
	})
}

// TestCutsAroundABurial checks that the sender gets one bounce and that the message is in
// dead/ with its reason.
func TestCutsAroundABurial(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const reason = "no luck"
	cutEverywhere(t, []runnertest.Step{runnertest.Fail(reason)}, func(f *field) bool { return len(f.files("coder", "dead")) == 2 }, func(f *field, id string) {
		if b := f.bounces(id)[0]; b.From != dropbox.Swarm || !strings.Contains(string(b.Body), reason) {
			f.t.Errorf("the bounce is from %s: %s", b.From, b.Body)
		}
		f.ledgerSays(id, "failed")
	})
}

func TestClaimedWithoutARecordGoesBack(t *testing.T) {
	f := newField(t, "coder")
	id := f.send("coder", "work")
	claim(f, "coder", id)
	f.start()
	f.answer(id)
	if got := f.backend.Runs()[0].Turn; !strings.Contains(got.Prompt, "begun before") || !strings.HasSuffix(got.ID, "-2") {
		t.Errorf("turn %s:\n%s", got.ID, got.Prompt)
	}
}

func TestAClientThatOutlivedItsDaemonIsFollowed(t *testing.T) {
	f := newField(t, "coder")
	id := f.send("coder", "work")
	turn := claim(f, "coder", id)
	// The client of this turn is this process, so it is still running.
	self, err := runner.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	writeRecord(f, turn, id, self)
	f.backend.Outlive = func(runner.Turn, runner.Process) []runnertest.Step {
		return []runnertest.Step{runnertest.Say("finished on my own")}
	}
	f.start()
	if ans := f.answer(id); !strings.Contains(string(ans.Body), "finished on my own") {
		t.Errorf("answer = %s", ans.Body)
	}
	runs := f.backend.Runs()
	if len(runs) != 1 || !runs[0].Followed {
		t.Errorf("%d turns, followed %v: the work was done twice", len(runs), runs[0].Followed)
	}
}

// A client that outlives its daemon keeps the tools with which its turn began, even if
// the settings have changed. The turn's record lists these tools.
func TestAFollowedTurnKeepsItsTools(t *testing.T) {
	for _, tools := range []bool{true, false} {
		f := newField(t, "coder")
		f.tools = &runner.Server{Command: "claude-swarm", Args: []string{"mcp"}}
		f.plan.Agents[0].Tools = tools
		recorded := make(chan string, 1)
		f.before = func(turn runner.Turn) {
			data, err := os.ReadFile(filepath.Join(journal.HomeOf(f.dir).Turns(), turn.ID+".json"))
			recorded <- fmt.Sprint(string(data), err)
		}
		f.start()
		f.answer(f.send("coder", "work"))
		if rec := <-recorded; strings.Contains(rec, `"tools":true`) != tools {
			t.Errorf("the record of a turn with tools %v is %s", tools, rec)
		}

		f = newField(t, "coder")
		f.tools = &runner.Server{Command: "claude-swarm", Args: []string{"mcp"}}
		f.plan.Agents[0].Tools = !tools
		id := f.send("coder", "work")
		turn := claim(f, "coder", id)
		self, err := runner.Identify(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		writeRecord(f, turn, id, self)
		file := filepath.Join(journal.HomeOf(f.dir).Turns(), turn+".json")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(data), "{", fmt.Sprintf(`{"tools":%v,`, tools), 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		f.backend.Outlive = func(runner.Turn, runner.Process) []runnertest.Step {
			return []runnertest.Step{runnertest.Say("finished on my own")}
		}
		f.start()
		f.answer(id)
		if runs := f.backend.Runs(); !runs[0].Followed || (runs[0].Turn.Tools != nil) != tools {
			t.Errorf("with tools %v: followed %v with the tools %+v", tools, runs[0].Followed, runs[0].Turn.Tools)
		}
	}
}

// Without a daemon the status shows the turns that have begun, whether or not their clients
// are still running.
func TestOfflineStatusOfWhatWasBegun(t *testing.T) {
	f := newField(t, "coder", "reviewer")
	self, err := runner.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	lives := f.send("coder", "work", subject("the parser"))
	writeRecord(f, claim(f, "coder", lives), lives, self)
	dead := f.send("reviewer", "work")
	writeRecord(f, claim(f, "reviewer", dead), dead, runner.Process{PID: 1 << 22, Start: 1})
	st, err := swarm.Offline(journal.HomeOf(f.dir), f.store, f.plan, f.dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if a := st.Agents[0]; a.State != swarm.Working || !a.Running || a.PID == nil || *a.PID != self.PID || a.Message == nil || a.Message.ID != lives || a.Message.Subject != "the parser" || a.Next == "" {
		t.Errorf("the client lives: %+v", a)
	}
	if a := st.Agents[1]; a.State != swarm.Stopped || a.Message != nil || !strings.Contains(a.Why, dead+") was started") {
		t.Errorf("the client is dead: %+v", a)
	}
}

// When the daemon starts, it ends a client whose message has disappeared, even if an
// agent follows another client for a long time.
func TestAClientThatNobodyTakesUpIsEnded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	f := newField(t, "coder")
	id := f.send("coder", "work")
	turn := claim(f, "coder", id)
	self, err := runner.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	writeRecord(f, turn, id, self)
	release := make(chan struct{})
	f.backend.Outlive = func(runner.Turn, runner.Process) []runnertest.Step {
		return []runnertest.Step{waitFor(release), runnertest.Say("finished on my own")}
	}

	const lost = "aaaaaaaaaa"
	ended, p := leftover(t, lost+"-1")
	writeRecord(f, lost+"-1", lost, p)

	f.start()
	f.untilClosed("the client that nobody takes up has ended", ended)
	if n := f.backend.Running(); n != 1 {
		t.Errorf("%d clients are followed, want the other one still", n)
	}
	close(release)
	f.answer(id)
}

// leftover starts a process with the mark of a turn in its environment; ended is closed
// when the process ends.
func leftover(t *testing.T, turn string) (ended chan struct{}, p runner.Process) {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.Env = append(os.Environ(), runner.MarkVar+"="+turn)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended = make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	t.Cleanup(func() { cmd.Process.Kill(); <-ended })
	p, err := runner.Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return ended, p
}

// If a later daemon ends a turn, the turn's log, the ledger and the record count its duration
// from its beginning, and not from the start of that daemon.
func TestTheDurationOfATurnThatOutlivedItsDaemon(t *testing.T) {
	f := newField(t, "coder")
	id := f.send("coder", "work")
	turn := claim(f, "coder", id)
	writeRecord(f, turn, id, runner.Process{PID: 1 << 22, Start: 1})
	f.start()
	f.answer(id)
	rec, err := journal.ReadRecord(journal.HomeOf(f.dir), turn)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range f.ledgerOf("coder") {
		if l.Turn != turn {
			continue
		}
		took := time.Duration(l.Seconds * float64(time.Second))
		if begun := l.At.Add(-took); begun.Sub(rec.Begun).Abs() > time.Second {
			t.Errorf("in the ledger the turn began at %v, in its record at %v", begun, rec.Begun)
		}
		log, err := os.ReadFile(filepath.Join(journal.HomeOf(f.dir).Dir(), "logs", "coder.log"))
		if want := "= " + l.Outcome + " " + screen.Took(took); err != nil || !strings.Contains(string(log), want) {
			t.Errorf("the log has no %q: %s, %v", want, log, err)
		}
		return
	}
	t.Error("the turn has no line in the ledger")
}

func TestADeadClientWithoutAResultIsTriedAgain(t *testing.T) {
	f := newField(t, "coder")
	id := f.send("coder", "work")
	turn := claim(f, "coder", id)
	writeRecord(f, turn, id, runner.Process{PID: 1 << 22, Start: 1})
	f.start()
	f.answer(id)
	if got := f.files("coder", "dead"); len(got) != 0 {
		t.Errorf("dead/ = %v", got)
	}
	r := f.receipt("coder", id)
	if len(r.Attempts) != 2 || r.Attempts[0].Outcome != "cut off" {
		t.Errorf("attempts = %+v", r.Attempts)
	}
}

func TestAMessageBegunTenTimesWithoutAnEndIsGivenUp(t *testing.T) {
	f := newField(t, "coder")
	id := f.send("coder", "kills the machine")
	box, err := f.store.Mailbox("coder")
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		claim(f, "coder", id)
		entries, err := box.Claimed()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := box.PutBack(entries[0], false); err != nil {
			t.Fatal(err)
		}
	}
	f.start()
	if b := f.answer(id); !strings.Contains(string(b.Body), "begun 10 times, but never ended") {
		t.Errorf("bounce = %s", b.Body)
	}
	if n := len(f.backend.Runs()); n != 0 {
		t.Errorf("it was begun again, %d times", n)
	}
}

// claim claims a message the way a daemon that dies right after the claim would. It
// returns the id of the turn.
func claim(f *field, name, id string) string {
	f.t.Helper()
	box, err := f.store.Mailbox(name)
	if err != nil {
		f.t.Fatal(err)
	}
	entries, err := box.List()
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range entries {
		if e.ID == id {
			c, err := box.Claim(e)
			if err != nil {
				f.t.Fatal(err)
			}
			return id + "-" + string(rune('0'+c.Begun))
		}
	}
	f.t.Fatalf("%s does not wait", id)
	return ""
}

func writeRecord(f *field, turn, id string, p runner.Process) {
	f.t.Helper()
	home := journal.HomeOf(f.dir)
	if err := home.Make(); err != nil {
		f.t.Fatal(err)
	}
	data := `{"v":1,"turn":"` + turn + `","agent":"coder","message":"` + id + `","thread":"` + id + `","trace":"` + id +
		`","uuid":"00000000-0000-5000-8000-000000000001","session":"00000000-0000-4000-8000-000000000001","how":"new","begun":"2026-11-21T04:51:02Z","process":` +
		`{"pid":` + fmt.Sprint(p.PID) + `,"start":` + fmt.Sprint(p.Start) + `}}`
	if err := os.WriteFile(filepath.Join(home.Turns(), turn+".json"), []byte(data), 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(home.Stream(turn), nil, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// A disk that is full for a while stops the work but not the daemon. When the disk has
// room again, the daemon files the finished work and does not repeat it.
func TestAFullDiskIsWaitedFor(t *testing.T) {
	f := newField(t, "coder")
	var full atomic.Bool
	refused := make(chan struct{}, 1)
	store, err := dropbox.Open(f.store.Dir(), dropbox.Options{Step: func(st dropbox.Step) error {
		if !full.Load() {
			return nil
		}
		select {
		case refused <- struct{}{}:
		default:
		}
		return syscall.ENOSPC
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	id := f.send("coder", "work")
	f.store = store
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Say("did it"), runnertest.Do(func(context.Context, runner.Turn) error {
			full.Store(true)
			return nil
		})}
	}
	f.start()
	<-refused
	if st := f.untilState("coder", swarm.Backoff); !strings.Contains(st.Why, "no space left") {
		t.Errorf("why = %q", st.Why)
	}
	full.Store(false)
	f.answer(id)
	f.receipt("coder", id)
	if n := len(f.bodies()); n != 1 {
		t.Errorf("%d turns, want 1", n)
	}
}

func TestARetriedDeadLetterRunsUnderNewNames(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	id := f.send("coder", "@fail no luck")
	f.answer(id)
	box, err := f.store.Mailbox("coder")
	if err != nil {
		t.Fatal(err)
	}
	var dead []dropbox.DeadLetter
	f.until("it is dead", func() bool { dead, err = box.DeadLetters().List(); return err == nil && len(dead) == 1 })
	if err := box.DeadLetters().Retry(dead[0]); err != nil {
		t.Fatal(err)
	}
	f.until("it ran again", func() bool { return len(f.bodies()) >= 4 })
	seen := map[string]bool{}
	for _, r := range f.backend.Runs() {
		if seen[r.Turn.UUID] {
			t.Errorf("turn %s has the uuid of an earlier one: the CLI would not run it", r.Turn.ID)
		}
		seen[r.Turn.UUID] = true
	}
}
