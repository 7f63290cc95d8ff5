package journal_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// The turns of one client share its output, and each reads only its own part.
func TestOpenStream(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	for i, r := range []*journal.Record{
		{Turn: "a-1", Message: "a"},
		{Turn: "b-1", Message: "b", Client: "a-1", From: runner.Place{Offset: 6}},
		{Turn: "c-1", Message: "c", Client: "a-1", From: runner.Place{Offset: 13}},
		{Turn: "d-1", Message: "d"},
		{Turn: "compact-1"}, // has no message
		{Turn: "e-1", Message: "e", Agent: "other"},
	} {
		r.Begun = begun.Add(time.Duration(i) * time.Second)
		if r.Agent == "" {
			r.Agent = "coder"
		}
		if err := r.Write(home); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(home.Stream("a-1"), []byte("first\nsecond\nthird\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	records, err := home.RecordsOf("coder")
	if err != nil || len(records) != 4 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for i, want := range []string{"first\n", "second\n", "third\n"} {
		s, err := records[i].OpenStream(home, records)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(s)
		if s.Close(); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", records[i].Turn, got, err, want)
		}
	}
	if _, err := records[3].OpenStream(home, records); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a turn without an output: %v", err)
	}
}
