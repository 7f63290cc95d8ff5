package swarm_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/audit"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// TestTheTableOfCuts has a row for each point at which, according to the package comment,
// a crash can interrupt the work. A real process kills itself at
// that point, and the test checks what happens at the next start. Each task is either
// done once and answered once, or given up once, and no file is left over.
func TestTheTableOfCuts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const task = "@say begun\n@say did it"
	for name, row := range map[string]func(f *field){
		"tmp written": func(f *field) {
			f.dies("tmp written", "SWARM_TEST_BODY="+task)
			f.neverAccepted()
			f.agesBy(2*time.Hour, "coder/tmp")
			f.start() // the leftover file is deleted after an hour
			f.until("it is tidied away", func() bool { return len(f.files("coder", "tmp")) == 0 })
			f.doneOnce(f.send("coder", task))
		},
		"key linked only": func(f *field) {
			f.dies("key linked", "SWARM_TEST_BODY="+task)
			f.neverAccepted()
			f.start()
			id, first := f.sendAgain(task) // the next caller with that key finishes the delivery
			if first {
				f.t.Error("the key was forgotten")
			}
			f.doneOnce(id)
		},
		"key linked only, an hour ago": func(f *field) {
			f.dies("key linked", "SWARM_TEST_BODY="+task)
			f.agesBy(2*time.Hour, "coder/tmp")
			f.start()
			f.until("it is tidied away", func() bool { return len(f.files("coder", "tmp")) == 0 })
			id, _ := f.sendAgain(task) // the key may be free again, or may still belong to the message
			f.doneOnce(id)
		},
		"linked into new, sender not told": func(f *field) {
			f.dies("linked into new", "SWARM_TEST_BODY="+task)
			f.start()
			f.until("it is done", func() bool { return len(f.files("coder", "done")) == 2 })
			id, first := f.sendAgain(task)
			if first {
				f.t.Error("who asks again is not told of the first")
			}
			f.doneOnce(id)
		},
		"in cur, no record": func(f *field) {
			id := f.cut("claimed", task)
			if turns := f.turns(); len(turns) != 0 {
				f.t.Fatalf("there is a record: %v", turns)
			}
			f.start()
			f.doneOnce(id)
		},
		"record, no client": func(f *field) {
			id := f.cut("recorded", task)
			f.start()
			f.doneOnce(id, "stopped")
		},
		"record, no pid": func(f *field) {
			id := f.cut("started", task)
			f.start()
			f.doneOnce(id, "stopped")
		},
		"client running": func(f *field) {
			id := f.cut("running", "@say begun\n@sleep 2s\n@say did it")
			f.start()
			f.doneOnce(id)
			if r := f.receipt("coder", id); len(r.Attempts) != 1 {
				f.t.Errorf("attempts = %+v, want the one of the client that lived on", r.Attempts)
			}
		},
		"client ended, result in the file": func(f *field) {
			id := f.cut("result in file", task)
			f.start()
			f.doneOnce(id)
			if r := f.receipt("coder", id); len(r.Attempts) != 1 || r.Text != "did it" {
				f.t.Errorf("the receipt has %q and %+v, want the result of the one attempt", r.Text, r.Attempts)
			}
		},
		"client dead, no result": func(f *field) {
			id := f.cut("both dead", "@say begun\n@first sleep 10m\n@say did it")
			f.start()
			f.answer(id)
			f.untilState("coder", swarm.Idle)
			r := f.receipt("coder", id)
			if len(r.Attempts) != 2 || r.Attempts[0].Outcome != "cut off" || r.Attempts[1].Outcome != "done" {
				f.t.Errorf("attempts = %+v, want one that was cut off and a good one", r.Attempts)
			}
			stream, err := os.ReadFile(journal.HomeOf(f.dir).Stream(id + "-2"))
			if err != nil || !strings.Contains(string(stream), "This was begun before and cut off at ") {
				f.t.Errorf("the second prompt does not say that it was begun before (%v)", err)
			}
			f.onlyOnce(id, 2)
		},
		"receipt in cur": func(f *field) {
			id := f.cut("receipt in cur", task)
			f.start()
			f.doneOnce(id)
		},
		"answer delivered": func(f *field) {
			id := f.cut("answer delivered", task)
			f.start()
			f.doneOnce(id)
		},
		"message moved": func(f *field) {
			id := f.cut("message moved", task)
			f.start()
			f.doneOnce(id)
		},
		"ledger line missing": func(f *field) {
			id := f.cut("receipt in cur", task)
			if turns, _ := f.ledger(); len(turns) != 0 {
				f.t.Fatalf("the ledger has %v already", turns)
			}
			f.start()
			f.doneOnce(id)
		},
		"ledger line missing, all filed": func(f *field) { // as after a power cut
			id := f.cut("receipt moved", task)
			if err := os.Truncate(journal.HomeOf(f.dir).Ledger(), 0); err != nil {
				f.t.Fatal(err)
			}
			f.start()
			f.doneOnce(id)
		},
		"audit commit missing": func(f *field) {
			f.git("init", "-q")
			id := f.cut("receipt moved", task)
			audit, err := audit.Open(f.t.Context(), f.store.Dir(), audit.Options{})
			if err != nil {
				f.t.Fatal(err)
			}
			f.listeners = []notice.Listener{{Name: "audit", Behind: "behind", Hear: func(ctx context.Context, _ []journal.Event) error { return audit.Record(ctx) }}}
			f.start()
			turn := id + "-1"
			f.until("the commit is there", func() bool {
				return strings.Contains(f.git("log", "--all", "--format=%(trailers:key=Turn,valueonly)"), turn)
			})
			f.doneOnce(id)
			f.halt()
			if log := f.git("log", "--all", "--format=%(trailers:key=Turn,valueonly)"); strings.Count(log, turn) != 1 {
				f.t.Errorf("the turns of the commits are %q, want %s once", log, turn)
			}
		},
		"failed, not put back": func(f *field) {
			id := f.cut("put back", "@say begun\n@first exit 3\n@say did it")
			f.start()
			f.untilState("coder", swarm.Idle)
			f.receipt("coder", id)
			f.onlyOnce(id, 2)
			f.ledgerSays(id, "failed", "done")
		},
		"reason written, not renamed":   func(f *field) { f.givenUpOnce("reason written") },
		"bounced, not renamed":          func(f *field) { f.givenUpOnce("bounced") },
		"renamed, daemon does not know": func(f *field) { f.givenUpOnce("buried") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newClientField(t, "coder")
			f.announcer = everywhere{}
			row(f)
			f.shownOnce()
			f.halt()
			f.noProcesses()
		})
	}
}

// cut makes the daemon die while it works on a task, and returns the task's id.
func (f *field) cut(at, body string) string {
	f.t.Helper()
	id := f.send("coder", body)
	f.dies(at)
	return id
}

// neverAccepted starts a daemon and checks that the killed sender's message does not exist.
func (f *field) neverAccepted() {
	f.t.Helper()
	f.start()
	f.untilState("coder", swarm.Idle)
	f.halt()
	if got := slices.Concat(f.files("coder", "new"), f.files("coder", "done"), f.begun()); len(got) != 0 {
		f.t.Errorf("what was never accepted became %v", got)
	}
}

// agesBy sets the age of all files in one of the mailbox folders to d.
func (f *field) agesBy(d time.Duration, folder string) {
	f.t.Helper()
	for _, name := range f.files(folder) {
		path := filepath.Join(f.store.Dir(), folder, name)
		old := time.Now().Add(-d)
		if err := os.Chtimes(path, old, old); err != nil {
			f.t.Fatal(err)
		}
	}
}

// sendAgain delivers a message with the victim's key; first reports whether the key was
// free.
func (f *field) sendAgain(body string) (id string, first bool) {
	f.t.Helper()
	d, err := f.store.Deliver("coder", &dropbox.Message{Body: []byte(body), Key: "k"})
	if err != nil {
		f.t.Fatal(err)
	}
	return d.ID, !d.Duplicate
}

// doneOnce waits until a task is done, and checks that the task was begun once and answered
// once. The parameter before lists the ledger's outcomes of earlier attempts, in which no
// client began the task.
func (f *field) doneOnce(id string, before ...string) {
	f.t.Helper()
	if got := string(f.answer(id).Body); !strings.Contains(got, "did it") {
		f.t.Errorf("the answer is %q", got)
	}
	f.receipt("coder", id)
	f.untilState("coder", swarm.Idle)
	f.onlyOnce(id, 1)
	f.ledgerSays(id, append(before, "done")...)
}

// onlyOnce checks that a task was begun the given number of times and answered once, and
// that no work is left.
func (f *field) onlyOnce(id string, begun int) {
	f.t.Helper()
	if got := f.begun(); len(got) != begun {
		f.t.Errorf("clients have begun %q, want %d", got, begun)
	}
	if n := len(f.bounces(id)); n != 1 {
		f.t.Errorf("it was answered %d times", n)
	}
	f.nothingLeft("coder")
	if left := f.files("coder", "tmp"); len(left) != 0 {
		f.t.Errorf("tmp/ still has %v", left)
	}
}

// givenUpOnce makes a task fail for the last time and cuts the daemon while the daemon is
// giving up the task.
func (f *field) givenUpOnce(at string) {
	f.t.Helper()
	id := f.send("coder", "@say begun\n@exit 3")
	f.dies(at, "SWARM_TEST_FAILURES=1")
	f.start()
	if b := f.answer(id); b.From != dropbox.Swarm || !strings.Contains(string(b.Body), "status 3 without a result") {
		f.t.Errorf("the bounce is from %s: %s", b.From, b.Body)
	}
	f.until("it is dead", func() bool { return f.status("coder").Dead == 1 })
	f.untilState("coder", swarm.Idle)
	f.onlyOnce(id, 1)
	f.ledgerSays(id, "failed")
	f.doneNext()
}

// doneNext checks that the agent works on the next task.
func (f *field) doneNext() {
	f.t.Helper()
	f.answer(f.send("coder", "@say fine"))
}

// git runs git in the project.
func (f *field) git(args ...string) string {
	f.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = f.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}
