package journal_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A claim names a running turn by its id. Anything else in its place, such as the path of another
// file, is refused before it becomes part of a file's name.
func TestAClaimNamesATurn(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	for _, turn := range []string{"k7f3q9m2xd-1", "az09-2-7"} {
		rec := &journal.Record{V: 1, Turn: turn, Agent: "coder"}
		if err := rec.Write(home); err != nil {
			t.Fatal(err)
		}
		got, err := home.CallerOf(os.Getpid(), &journal.Claim{Mark: turn})
		if want := (journal.Caller{Agent: "coder", Turn: turn}); err != nil || got != want {
			t.Errorf("claims %s: %+v, %v, want %+v", turn, got, err, want)
		}
	}
	for _, mark := range []string{
		"k7f3q9m2xd", "-1", "k7f3q9m2xd-", "k7f3q9m2xd-x", "k7f3q9m2xd--1", "K7-1", "../turns/az09-2-7", "a`-1", "a{-1", "a/-1", "a:-1",
		strings.Repeat("a", 63) + "-1",
	} {
		got, err := home.CallerOf(os.Getpid(), &journal.Claim{Mark: mark})
		refused, is := errors.AsType[*journal.TraceError](err)
		if !is || !strings.Contains(refused.Why, "is not the id of a turn") {
			t.Errorf("claims %q: %+v, %v", mark, got, err)
		}
	}
}
