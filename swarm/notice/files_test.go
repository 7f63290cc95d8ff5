package notice_test

import (
	"slices"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// The mail about deleted messages counts them all, in each mailbox.
func TestTheMailAboutDeletedMessagesCountsThem(t *testing.T) {
	at := time.Date(2026, 11, 29, 1, 2, 3, 0, time.UTC)
	for _, c := range []struct {
		messages map[string][]string
		want     string
	}{
		{map[string][]string{"coder": {"k7f3q9m2xd"}}, "a waiting message was deleted"},
		{map[string][]string{"coder": {"k7f3q9m2xd", "k7f3q9m2xe"}}, "2 waiting messages were deleted"},
		{map[string][]string{"coder": {"k7f3q9m2xd"}, dropbox.Lead: {"k7f3q9m2xe"}}, "2 waiting messages were deleted"},
	} {
		f := newTelling(t, nil)
		f.Tell(notice.Vanished{At: at, Messages: c.messages, Lead: "you"})
		f.hear()
		if got := f.subjects(); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%v: told %q, want %q", c.messages, got, c.want)
		}
	}
}
