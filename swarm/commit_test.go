package swarm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// The test checks the order of the changes of one turn whose prompt contains a note. The
// claim is durable before the client gets the prompt. The receipt is durable before the
// ledger has the turn's line. Before the message is filed, the line is in the ledger and
// the sender has the answer.
func TestTheOrderOfAGoodTurn(t *testing.T) {
	f := newField(t, "coder")
	var mu sync.Mutex
	var got []string
	happened := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		if what == "ledger has lines: 0" || strings.HasPrefix(what, "ledger") && slices.Contains(got, what) {
			return
		}
		got = append(got, what)
	}
	names := []struct{ pattern, with string }{
		{`\d-\d{8}T\d{6}\.\d{6}Z-[a-z2-7]{10}`, "MESSAGE"},
		{`\d{4}-\d\d-\d\d`, "DAY"},
		{`[0-9a-f]{64}`, "SHA256"},
		{`([-.])[a-z2-7]{10}\b`, "${1}ID"},
	}
	f.reopen(dropbox.Options{Step: func(st dropbox.Step) error {
		turns, _ := f.ledger()
		happened(fmt.Sprint("ledger has lines: ", len(turns)))
		step := st.String()
		for _, n := range names {
			step = regexp.MustCompile(n.pattern).ReplaceAllString(step, n.with)
		}
		happened(step)
		return nil
	}})
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		rec, err := os.ReadFile(filepath.Join(journal.HomeOf(f.dir).Turns(), turn.ID+".json"))
		if err != nil || !strings.Contains(string(rec), `"pid":`) {
			t.Errorf("when the prompt is sent the record is %s, %v", rec, err)
		}
		happened("prompt")
		return []runnertest.Step{runnertest.Say("did it")}
	}
	note := f.send("coder", "by the way", typed(dropbox.Note))
	id := f.send("coder", "work")
	mu.Lock()
	got = nil
	mu.Unlock()
	f.start()
	f.answer(id)
	f.receipt("coder", id)
	f.receipt("coder", note)
	f.untilState("coder", swarm.Idle)
	f.halt()
	from := slices.Index(got, "move coder/new/MESSAGE.md coder/cur/MESSAGE~1.0.md")
	want := strings.Split(strings.TrimSpace(`
move coder/new/MESSAGE.md coder/cur/MESSAGE~1.0.md
move coder/new/MESSAGE.md coder/cur/MESSAGE~1.0.md
syncdir coder/cur
prompt
create coder/tmp/receipt-ID
write coder/tmp/receipt-ID
sync coder/tmp/receipt-ID
move coder/tmp/receipt-ID coder/cur/MESSAGE.receipt.yaml
syncdir coder/cur
ledger has lines: 1
create coder/tmp/receipt-ID
write coder/tmp/receipt-ID
sync coder/tmp/receipt-ID
move coder/tmp/receipt-ID coder/cur/MESSAGE.receipt.yaml
syncdir coder/cur
mkdir coder/done/DAY
syncdir coder/done
syncdir coder/new
replace coder/cur/MESSAGE~1.0.md coder/done/DAY/MESSAGE.md
syncdir coder/done/DAY
replace coder/cur/MESSAGE.receipt.yaml coder/done/DAY/MESSAGE.receipt.yaml
syncdir coder/done/DAY
create lead/tmp/MESSAGE.md
write lead/tmp/MESSAGE.md
sync lead/tmp/MESSAGE.md
link lead/tmp/MESSAGE.md lead/keys/SHA256
syncdir lead/keys
move lead/tmp/MESSAGE.md lead/new/MESSAGE.md
syncdir lead/new
syncdir coder/new
replace coder/cur/MESSAGE~1.0.md coder/done/DAY/MESSAGE.md
syncdir coder/done/DAY
replace coder/cur/MESSAGE.receipt.yaml coder/done/DAY/MESSAGE.receipt.yaml
syncdir coder/done/DAY
`), "\n")
	if diff := cmp.Diff(want, got[max(0, from):]); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

// Each change that a message causes in the mailboxes fails once and succeeds on the next
// attempt. The daemon continues, and the message reaches its final folder once. No turn
// runs twice, and no file is missing.
func TestEachChangeIsRefusedOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, c := range map[string]struct {
		last   []runnertest.Step // the client's last steps
		folder string            // the folder in which the message ends up
		ledger string
	}{
		"done":   {nil, "done", "done"},
		"failed": {[]runnertest.Step{runnertest.Fail("no luck")}, "dead", "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			for at, more := 1, true; more; at++ {
				more = false
				t.Run(fmt.Sprintf("%02d", at), func(t *testing.T) {
					f := newField(t, "coder")
					f.plan.Agents[0].MaxFailures = 1
					var refused dropbox.Step
					n, begun, over := 0, false, false
					note := f.send("coder", "by the way", typed(dropbox.Note))
					id := f.send("coder", "work")
					var mu sync.Mutex
					f.reopen(dropbox.Options{Step: func(st dropbox.Step) error {
						mu.Lock()
						defer mu.Unlock()
						begun = begun || strings.HasPrefix(st.To, "coder/cur/")
						if !begun || over {
							return nil
						}
						if n++; n == at {
							refused, more = st, true
							return syscall.EIO
						}
						return nil
					}})
					var prompts atomic.Int64
					f.backend.Script = func(turn runner.Turn) []runnertest.Step {
						if !strings.HasPrefix(turn.ID, id) {
							return nil
						}
						prompts.Add(1)
						return append([]runnertest.Step{runnertest.Say("did it")}, c.last...)
					}
					f.start()
					f.answer(id)
					f.until("the message is at its end", func() bool {
						left := append(f.files("coder", "cur"), f.files("coder", "new")...)
						return f.status("coder").State == swarm.Idle && !slices.ContainsFunc(left, func(name string) bool {
							return strings.Contains(name, id) || strings.HasPrefix(name, "cur/")
						})
					})
					mu.Lock()
					over = true
					mu.Unlock()
					if n := prompts.Load(); n != 1 {
						t.Errorf("refused %v: %d turns, want 1", refused, n)
					}
					if told := len(f.bounces(id)); told != 1 {
						t.Errorf("refused %v: answered %d times, want once", refused, told)
					}
					files := slices.DeleteFunc(f.files("coder", c.folder), func(name string) bool { return !strings.Contains(name, id) })
					if len(files) != 2 {
						t.Errorf("refused %v: in %s/ are %q, want the message and what is said of it", refused, c.folder, files)
					}
					f.ledgerSays(id, c.ledger)
					f.answer(f.send("coder", "@say what the note waits for, if it does"))
					f.untilState("coder", swarm.Idle)
					if got := f.files("coder", "done"); !slices.ContainsFunc(got, func(name string) bool { return strings.Contains(name, note) }) {
						t.Errorf("refused %v: the note is not done, only %q; it is %q", refused, got, append(f.files("coder", "new"), f.files("coder", "cur")...))
					}
					f.nothingLeft("coder")
					f.halt()
				})
			}
		})
	}
}

// A turn is filed only after its line is in the ledger. While the ledger cannot be
// written, the agent waits and tries again.
func TestALedgerThatTakesNothingIsWaitedFor(t *testing.T) {
	for name, last := range map[string][]runnertest.Step{"done": nil, "failed": {runnertest.Fail("no luck")}} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			f.plan.Agents[0].MaxFailures = 1
			var heal func()
			f.backend.Script = func(runner.Turn) []runnertest.Step {
				return append([]runnertest.Step{runnertest.Say("did it"), runnertest.Do(func(context.Context, runner.Turn) error {
					heal = refuse(t, journal.HomeOf(f.dir).Ledger())
					return nil
				})}, last...)
			}
			f.start()
			id := f.send("coder", "work")
			f.until("the trouble is seen, or the message is gone", func() bool {
				return f.status("coder").State == swarm.Backoff || len(f.files("coder", "done"))+len(f.files("coder", "dead")) > 0
			})
			f.until("it is tried again", func() bool {
				return strings.Count(f.log.String(), "mailbox could not be used") >= 3 || len(f.files("coder", "cur")) == 0
			})
			if st := f.status("coder"); st.State != swarm.Backoff || !strings.Contains(st.Why, "ledger") {
				t.Errorf("the agent is %s, %s; want it to wait for the ledger", st.State, st.Why)
			}
			if got := f.files("coder", "cur"); len(got) == 0 {
				t.Error("the message is filed, but the ledger has no line about it")
			}
			heal()
			f.answer(id)
			f.untilState("coder", swarm.Idle)
			f.ledgerSays(id, name)
			if n := len(f.bodies()); n != 1 {
				t.Errorf("%d turns, want 1", n)
			}
		})
	}
}

// A recorded failure counts even if the daemon crashed before it put the message back.
func TestAFailureCountsAfterACrash(t *testing.T) {
	f := newField(t, "coder")
	f.backend.Script = func(runner.Turn) []runnertest.Step { return []runnertest.Step{runnertest.Fail("no luck")} }
	id := f.send("coder", "work")
	f.cutStore(func(st dropbox.Step) bool {
		return st.Op == dropbox.OpMove && strings.HasPrefix(st.Name, "coder/cur/") && strings.HasPrefix(st.To, "coder/new/")
	})
	goOn := make(chan struct{})
	f.backend.Script = func(runner.Turn) []runnertest.Step { return []runnertest.Step{waitFor(goOn)} }
	f.start()
	f.untilState("coder", swarm.Working)
	if got := f.files("coder", "cur"); len(got) != 1 || !strings.HasSuffix(got[0], id+"~2.1.md") {
		t.Errorf("cur/ = %v, want the message begun twice and failed once", got)
	}
	close(goOn)
	f.answer(id)
	if r := f.receipt("coder", id); len(r.Attempts) != 2 || r.Attempts[0].Reason != "no luck" {
		t.Errorf("attempts = %+v", r.Attempts)
	}
}

// Before the daemon begins a message again, it ends the processes that the message's dead
// client left running.
func TestWhatADeadClientLeftIsEndedFirst(t *testing.T) {
	f := newField(t, "coder")
	id := f.send("coder", "work")
	turn := claim(f, "coder", id)
	writeRecord(f, turn, id, runner.Process{PID: 1 << 22, Start: 1})
	leftover(t, turn)
	if len(runner.Leftovers(turn)) == 0 {
		t.Fatal("the dead client has left nothing")
	}
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		if left := runner.Leftovers(turn); len(left) > 0 {
			t.Errorf("the message is begun again, and what its dead client started works on: %v", left)
		}
		return nil
	}
	f.start()
	f.answer(id)
}

// An agent that is paused while it waits for a slot claims nothing when it gets the slot.
func TestAPauseWhileAnAgentWaitsForAPlace(t *testing.T) {
	f := newField(t, "a", "b")
	f.plan.MaxRunning = 1
	var claimed sync.Map
	f.reopen(dropbox.Options{Step: func(st dropbox.Step) error {
		if strings.HasPrefix(st.To, "b/cur/") {
			claimed.Store("b", st)
		}
		return nil
	}})
	release := make(chan struct{})
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if turn.Agent == "a" {
			return []runnertest.Step{waitFor(release)}
		}
		return nil
	}
	f.start()
	first := f.send("a", "first")
	f.untilState("a", swarm.Working)
	second := f.send("b", "second")
	f.untilState("b", swarm.Queued)
	if err := f.daemon.Pause("b", swarm.PauseOrder{By: "lead"}); err != nil {
		t.Fatal(err)
	}
	close(release)
	f.answer(first)
	f.untilState("b", swarm.Paused)
	if st, ok := claimed.Load("b"); ok {
		t.Errorf("b is paused, and yet: %v", st)
	}
	if err := f.daemon.Resume("b", "lead"); err != nil {
		t.Fatal(err)
	}
	f.answer(second)
}

// The number and the total size of a turn's notes are limited, but a single note can have
// any size. The other notes wait for the next turn and do not count as begun.
func TestHowMuchRidesAlong(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const half = 16 << 10
	for name, c := range map[string]struct {
		sizes []int
		rides int // notes in the first turn
	}{
		"as much as there is room":      {[]int{half, half}, 2},
		"one byte more":                 {[]int{half, half + 1}, 1},
		"a large one first":             {[]int{3 * half, 10}, 1},
		"as many as there is room for":  {slices.Repeat([]int{10}, 16), 16},
		"one more":                      {slices.Repeat([]int{10}, 17), 16},
		"a large one behind small ones": {[]int{10, 3 * half, 10}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			f.reopen(dropbox.Options{MaxBody: 1 << 20})
			var notes []string
			for _, size := range c.sizes {
				notes = append(notes, f.send("coder", strings.Repeat("n", size), typed(dropbox.Note)))
			}
			goOn := make(chan struct{})
			f.backend.Script = func(runner.Turn) []runnertest.Step { return []runnertest.Step{waitFor(goOn)} }
			f.start()
			first := f.send("coder", "work")
			f.until("the turn runs", func() bool { return len(f.backend.Runs()) == 1 })
			prompt := f.backend.Runs()[0].Turn.Prompt
			for i, id := range notes {
				if rides := strings.Contains(prompt, id); rides != (i < c.rides) {
					t.Errorf("note %d of %d bytes rides along: %v", i, c.sizes[i], rides)
				}
			}
			if got := f.files("coder", "new"); len(got) != len(notes)-c.rides || slices.ContainsFunc(got, func(name string) bool { return strings.Contains(name, "~") }) {
				t.Errorf("new/ = %v, want %d notes that were never begun", got, len(notes)-c.rides)
			}
			close(goOn)
			f.answer(first)
			f.answer(f.send("coder", "more work"))
			f.answer(f.send("coder", "still more"))
			for _, id := range notes {
				f.receipt("coder", id)
			}
		})
	}
}

// Agents that fail at the same time do not all retry at the same time.
func TestWaitsAreSpread(t *testing.T) {
	var agents []string
	for i := range 8 {
		agents = append(agents, fmt.Sprintf("coder%d", i))
	}
	f := newField(t, agents...)
	f.restart = swarm.RestartPolicy{}
	const wait = 100 * time.Second
	for i := range f.plan.Agents {
		f.plan.Agents[i].RetryDelay = wait
	}
	f.start()
	for _, name := range agents {
		f.send(name, "@fail no luck")
	}
	spread := 0
	for _, name := range agents {
		f.untilState(name, swarm.Backoff)
		failed, until := f.daemon.Waits(name)
		switch d := until.Sub(failed); {
		case d < wait || d > wait+wait/5:
			t.Errorf("%s waits %v, want %v and up to a fifth more", name, d, wait)
		case d > wait+wait/100:
			spread++
		}
	}
	if spread == 0 {
		t.Errorf("all %d wait equally long", len(agents))
	}
}

// refuse makes appends to a file fail until heal is called. It replaces the file with a
// symlink to a folder.
func refuse(t *testing.T, path string) (heal func()) {
	t.Helper()
	kept := path + ".kept"
	// Because a single rename replaces the file with the link, a line that is added at
	// the same time either fails or is in the file that heal restores.
	if err := errors.Join(os.Link(path, kept), os.Symlink(filepath.Dir(path), path+".folder"), os.Rename(path+".folder", path)); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := os.Rename(kept, path); err != nil {
			t.Fatal(err)
		}
	}
}
