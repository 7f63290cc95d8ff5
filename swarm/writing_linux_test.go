package swarm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// A command whose output is redirected into a mailbox makes the file at once and writes it
// later. The agent gets the whole text, once the program has closed the file.
func TestAFileThatIsBeingWritten(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"all late":     {"", "the whole task"},
		"half is late": {"the first half\n", "and the whole task"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				f := newField(t, "coder")
				f.start()
				file, err := os.Create(filepath.Join(f.store.Dir(), "coder", "a.md"))
				f.must(err)
				_, err = file.WriteString(c.before)
				f.must(err)
				box, err := f.store.Mailbox("coder")
				f.must(err)
				if strays, err := box.Drops().List(); err != nil || len(strays) != 1 || box.Drops().Writing(strays[0]) == dropbox.WritersUnknown {
					need.Missing(t, "a file system with leases")
				}
				time.Sleep(10 * 60 * f.plan.Debounce)
				st, err := f.daemon.Status()
				f.must(err)
				if trouble := fmt.Sprint(st.Trouble); !strings.Contains(trouble, "coder/a.md (a program is still writing, since ") {
					t.Errorf("the status says %q", trouble)
				}
				if n := len(f.backend.Runs()) + len(f.files("coder", "dead")); n > 0 {
					t.Errorf("%d turns and dead letters while the file was open", n)
				}
				_, err = file.WriteString(c.after)
				f.must(err)
				f.must(file.Close())
				f.until("the agent has the task", func() bool { return len(f.backend.Runs()) == 1 })
				if p := f.backend.Runs()[0].Turn.Prompt; !strings.Contains(p, c.before+c.after) {
					t.Errorf("the prompt is\n%s", p)
				}
				f.until("the status has nothing to say", func() bool { st, err := f.daemon.Status(); return err == nil && len(st.Trouble) == 0 })
			})
		})
	}
}

// An empty file waits for its writer, which may open it later.
func TestAnEmptyFileWaits(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		f.start()
		path := filepath.Join(f.store.Dir(), "coder", "a.md")
		f.must(os.WriteFile(path, nil, 0o600))
		time.Sleep(30 * f.plan.Debounce)
		st, err := f.daemon.Status()
		f.must(err)
		if trouble := fmt.Sprint(st.Trouble); !strings.Contains(trouble, "coder/a.md (it is empty, ") {
			t.Errorf("the status says %q", trouble)
		}
		f.must(os.WriteFile(path, []byte("the task"), 0o600))
		f.until("the agent has the task", func() bool { return len(f.backend.Runs()) == 1 })
		f.must(os.WriteFile(path, nil, 0o600))
		f.until("an empty file that stays is set aside", func() bool { return len(f.files("coder", "dead")) == 2 })
	})
}

// A file that is open in an editor waits until the editor closes it, however often it is
// saved. The agent gets one task, with the last text.
func TestAFileThatIsOpenInAnEditor(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		f.start()
		folder := filepath.Join(f.store.Dir(), "coder")
		swap, err := os.Create(filepath.Join(folder, ".task.md.swp"))
		f.must(err)
		for _, text := range []string{"Write a readme", "Write a readme that names the licence"} {
			f.must(os.WriteFile(filepath.Join(folder, "task.md"), []byte(text), 0o600))
			time.Sleep(20 * f.plan.Debounce)
		}
		st, err := f.daemon.Status()
		f.must(err)
		if trouble := fmt.Sprint(st.Trouble); !strings.Contains(trouble, "coder/task.md (an editor has it open, since ") {
			t.Errorf("the status says %q", trouble)
		}
		if n := len(f.backend.Runs()); n > 0 {
			t.Fatalf("%d turns while the editor was open", n)
		}
		f.must(swap.Close())
		f.must(os.Remove(swap.Name()))
		f.until("the agent has the task", func() bool { return len(f.backend.Runs()) == 1 })
		time.Sleep(100 * f.plan.Debounce)
		if runs := f.backend.Runs(); len(runs) != 1 || !strings.Contains(runs[0].Turn.Prompt, "names the licence") {
			t.Errorf("%d turns, want one with the last text", len(runs))
		}
	})
}
