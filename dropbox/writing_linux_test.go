package dropbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// A file is not taken in while a program has it open for writing, however it was opened. A
// program that opens it while it is taken in writes to no removed file.
func TestAFileThatIsBeingWritten(t *testing.T) {
	for name, flags := range map[string]int{"write": os.O_WRONLY, "append": os.O_WRONLY | os.O_APPEND, "both": os.O_RDWR} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, dropbox.Options{}, "coder")
			b := mailbox(t, s, "coder")
			drop(t, s, "coder", "x.md", "First half.\n")
			f, err := os.OpenFile(filepath.Join(s.Dir(), "coder", "x.md"), flags, 0)
			if err != nil {
				t.Fatal(err)
			}
			st := onlyStray(t, b)
			if got := b.Drops().Writing(st); got == dropbox.WritersUnknown {
				need.Missing(t, "a file system with leases")
			} else if got != dropbox.BeingWritten {
				t.Errorf("Writing = %v, want BeingWritten", got)
			}
			if _, err := b.Drops().TakeIn(st, dropbox.Defaults{From: "lead"}); !errors.Is(err, dropbox.ErrChanged) {
				t.Errorf("TakeIn = %v, want ErrChanged", err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			reader, err := os.Open(filepath.Join(s.Dir(), "coder", "x.md"))
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close() // a reader does not matter
			if got := b.Drops().Writing(st); got != dropbox.NoWriter {
				t.Errorf("Writing of a closed file = %v, want NoWriter", got)
			}
			if _, err := b.Drops().TakeIn(onlyStray(t, b), dropbox.Defaults{From: "lead"}); err != nil {
				t.Error(err)
			}
		})
	}
}

// While a file is taken in, a program that opens it for writing waits. The file is then set
// aside, so its text is in a file of the mailbox.
func TestAWriterWhileAFileIsTakenIn(t *testing.T) {
	opened := make(chan error, 1)
	path := ""
	begun := false
	s := newStore(t, dropbox.Options{Step: func(st dropbox.Step) error {
		if st.Op != dropbox.OpMove || begun || path == "" {
			return nil
		}
		begun = true
		ready := make(chan struct{})
		go func() {
			close(ready)
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
			if err == nil {
				_, err = f.WriteString("Second half.\n")
				err = errors.Join(err, f.Close())
			}
			opened <- err
		}()
		<-ready
		return nil
	}}, "coder")
	b := mailbox(t, s, "coder")
	drop(t, s, "coder", "x.md", "First half.\n")
	st := onlyStray(t, b)
	if b.Drops().Writing(st) != dropbox.NoWriter {
		need.Missing(t, "a file system with leases")
	}
	path = filepath.Join(s.Dir(), "coder", "x.md")
	d, err := b.Drops().TakeIn(st, dropbox.Defaults{From: "lead"})
	if err != nil || d.Late == "" {
		t.Fatalf("TakeIn = %+v, %v; want that the file was opened", d, err)
	}
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
	dead := onlyDead(t, b)
	if data, err := os.ReadFile(filepath.Join(s.Dir(), "coder", "dead", dead.Name)); err != nil || string(data) != "First half.\nSecond half.\n" || !strings.HasSuffix(dead.Reason, d.Late) {
		t.Errorf("the file that is set aside contains %q, %v, because %q", data, err, dead.Reason)
	}
}
