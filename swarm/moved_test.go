package swarm_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// A daemon whose project was moved, replaced or deleted ends two minutes later; until then, the
// folder can be put back.
func TestADaemonEndsAfterItsProjectWasMoved(t *testing.T) {
	for name, tc := range map[string]struct {
		move func(dir string) error
		back bool
		why  string // "" if the daemon goes on
	}{
		"moved":            {func(dir string) error { return os.Rename(dir, dir+"-away") }, false, "is gone"},
		"replaced":         {func(dir string) error { return errors.Join(os.Rename(dir, dir+"-away"), os.Mkdir(dir, 0o700)) }, false, "is another folder"},
		"deleted":          {os.RemoveAll, false, "is gone"},
		"put back in time": {func(dir string) error { return os.Rename(dir, dir+"-away") }, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				f := newFieldIn(t, filepath.Join(inMemory(t), "p"), "coder")
				var why atomic.Value
				var times atomic.Int32
				f.moved = func(err error) {
					times.Add(1)
					why.Store(err.Error())
				}
				f.sweep = time.Second
				f.start()
				f.answer(f.send("coder", "before"))
				time.Sleep(10*time.Second + f.sweep/2) // the turn is settled, and no check of the folders runs at this moment
				if err := tc.move(f.dir); err != nil {
					t.Fatal(err)
				}
				f.daemon.Note(&fs.PathError{Op: "open", Path: filepath.Join(f.dir, ".claude-swarm", "x"), Err: fs.ErrNotExist}) // each check tries again to write there
				time.Sleep(110 * time.Second)
				if why.Load() != nil {
					t.Fatalf("after 110 s: %v", why.Load())
				}
				if tc.back {
					if err := os.Rename(f.dir+"-away", f.dir); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(5 * time.Minute)
				if entries, err := os.ReadDir(f.dir); !tc.back && err == nil && len(entries) > 0 {
					t.Errorf("the daemon created %v in the folder at the old path", entries)
				}
				got, _ := why.Load().(string)
				if (tc.why == "") != (got == "") || !strings.Contains(got, tc.why) || times.Load() > 1 {
					t.Errorf("Moved was called %d times, last with %q, want %q once", times.Load(), got, tc.why)
				}
			})
		})
	}
}

// After the project was moved while the daemon runs, the status names that, and not what
// follows from it: no file can be written, and no folder be watched.
func TestStatusOfAMovedProject(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	f.untilState("coder", swarm.Idle)
	there := f.dir + "-moved"
	t.Cleanup(func() { os.RemoveAll(there) })
	f.must(os.Rename(f.dir, there))
	f.until("the daemon notices it", func() bool {
		return strings.Contains(f.log.String(), "deleted files could not be recreated")
	})
	st, err := f.daemon.Status()
	f.must(err)
	if len(st.Trouble) != 1 || !strings.Contains(st.Trouble[0].Why, "the project was moved or deleted") || st.Trouble[0].Next != swarm.RestartMoved {
		t.Errorf("trouble after the move: %+v", st.Trouble)
	}
	f.must(os.Rename(there, f.dir))
	f.until("the project is back", func() bool {
		st, err := f.daemon.Status()
		f.must(err)
		return len(st.Trouble) == 0
	})
	f.answer(f.send("coder", "go on"))
}
