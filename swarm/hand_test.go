package swarm_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

func drop(f *field, agent, name, text string) {
	f.t.Helper()
	if err := dropNow(f, agent, name, text); err != nil {
		f.t.Fatal(err)
	}
}

// dropNow is like drop, for a goroutine of a turn.
func dropNow(f *field, agent, name, text string) error {
	// The file appears with its complete text. Otherwise, on a loaded machine, the time
	// between the creation of a file and the writing of its text could exceed the short
	// debounce of these tests, and the empty file would be set aside.
	whole := filepath.Join(filepath.Dir(f.store.Dir()), ".drop-"+agent+"-"+name)
	if err := os.WriteFile(whole, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(whole, filepath.Join(f.store.Dir(), agent, name))
}

func TestADroppedFileIsDoneLikeAnyOther(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	drop(f, "coder", "task.md", "fix the parser\n")
	f.until("an answer", func() bool { return len(f.mail(dropbox.Lead)) == 1 })
	ans := f.mail(dropbox.Lead)[0]
	if !strings.Contains(string(ans.Body), "fix the parser") || ans.Type != dropbox.Result {
		t.Errorf("answer = %s: %s", ans.Type, ans.Body)
	}
	r := f.receipt("coder", ans.ReplyTo)
	if r.Via != "hand" || r.Proven {
		t.Errorf("via %s, proven %v", r.Via, r.Proven)
	}
	if !strings.Contains(f.backend.Runs()[0].Turn.Prompt, "from lead (unverified, through hand), type task") {
		t.Errorf("prompt:\n%s", f.backend.Runs()[0].Turn.Prompt)
	}
}

func TestAFileDroppedBeforeTheStart(t *testing.T) {
	f := newField(t, "coder")
	drop(f, "coder", "task.md", "---\nfrom: lead\nsubject: early\n---\nwork\n")
	f.start()
	f.until("an answer", func() bool { return len(f.mail(dropbox.Lead)) == 1 })
}

// A file that is dropped into a full mailbox is reported, and then delivered as soon as
// there is room. No periodic check runs in this test.
func TestAFileDroppedIntoAFullMailbox(t *testing.T) {
	f := newField(t, "coder")
	f.reopen(dropbox.Options{MaxWaiting: 2})
	f.sweep = time.Hour
	if err := f.store.Halt("not yet"); err != nil {
		t.Fatal(err)
	}
	f.send("coder", "one")
	f.send("coder", "two")
	box, err := f.store.Mailbox("coder")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box.List(); err != nil { // creates the FULL mark
		t.Fatal(err)
	}
	f.start()
	drop(f, "coder", "third.md", "three\n")
	troubles := func() []swarm.Problem {
		st, err := f.daemon.Status()
		if err != nil {
			t.Fatal(err)
		}
		return st.Trouble
	}
	f.until("the status says why it waits", func() bool {
		return strings.Contains(fmt.Sprint(troubles()), "the mailbox of coder is full (max_waiting): third.md")
	})
	if err := f.store.Unhalt(); err != nil {
		t.Fatal(err)
	}
	f.until("it is done", func() bool { return len(f.bodies()) == 3 })
	f.until("nothing is complained of", func() bool { return len(troubles()) == 0 })
}

// The system prompt in design document 4 lets an agent write files into its mailbox. Such
// a file does not wake the agent.
func TestAnAgentsOwnFilesDoNotWakeIt(t *testing.T) {
	f := newField(t, "opus-engineer")
	mine := filepath.Join(f.store.Dir(), "opus-engineer", "perf-015.md")
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		return []runnertest.Step{
			runnertest.Tool(runnertest.Save, map[string]any{"path": mine, "content": "notes"}, ""),
			runnertest.Do(func(context.Context, runner.Turn) error {
				return dropNow(f, "opus-engineer", filepath.Base(mine), "notes")
			}),
			runnertest.Say("written"),
		}
	}
	f.start()
	f.answer(f.send("opus-engineer", "Do PERF-015"))
	f.until("the file is moved to work/", func() bool {
		_, err := os.Stat(filepath.Join(f.store.Dir(), "opus-engineer", "work", "perf-015.md"))
		return err == nil
	})
	f.untilState("opus-engineer", swarm.Idle)
	if n := len(f.backend.Runs()); n != 1 {
		t.Errorf("%d turns: the agent woke itself", n)
	}
}

// A file that appears in the mailbox of a working agent belongs to the agent's turn if a
// call that can write was running and names the file or its folder. Otherwise it begins a
// conversation and a task, as a file for an idle agent does. In each case the lead gets the
// answer.
func TestTheOriginOfAFileForAWorkingAgent(t *testing.T) {
	shell := func(command string) map[string]any { return map[string]any{"command": command} }
	in := func(f *field) string { return filepath.Join(f.store.Dir(), "coder") }
	type call struct {
		tool  string
		input func(f *field) map[string]any
	}
	for name, c := range map[string]struct {
		before *call // ends before the file appears
		call   *call // runs while the file appears
		agents bool  // the file is the turn's
	}{
		"no call":             {},
		"a call elsewhere":    {call: &call{runnertest.Shell, func(*field) map[string]any { return shell("make test") }}},
		"a shell":             {call: &call{runnertest.Shell, func(f *field) map[string]any { return shell("echo step two > " + in(f) + "/next.md") }}, agents: true},
		"a shell, relative":   {call: &call{runnertest.Shell, func(*field) map[string]any { return shell("sh gen.sh .dead-drop/coder") }}, agents: true},
		"a shell, in parts":   {call: &call{runnertest.Shell, func(*field) map[string]any { return shell("cd .dead-drop; echo step two > coder/next.md") }}, agents: true},
		"a shell, quoted":     {call: &call{runnertest.Shell, func(*field) map[string]any { return shell(`echo step two > .dead-drop/"coder"/next.md`) }}, agents: true},
		"another mailbox":     {call: &call{runnertest.Shell, func(*field) map[string]any { return shell("ls .dead-drop/reviewer") }}},
		"a reader":            {call: &call{runnertest.Look, func(f *field) map[string]any { return map[string]any{"path": in(f)} }}},
		"a call that is over": {before: &call{runnertest.Shell, func(f *field) map[string]any { return shell("ls " + in(f)) }}},
		"a shell in the folder": {before: &call{runnertest.Shell, func(f *field) map[string]any { return shell("cd " + in(f)) }},
			call: &call{runnertest.Shell, func(*field) map[string]any { return shell("echo step two > next.md") }}, agents: true},
		"another file, in the folder": {before: &call{runnertest.Shell, func(f *field) map[string]any { return shell("cd " + in(f)) }},
			call: &call{runnertest.Shell, func(*field) map[string]any { return shell("make test") }}},
		"a shell in the background":     {before: &call{runnertest.Shell, func(f *field) map[string]any { return shell("(sleep 9; echo step two > " + in(f) + "/next.md) &") }}, agents: true},
		"a call with 2>&1 that is over": {before: &call{runnertest.Shell, func(f *field) map[string]any { return shell("ls " + in(f) + " 2>&1 && true") }}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder", "reviewer")
			f.backend.Script = func(turn runner.Turn) []runnertest.Step {
				if strings.Contains(turn.Prompt, "step two") {
					return []runnertest.Step{runnertest.Say("two is done")}
				}
				appears := func(context.Context) error {
					if err := dropNow(f, "coder", "next.md", "step two"); err != nil {
						return err
					}
					f.until("the file is taken in", func() bool { return len(f.files("coder", "new")) > 0 })
					return nil
				}
				var steps []runnertest.Step
				if c.before != nil {
					steps = append(steps, runnertest.Tool(c.before.tool, c.before.input(f), ""), runnertest.Do(func(context.Context, runner.Turn) error {
						time.Sleep(5 * f.plan.Debounce) // so long after its call, a file is not of the call
						return nil
					}))
				}
				if c.call != nil {
					steps = append(steps, runnertest.During(c.call.tool, c.call.input(f), appears))
				} else {
					steps = append(steps, runnertest.Do(func(ctx context.Context, _ runner.Turn) error { return appears(ctx) }))
				}
				return append(steps, runnertest.Say("one is done"))
			}
			f.start()
			id := f.send("coder", "step one")
			f.until("both are answered", func() bool { return len(f.mail(dropbox.Lead)) >= 2 })
			f.untilState("coder", swarm.Idle)
			runs := f.backend.Runs()
			if len(runs) != 2 {
				t.Fatalf("%d turns, want 2", len(runs))
			}
			data, err := os.ReadFile(filepath.Join(f.dir, ".claude-swarm", "turns", runs[1].Turn.ID+".json"))
			if err != nil {
				t.Fatal(err)
			}
			if inherits := strings.Contains(string(data), `"hops": 1`) && strings.Contains(string(data), `"trace": "`+id+`"`); inherits != c.agents {
				t.Errorf("the file inherits the turn: %v, want %v\n%s", inherits, c.agents, data)
			}
		})
	}
}

// Ten unrelated files that are dropped one after another, each while the agent works on
// the one before, are ten tasks: ten answers, no hops, nothing refused, and no task's cap
// counts for another.
func TestTenFilesForAWorkingAgent(t *testing.T) {
	f := newGated(t, policy.Default(), "coder")
	f.plan.Budget = budget.Rules{Task: budget.Of(0, 3, 0)}
	next := 1
	dropNext := func() error {
		n := next
		next++
		return dropNow(f, "coder", fmt.Sprintf("t%d.md", n), fmt.Sprintf("Human task number %d, unrelated", n))
	}
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Tool(runnertest.Shell, map[string]any{"command": "make test"}, ""), runnertest.Do(func(context.Context, runner.Turn) error {
			if next > 10 {
				return nil
			}
			if err := dropNext(); err != nil {
				return err
			}
			f.until("the file is taken in", func() bool { return len(f.files("coder", "new")) > 0 })
			return nil
		}), runnertest.Say("did it")}
	}
	f.start()
	f.must(dropNext())
	f.until("ten answers", func() bool { return len(f.mail(dropbox.Lead)) >= 10 })
	f.untilState("coder", swarm.Idle)
	if n := len(f.backend.Runs()); n != 10 {
		t.Errorf("%d turns, want 10", n)
	}
	if got := f.refused("coder"); len(got) > 0 {
		t.Errorf("refused: %+v", got)
	}
	traces := map[string]bool{}
	for _, m := range f.mail(dropbox.Lead) {
		if !strings.HasPrefix(string(m.Body), "did it") || m.Type != dropbox.Result {
			t.Errorf("%s: %s", m.Type, m.Body)
		}
		traces[m.Trace] = true
	}
	if len(traces) != 10 {
		t.Errorf("%d tasks, want 10", len(traces))
	}
}

func TestWhatIsNoMessageIsSetAsideAndTold(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	drop(f, "coder", "broken.md", "---\nfrom: [\n---\nwork\n")
	drop(f, "coder", "binary.md", "a\x00b")
	if err := os.Symlink("/etc/passwd", filepath.Join(f.store.Dir(), "coder", "link.md")); err != nil {
		t.Fatal(err)
	}
	f.until("the lead is told of all three", func() bool { return len(f.mail(dropbox.Lead)) == 3 })
	if n := len(f.backend.Runs()); n != 0 {
		t.Errorf("%d turns", n)
	}
	if got := f.files("coder", "dead"); len(got) != 6 {
		t.Errorf("dead/ = %v, want three things with their reasons", got)
	}
}

func TestAFileLaidIntoTheLeadsMailboxIsMail(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	drop(f, "lead", "hello.md", "the build server is down\n")
	f.until("the lead has it", func() bool { return len(f.mail(dropbox.Lead)) == 1 })
	if m := f.mail(dropbox.Lead)[0]; m.Type != dropbox.Note || !strings.Contains(string(m.Body), "build server") {
		t.Errorf("got %s: %s", m.Type, m.Body)
	}
}

// The lead gets an alert about a file in its own mailbox that is not a message.
func TestWhatIsNoMessageForTheLeadIsTold(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	drop(f, "lead", "broken.md", "---\nfrom: [\n---\nwork\n")
	f.until("the lead is told", func() bool { return len(f.mail(dropbox.Lead)) == 1 })
	if m := f.mail(dropbox.Lead)[0]; m.Subject != "not taken in: broken.md" || !strings.Contains(string(m.Body), "claude-swarm dead list lead") {
		t.Errorf("got %q: %s", m.Subject, m.Body)
	}
}

// If the mailboxes are deleted with rm -rf while the daemon is running, the daemon
// recreates them with the files that mark a store, and works on the next message. If the
// mailboxes are moved away, the status says so until they are back.
func TestTheMailboxesAreDeletedAndMoved(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	f.answer(f.send("coder", "before"))
	f.untilState("coder", swarm.Idle)
	dir := f.store.Dir()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		os.RemoveAll(filepath.Join(dir, e.Name())) // the daemon may recreate them sooner
	}
	f.until("a store again", func() bool {
		s, err := dropbox.Open(dir, dropbox.Options{})
		if err != nil {
			return false
		}
		defer s.Close()
		_, err = s.Deliver("coder", &dropbox.Message{Body: []byte("after"), Key: "once"})
		_, noLead := s.Mailbox(dropbox.Lead) // recreated after the agents' mailboxes
		return err == nil && noLead == nil
	})
	f.until("it is worked on", func() bool { return len(f.mail(dropbox.Lead)) == 1 })
	if release, err := f.store.Lock(); err == nil {
		release()
		t.Error("the lock went with its file: a second daemon could start")
	}

	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	trouble := func() bool {
		st, err := f.daemon.Status()
		return err == nil && len(st.Trouble) > 0
	}
	f.until("the status says that they are gone", trouble)
	if err := os.Rename(dir+"-away", dir); err != nil {
		t.Fatal(err)
	}
	f.until("the status has nothing to say", func() bool { return !trouble() })
	f.answer(f.send("coder", "once more"))
}

// Even if each turn writes a file into a mailbox with the shell, agents must not wake
// themselves or each other endlessly.
func TestFilesWrittenByTheShellEndAtTheLastHop(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, to := range map[string]map[string]string{
		"its own mailbox": {"a": "a"},
		"each other's":    {"a": "b", "b": "a"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "a", "b")
			f.backend.Script = func(turn runner.Turn) []runnertest.Step {
				path := filepath.Join(f.store.Dir(), to[turn.Agent], turn.ID+".md")
				return []runnertest.Step{
					runnertest.Tool(runnertest.Shell, map[string]any{"command": "echo go on > " + path}, ""),
					runnertest.Do(func(context.Context, runner.Turn) error { return dropNow(f, to[turn.Agent], turn.ID+".md", "go on\n") }),
				}
			}
			f.start()
			f.send("a", "begin")
			f.until("the lead is told of the loop", func() bool {
				for _, m := range f.mail(dropbox.Lead) {
					if strings.Contains(string(m.Body), "passed on too many times") {
						return true
					}
				}
				return false
			})
			if n := len(f.backend.Runs()); n != dropbox.MaxHops+1 {
				t.Errorf("%d turns, want %d", n, dropbox.MaxHops+1)
			}
		})
	}
}

func TestAFileDroppedWhileTheAgentWorksIsAnsweredToTheLead(t *testing.T) {
	f := newField(t, "coder")
	release := make(chan struct{})
	first := true
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		if first {
			first = false
			return []runnertest.Step{waitFor(release)}
		}
		return nil
	}
	f.start()
	f.send("coder", "long work")
	f.untilState("coder", swarm.Working)
	drop(f, "coder", "task.md", "a second task\n")
	f.until("it is taken in", func() bool { return len(f.files("coder", "new")) == 1 })
	close(release)
	f.until("both are answered", func() bool { return len(f.mail(dropbox.Lead)) == 2 })
	f.untilState("coder", swarm.Idle)
	if n := len(f.backend.Runs()); n != 2 {
		t.Errorf("%d turns, want 2", n)
	}
}

// A person may drop a file with a name that the agent used a minute ago.
func TestADropUnderANameThatTheAgentUsed(t *testing.T) {
	f := newField(t, "coder")
	mine := filepath.Join(f.store.Dir(), "coder", "notes.md")
	var once sync.Once
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		var steps []runnertest.Step
		once.Do(func() {
			steps = append(steps,
				runnertest.Tool(runnertest.Save, map[string]any{"path": mine, "content": "x"}, ""),
				// The file would count as mail if it stopped changing before the call was
				// reported.
				runnertest.Do(func(context.Context, runner.Turn) error { return dropNow(f, "coder", filepath.Base(mine), "x") }))
		})
		return append(steps, runnertest.Say("done"))
	}
	f.start()
	f.answer(f.send("coder", "write"))
	f.until("it is moved to work/", func() bool { return len(f.files("coder", "work")) == 1 })
	drop(f, "coder", "notes.md", "read this")
	f.until("it is done", func() bool { return len(f.backend.Runs()) == 2 })
}

// The waits between the attempts to deliver a file grow, so that a full disk does not also
// fill the log.
func TestPatienceWithWhatCannotBeTakenIn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		store, err := dropbox.Open(f.store.Dir(), dropbox.Options{Step: func(st dropbox.Step) error {
			if strings.HasPrefix(st.Name, "coder/tmp/") {
				return syscall.ENOSPC
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		f.store = store
		f.start()
		drop(f, "coder", "task.md", "work")
		const failed = "could not be taken in"
		f.until("the first try", func() bool { return strings.Contains(f.log.String(), failed) })
		first := time.Now()
		f.until("three more", func() bool { return strings.Count(f.log.String(), failed) >= 4 })
		// The debounce is 50 ms; the waits are two, four and eight times that.
		if took := time.Since(first); took < 600*time.Millisecond {
			t.Errorf("four tries within %v", took)
		}
	})
}

// A full disk may truncate a file that a person drops. While the disk is full, no file is
// delivered or set aside. Once there is room, a file that was completed or rewritten is
// worked on. A file that remains truncated is set aside with the reason, and the lead
// gets one alert about it.
func TestADropThatAFullDiskCutOff(t *testing.T) {
	f := newField(t, "coder")
	var full atomic.Bool
	store, err := dropbox.Open(f.store.Dir(), dropbox.Options{Step: func(st dropbox.Step) error {
		if full.Load() && (st.Op == dropbox.OpCreate || st.Op == dropbox.OpWrite) {
			return syscall.ENOSPC
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	f.store = store
	f.sweep = time.Hour // only the intake checks the folders
	f.start()
	full.Store(true)
	drop(f, "coder", "empty.md", "")
	drop(f, "coder", "short.md", strings.Repeat("x", 4096))
	drop(f, "coder", "grows.md", "")
	drop(f, "coder", "whole.md", "whole\n")
	drop(f, "lead", "note.md", "")
	f.until("the status names them", func() bool {
		return f.troubled("not taken in yet, because the disk is full: coder/empty.md, coder/grows.md, coder/short.md, coder/whole.md, lead/note.md")
	})
	if dead := append(f.files("coder", "dead"), f.files("lead", "dead")...); len(dead) > 0 {
		t.Errorf("set aside while the disk is full: %v", dead)
	}
	drop(f, "coder", "grows.md", "grown\n")
	full.Store(false)
	f.until("the whole files are done", func() bool { return len(f.bodies()) == 2 })
	f.until("nothing waits", func() bool { return !f.troubled("not taken in") })
	f.until("the lead is told", func() bool { return len(f.alerts("not taken in: ")) == 3 })
	for name, want := range map[string]string{
		"coder/empty.md": "the file is empty; the disk was full, which may have cut it off",
		"coder/short.md": "the file ends after 4096 bytes, a whole number of blocks; the disk was full, which may have cut it off",
		"lead/note.md":   "the file is empty; the disk was full, which may have cut it off",
	} {
		mailbox, file, _ := strings.Cut(name, "/")
		box, err := f.store.Mailbox(mailbox)
		if err != nil {
			t.Fatal(err)
		}
		dead, err := box.DeadLetters().List()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, d := range dead {
			if d.Original == file {
				n++
				if !strings.HasSuffix(d.Reason, ": "+want) {
					t.Errorf("%s is dead since %q, want %q", name, d.Reason, want)
				}
			}
		}
		if n != 1 {
			t.Errorf("%s lies %d times in dead/, want once", name, n)
		}
	}
}
