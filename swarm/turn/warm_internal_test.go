package turn

import (
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

func TestDueAt(t *testing.T) {
	born := time.Date(2026, 11, 21, 4, 51, 2, 0, time.UTC)
	for _, c := range []struct{ rested, linger, want time.Duration }{
		{0, time.Minute, time.Minute},
		{time.Hour, time.Minute, time.Hour + time.Minute},
		{24*time.Hour - time.Minute, time.Hour, 24 * time.Hour},
		{time.Hour, 100 * time.Hour, 24 * time.Hour},
		{30 * time.Hour, time.Hour, 24 * time.Hour}, // after a turn that took longer than a day
	} {
		if got := dueAt(born, born.Add(c.rested), c.linger).Sub(born); got != c.want {
			t.Errorf("born 0, resting since %v for %v: due at %v, want %v", c.rested, c.linger, got, c.want)
		}
	}
}

// The compaction hook reads only the running turn from the stream, because the text of
// the earlier turns is in the saved window.
func TestTheHookInALaterTurnOfAClient(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	say := func(text string) string {
		return `{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"` + text + `"}]}}` + "\n"
	}
	first, second := say("first"), say("second")
	if err := os.WriteFile(home.Stream("first-1"), []byte(first+second+say("now")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, rec := range []*journal.Record{
		{Turn: "first-1", Agent: "coder", WindowBytes: 4000},
		{Turn: "second-1", Agent: "coder", WindowBytes: 4000, Client: "first-1", From: runner.Place{Offset: int64(len(first))}},
		{Turn: "now-1", Agent: "coder", WindowBytes: 4000, Client: "first-1", From: runner.Place{Offset: int64(len(first + second))}},
	} {
		if err := rec.Write(home); err != nil {
			t.Fatal(err)
		}
		if err := home.SetNow("first-1", rec.Turn); err != nil {
			t.Fatal(err)
		}
	}
	mem, err := openMemory(home, new(runnertest.Scripted).Kind().Tools, "coder", 4000, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	mem.win.AddText("kept")
	if err := mem.save("second-1"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kept\nnow\n", ""} { // the text is given back only once
		var out strings.Builder
		if err := HookCompact(home, map[string]runner.Backend{"scripted": new(runnertest.Scripted)}, "first-1", &out); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.Contains(got, want) || want == "" && got != "" || strings.Contains(got, "first") || strings.Contains(got, "second") {
			t.Errorf("the hook gives back %q, want %q", got, want)
		}
	}
}
