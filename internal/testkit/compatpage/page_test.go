//go:build linux

package main

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/compat"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// The page shows the recordings of both ends of the supported range.
func TestThePageIsOfToday(t *testing.T) {
	path := "../../../" + page
	want := pageOf(supported(), compat.Recordings())
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != want {
		t.Errorf("%s does not show the recordings\n  try: UPDATE=1 go test ./internal/testkit/compatpage", page)
	}
}

func TestAnAnswerThatIsNotWantedIsMarked(t *testing.T) {
	all := maps.Clone(compat.Recordings())
	broken := compat.Recording{Facts: maps.Clone(all[claude.Newest].Facts)}
	broken.Facts["resume"] = compat.Recorded{Text: "no: a | b"}
	all[claude.Newest] = broken
	if got := table(supported(), all); strings.Count(got, "**") != 2 || !strings.Contains(got, `**no: a \| b**`) {
		t.Errorf("the table does not mark exactly that answer:\n%s", got)
	}
}
