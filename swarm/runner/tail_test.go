package runner_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Tail reads everything, including bytes written between the last check and the writer's
// exit.
func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	w, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	pieces := []string{"one\n", "", "two\n", "last words"}
	looks := 0
	tail := runner.NewTail(r, func() bool {
		w.WriteString(pieces[looks])
		looks++
		return looks < len(pieces)
	})
	got, err := io.ReadAll(tail)
	if want := strings.Join(pieces, ""); string(got) != want || err != nil {
		t.Errorf("ReadAll = %q, %v, want %q", got, err, want)
	}
	if n, err := tail.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("Read at the end = %d, %v, want %v", n, err, io.EOF)
	}
}

// After a file has been truncated, reading continues at its new end.
func TestTailOfACutFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte("a long beginning"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	step := 0
	tail := runner.NewTail(r, func() bool {
		step++
		switch step {
		case 1:
			os.Truncate(path, 2)
		case 2:
			os.WriteFile(path, []byte("a +more"), 0o600)
		}
		return step < 3
	})
	if got, err := io.ReadAll(tail); string(got) != "a long beginning+more" || err != nil {
		t.Errorf("ReadAll = %q, %v, want the beginning and what came after the cut", got, err)
	}
}
