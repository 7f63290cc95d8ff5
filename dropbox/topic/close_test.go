package topic_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
)

// If Close is interrupted at any point after it has written the receipt, Finish files the
// publication: the message and the receipt are in done/, and new/ and cur/ are empty.
func TestAClosingThatIsCutOff(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	steps := 0
	closed := func(t *testing.T, cut int) (*dropbox.Store, string, bool) {
		t.Helper()
		steps = 0
		left := -1
		s := newStore(t, dropbox.Options{Step: func(dropbox.Step) error {
			steps++
			if left == 0 {
				return errors.New("cut")
			}
			left--
			return nil
		}}, "coder", "tester")
		p := publish(t, s, "task.created")
		if _, err := topic.Of(s).Claim(p.ID, "coder", ""); err != nil {
			t.Fatal(err)
		}
		steps, left = 0, cut
		err := topic.Of(s).Close(p.ID, "coder", []byte("outcome: done\n"))
		left = -1
		return s, p.ID, err != nil
	}
	if _, _, failed := closed(t, -1); failed {
		t.Fatal("closing fails")
	}
	committed := 0
	for cut := range steps {
		s, id, failed := closed(t, cut)
		if !failed {
			t.Fatalf("cut at %d: closed", cut)
		}
		receipts, err := filepath.Glob(filepath.Join(s.Dir(), "topics", "*", "*.receipt.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		filed, _ := filepath.Glob(filepath.Join(s.Dir(), "topics", "done", "*", "*.receipt.yaml"))
		for range 2 { // repeating the call is harmless
			if err := topic.Of(s).Finish(); err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
		}
		if len(receipts)+len(filed) == 0 {
			if p, err := topic.Of(s).Find(id); err != nil || p.Grant == nil {
				t.Errorf("cut at %d, before the receipt: %+v, %v, want it open and claimed", cut, p, err)
			}
			continue
		}
		committed++
		mustBeFiled(t, s.Dir(), cut)
		if _, err := topic.Of(s).Find(id); !errors.Is(err, topic.ErrTaken) {
			t.Errorf("cut at %d: %v, want ErrTaken", cut, err)
		}
	}
	if committed < 3 {
		t.Errorf("only %d of %d cuts came after the receipt", committed, steps)
	}
}

// mustBeFiled checks that all the publications' files are in done/.
func mustBeFiled(t *testing.T, dir string, cut int) {
	t.Helper()
	var left, done []string
	for _, folder := range []string{"new", "cur"} {
		entries, err := os.ReadDir(filepath.Join(dir, "topics", folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			left = append(left, folder+"/"+e.Name())
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, "topics", "done", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		done = append(done, filepath.Ext(strings.TrimSuffix(name, ".yaml")))
	}
	if len(left) != 0 || len(done) != 2 {
		t.Errorf("cut at %d: left %v, done %v", cut, left, done)
	}
}
