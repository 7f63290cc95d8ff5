package swarm

import (
	"context"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// A listener is called without events after a message was filed, even if it hears of another
// event at the same time.
func TestAListenerHearsOfAFilingThatComesWithAnEvent(t *testing.T) {
	events := journal.Open(t.TempDir(), durable.Files{}, nil)
	notices := &notice.Teller{Events: events, Log: slog.New(slog.DiscardHandler)}
	var heard []int
	l := notice.Listener{Name: "test", Hear: func(_ context.Context, events []journal.Event) error {
		heard = append(heard, len(events))
		return nil
	}}
	ls, err := openListeners(notices, new(starts), []notice.Listener{l})
	if err != nil {
		t.Fatal(err)
	}
	listener := ls.list[len(ls.list)-1]
	tell := func() {
		t.Helper()
		if err := ls.tell(t.Context(), listener, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := events.Add(journal.Event{Kind: journal.Mail, Key: "one"}); err != nil {
		t.Fatal(err)
	}
	tell()
	if err := events.Add(journal.Event{Kind: journal.Mail, Key: "two"}); err != nil {
		t.Fatal(err)
	}
	notices.Filed()
	tell()
	tell()
	if diff := cmp.Diff([]int{1, 1, 0, 0}, heard); diff != "" {
		t.Errorf("numbers of events (-want +got):\n%s", diff)
	}
}
