package notice_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// During the quiet hours, facts wait for the alert at their end. While no agent can work, what
// is wrong is told at once.
func TestFactsOfTheQuietHoursWait(t *testing.T) {
	for name, c := range map[string]struct {
		quiet, grave bool
		want         []string
	}{
		"in the day":                            {want: []string{"mail waits for tester, which is gone"}},
		"in the day, and no agent can work":     {grave: true, want: []string{"mail waits for tester, which is gone"}},
		"in quiet hours":                        {quiet: true},
		"in quiet hours, and no agent can work": {quiet: true, grave: true, want: []string{"mail waits for tester, which is gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newTelling(t, nil)
			end := time.Time{}
			if c.quiet {
				end = time.Now().Add(time.Hour)
			}
			f.quietUntil(func() time.Time { return end }, func() bool { return c.grave })
			f.Tell(gone("1"))
			f.hear()
			if got := f.subjects(); !slices.Equal(got, c.want) {
				t.Errorf("told at once: %q, want %q", got, c.want)
			}
			if !c.quiet || c.grave {
				return
			}
			end = time.Time{}
			for range 2 { // it is told once
				if err := f.Quiet.Tell(time.Now()); err != nil {
					t.Fatal(err)
				}
				f.hear()
			}
			if got, want := f.subjects(), []string{"during the quiet hours: mail waits for tester, which is gone"}; !slices.Equal(got, want) {
				t.Errorf("told at the end: %q, want %q", got, want)
			}
		})
	}
}

// The alert at the end of the quiet hours names a message that was given up only if the message
// is still a dead letter.
func TestADeadLetterThatWasRevivedIsNotTold(t *testing.T) {
	for name, c := range map[string]struct {
		since func(dead dropbox.DeadLetters, d dropbox.DeadLetter) error
		told  bool
	}{
		"it is still dead": {since: func(dropbox.DeadLetters, dropbox.DeadLetter) error { return nil }, told: true},
		"it was retried":   {since: dropbox.DeadLetters.Retry},
		"it was deleted":   {since: dropbox.DeadLetters.Purge},
	} {
		t.Run(name, func(t *testing.T) {
			f := newTelling(t, nil)
			end := time.Now().Add(time.Hour)
			f.quietUntil(func() time.Time { return end }, func() bool { return false })
			d, err := f.store.Deliver("coder", &dropbox.Message{From: dropbox.Lead, Type: dropbox.Task, Body: []byte("paint\n")})
			if err != nil {
				t.Fatal(err)
			}
			box, err := f.store.Mailbox("coder")
			if err != nil {
				t.Fatal(err)
			}
			entries, err := box.Peek()
			if err != nil || len(entries) != 1 {
				t.Fatalf("waiting: %v, %v", entries, err)
			}
			if err := box.GiveUp(entries[0], "no luck"); err != nil {
				t.Fatal(err)
			}
			if err := f.Add(notice.GaveUp{Agent: "coder", ID: d.ID, Title: "Paint the door", Why: "no luck", At: time.Now()}); err != nil {
				t.Fatal(err)
			}
			f.hear()
			if got := f.subjects(); got != nil {
				t.Errorf("told during the quiet hours: %q", got)
			}
			dead := box.DeadLetters()
			letters, err := dead.List()
			if err != nil || len(letters) != 1 {
				t.Fatalf("dead letters: %v, %v", letters, err)
			}
			if err := c.since(dead, letters[0]); err != nil {
				t.Fatal(err)
			}
			end = time.Time{}
			if err := f.Quiet.Tell(time.Now()); err != nil {
				t.Fatal(err)
			}
			f.hear()
			all := f.waiting(dropbox.Lead)
			if told := len(all) == 1 && strings.Contains(string(all[0].Body), "claude-swarm dead show "+d.ID); told != c.told || len(all) > 1 {
				t.Errorf("told: %v, want %v; %d messages", told, c.told, len(all))
			}
		})
	}
}
