package swarm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// The folders that TestDeletedFolders deletes, relative to the project.
var deletions = map[string][]string{
	"git clean -fdx": {".dead-drop", ".claude-swarm"},
	"git clean -fdX": {
		".dead-drop/.lock", ".dead-drop/HALT", ".dead-drop/refused", ".dead-drop/topics", ".dead-drop/halted",
		".dead-drop/coder/tmp", ".dead-drop/coder/new", ".dead-drop/coder/cur", ".dead-drop/coder/keys", ".dead-drop/coder/work",
		".dead-drop/lead/tmp", ".dead-drop/lead/new", ".dead-drop/lead/cur", ".dead-drop/lead/keys", ".dead-drop/lead/work",
		".claude-swarm",
	},
	"the mailboxes":         {".dead-drop"},
	"the daemon's files":    {".claude-swarm"},
	"a mailbox":             {".dead-drop/coder"},
	"two mailboxes":         {".dead-drop/coder", ".dead-drop/lead"},
	"the lead's mailbox":    {".dead-drop/lead"},
	"tmp":                   {".dead-drop/coder/tmp"},
	"new":                   {".dead-drop/coder/new"},
	"cur":                   {".dead-drop/coder/cur"},
	"done":                  {".dead-drop/coder/done"},
	"dead":                  {".dead-drop/coder/dead"},
	"keys":                  {".dead-drop/coder/keys"},
	"work":                  {".dead-drop/coder/work"},
	"new and cur":           {".dead-drop/coder/new", ".dead-drop/coder/cur"},
	"cur, done and turns":   {".dead-drop/coder/cur", ".dead-drop/coder/done", ".claude-swarm/turns"},
	"the store's own files": {".dead-drop/version", ".dead-drop/.gitignore", ".dead-drop/.lock", ".dead-drop/board"},
	"turns":                 {".claude-swarm/turns"},
	"logs":                  {".claude-swarm/logs"},
	"pids":                  {".claude-swarm/pids"},
	"window":                {".claude-swarm/window"},
	"clients":               {".claude-swarm/clients"},
	"cursors":               {".claude-swarm/cursors"},
	"the ledger":            {".claude-swarm/ledger.jsonl", ".claude-swarm/ledger.lock"},
	"the event list":        {".claude-swarm/events.jsonl", ".claude-swarm/events.lock"},
	"the daemon's state":    {".claude-swarm/state.json", ".claude-swarm/sessions.json", ".claude-swarm/tokens"},
	"the attempts' records": {".claude-swarm/turns", ".claude-swarm/pids"},
}

// remove deletes files and folders as git clean does. A folder that the daemon recreates in
// the meantime is deleted too.
func (f *field) remove(names ...string) error {
	var errs []error
	for _, name := range names {
		err := os.RemoveAll(filepath.Join(f.dir, name))
		for errors.Is(err, syscall.ENOTEMPTY) {
			err = os.RemoveAll(filepath.Join(f.dir, name))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// deletes reports whether a deletion takes away the given path.
func deletes(names []string, path string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return path == name || strings.HasPrefix(path, name+"/") })
}

// TestDeletedFolders deletes folders while a daemon is running, as git clean does: while
// the agent is idle, during its turn, and between the end of its client and the receipt.
// The daemon keeps everything that it has in memory, names in one message the waiting
// messages that are gone, and continues.
func TestDeletedFolders(t *testing.T) {
	for when, c := range map[string]struct {
		last bool // the deletion is the last step of the turn
		idle bool
	}{
		"idle": {idle: true}, "in a turn": {}, "between turn and commit": {last: true},
	} {
		for what, names := range deletions {
			t.Run(when+", "+what, func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					f := newField(t, "coder", "reviewer")
					f.sweep = 500 * time.Millisecond
					removed := make(chan struct{})
					f.backend.Script = func(tn runner.Turn) []runnertest.Step {
						if !strings.Contains(tn.Prompt, "clean the tree") || c.idle {
							return []runnertest.Step{runnertest.Cost(0.25), runnertest.Say("did it")}
						}
						steps := []runnertest.Step{runnertest.Say("begun"), runnertest.Do(func(context.Context, runner.Turn) error {
							defer close(removed)
							return f.remove(names...)
						})}
						if !c.last {
							steps = append(steps, runnertest.Do(func(context.Context, runner.Turn) error {
								time.Sleep(10 * time.Second) // several checks of the folders
								return nil
							}))
						}
						return append(steps, runnertest.Cost(0.25), runnertest.Say("cleaned"))
					}
					f.start()
					f.must(f.daemon.Pause("reviewer", swarm.PauseOrder{By: "lead"}))
					waits := f.send("reviewer", "later")
					f.until("it waits", func() bool { return f.status("reviewer").Waiting.Total() == 1 })
					time.Sleep(time.Second) // the daemon has checked the folders
					task := f.send("coder", "clean the tree")
					want := "cleaned"
					if c.idle {
						want = "did it"
						f.answer(task)
						f.untilState("coder", swarm.Idle)
						time.Sleep(time.Second)
						f.must(f.remove(names...))
						close(removed)
					}
					<-removed
					f.until("the folders are back", func() bool {
						return !slices.ContainsFunc([]string{".dead-drop/coder/new", ".dead-drop/coder/cur", ".dead-drop/lead/new", ".dead-drop/version", ".dead-drop/.gitignore", ".dead-drop/.lock", ".claude-swarm/turns", ".claude-swarm/.gitignore", ".claude-swarm/tokens", ".claude-swarm/ledger.jsonl"},
							func(name string) bool { _, err := os.Lstat(filepath.Join(f.dir, name)); return err != nil })
					})
					if !c.idle {
						if m := f.answer(task); !strings.Contains(string(m.Body), want) {
							t.Errorf("the answer is %q", m.Body)
						}
						if r := f.receipt("coder", task); r.Outcome != "done" {
							t.Errorf("the receipt says %q", r.Outcome)
						}
						f.untilState("coder", swarm.Idle)
						if n := len(f.bodies()); n != 1 {
							t.Errorf("%d turns, want 1", n)
						}
					}
					if st, err := f.daemon.Status("coder"); err != nil || st.Agents[0].CostUSD.Total == 0 {
						t.Errorf("cost of the turn: %+v, %v", st.Agents[0].CostUSD, err)
					}
					f.ledgerSays(task, "done")
					f.nothingLeft("coder")

					// The agent wakes for a later message, and its sender is still proven.
					later := f.send("coder", "more")
					f.answer(later)
					if r := f.receipt("coder", later); !r.Proven {
						t.Error("the later message is not proven")
					}
					f.untilState("coder", swarm.Idle)

					time.Sleep(10 * time.Second) // several checks
					var told []string
					for _, m := range f.mail(dropbox.Lead) {
						if strings.Contains(m.Subject, "deleted") {
							told = append(told, string(m.Body))
						}
					}
					gone := deletes(names, ".dead-drop/reviewer/new") || deletes(names, ".dead-drop")
					switch {
					case gone && strings.Count(strings.Join(told, ""), waits) != 1: // what is deleted during a check is told after the next one
						t.Errorf("the lead was told %q, want one message that names %s", told, waits)
					case c.idle && deletes(names, ".dead-drop/lead/new"):
						if strings.Count(strings.Join(told, ""), "lead: ") != 1 {
							t.Errorf("the lead was told %q, want one message that names the unread answer", told)
						}
					case !gone && len(told) != 0:
						t.Errorf("the lead was told %q, but nothing is gone", told)
					}
					for _, text := range told {
						if strings.Contains(text, task) || strings.Contains(text, later) {
							t.Errorf("the lead was told of a message that has been done: %q", text)
						}
					}
					if !gone {
						f.must(f.daemon.Resume("reviewer", "lead"))
						f.answer(waits)
					}
					f.until("nothing is wrong", func() bool { s, err := f.daemon.Status(); return err == nil && len(s.Trouble) == 0 })

					// The next daemon knows the money, the sessions and the pause.
					f.halt()
					lines := len(f.ledgerOf("coder"))
					f.start()
					if lines != 2 {
						t.Errorf("the ledger has %d lines, want 2", lines)
					}
					if st, err := f.daemon.Status("coder"); err != nil || st.Agents[0].CostUSD.Total == 0 {
						t.Errorf("cost after a restart: %+v, %v", st.Agents[0].CostUSD, err)
					}
					if gone {
						f.untilState("reviewer", swarm.Paused)
					}
					if n := len(f.bodies()); n != 2 && gone || n != 3 && !gone {
						t.Errorf("turns: %q", f.bodies())
					}
				})
			})
		}
	}
}

// An agent that is paused does not list its mailbox again, but the lead is told only once that
// a message of it is gone.
func TestADeletedMessageOfAPausedAgentIsToldOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		f.sweep = 500 * time.Millisecond
		release := make(chan struct{})
		f.backend.Script = func(runner.Turn) []runnertest.Step {
			return []runnertest.Step{runnertest.Do(func(context.Context, runner.Turn) error { <-release; return nil }), runnertest.Say("did it")}
		}
		f.must(f.store.Halt("both messages wait before the agent looks"))
		f.start()
		first, waits := f.send("coder", "one"), f.send("coder", "two")
		f.must(f.store.Unhalt())
		f.untilState("coder", swarm.Working)
		f.must(f.daemon.Pause("coder", swarm.PauseOrder{By: "lead"}))
		close(release)
		f.answer(first)
		f.untilState("coder", swarm.Paused)
		f.must(f.remove(".dead-drop/coder/new"))
		time.Sleep(10 * time.Second) // several checks
		told := 0
		for _, m := range f.mail(dropbox.Lead) {
			told += strings.Count(string(m.Body), waits)
		}
		if told != 1 {
			t.Errorf("the lead was told %d times that %s is gone", told, waits)
		}
	})
}

// The daemon notices deleted folders, recreates them, and watches them again, without the
// periodic check. It also keeps a halt that was deleted with the other files.
func TestDeletedFoldersAreWatchedAgain(t *testing.T) {
	for what, names := range map[string][]string{
		"everything": deletions["git clean -fdx"], "what git ignores": deletions["git clean -fdX"], "all mailboxes": deletions["the mailboxes"], "the mailboxes of two agents": {".dead-drop/coder", ".dead-drop/reviewer"},
	} {
		t.Run(what, func(t *testing.T) {
			f := newField(t, "coder", "reviewer")
			f.sweep = time.Hour
			f.start()
			f.must(f.daemon.Pause("reviewer", swarm.PauseOrder{By: "lead"}))
			waits := f.send("reviewer", "later")
			f.until("it waits", func() bool { return f.status("reviewer").Waiting.Total() == 1 })
			// The folder check begins with the lock, which git clean deletes too.
			f.must(f.store.Halt("a test"))
			f.untilState("coder", swarm.Paused)
			f.must(f.remove(names...))
			lost := deletes(names, ".dead-drop/reviewer/new") || deletes(names, ".dead-drop")
			f.until("the folders are back", func() bool {
				_, err := os.Stat(filepath.Join(f.store.Dir(), "coder", "new"))
				return err == nil && f.store.Halted()
			})
			if lost {
				f.until("the lead is told", func() bool {
					return slices.ContainsFunc(f.mail(dropbox.Lead), func(m *dropbox.Message) bool { return strings.Contains(string(m.Body), "reviewer: "+waits) })
				})
			}
			id := f.send("coder", "more")
			f.until("it waits", func() bool { return f.status("coder").Waiting.Total() == 1 })
			if n := len(f.bodies()); n != 0 {
				t.Errorf("%d turns although everything is halted", n)
			}
			f.must(f.store.Unhalt())
			f.answer(id)
			f.answer(f.send("coder", "and more"))
		})
	}
}
