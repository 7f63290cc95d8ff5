package notice_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// places is an announcer that shows everything in one channel.
type places struct{}

func (places) Bridge() string                           { return "irc" }
func (places) On() bool                                 { return true }
func (places) Copies(notice.Announcement) []notice.Copy { return []notice.Copy{{Where: "#x"}} }

func TestWithoutAnAnnouncerNothingIsAnnounced(t *testing.T) {
	if a := notice.NewAnnouncing(nil); a != nil {
		t.Errorf("without an announcer: %+v", a)
	}
	if n := len(newTelling(t, nil).Listeners()); n != 1 {
		t.Errorf("%d listeners without an announcer, want the lead's mail alone", n)
	}
	if a := notice.NewAnnouncing(places{}); a == nil || a.Bridge() != "irc" {
		t.Errorf("of an announcer: %+v", a)
	}
}

// While a thousand copies wait for the bridge, also those that an earlier daemon left, the steps
// of the work are left out, and the status says so. A message that was given up is shown in any
// case. Once the bridge has taken its mail, the step that was left out last is shown.
func TestStepsAreLeftOutWhileTheBridgeIsAway(t *testing.T) {
	f := newTelling(t, places{})
	if err := f.store.MakeMailbox("irc"); err != nil {
		t.Fatal(err)
	}
	inbox := filepath.Join(f.store.Dir(), "irc", "new")
	names := func() (all []string) {
		t.Helper()
		files, err := os.ReadDir(inbox)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !file.IsDir() && filepath.Ext(file.Name()) == ".md" {
				all = append(all, file.Name())
			}
		}
		return all
	}
	waiting := func(want int) {
		t.Helper()
		if n := len(names()); n != want {
			t.Errorf("%d copies wait, want %d", n, want)
		}
	}
	begun := func(id string) {
		t.Helper()
		m := &dropbox.Message{ID: id, From: dropbox.Lead, Type: dropbox.Task, Body: []byte("paint\n")}
		if err := f.Add(notice.Begun{Agent: "coder", Message: m}); err != nil {
			t.Fatal(err)
		}
		f.hear()
	}
	for n := range 1000 {
		name := fmt.Sprintf("1-20261121T045102.%06dZ-aaaaaaaaaa.md", n)
		if err := os.WriteFile(filepath.Join(inbox, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	begun("k7f3q9m2xd")
	waiting(1000)
	want := []string{"IRC does not show what is happening: too much is waiting in the mailbox irc; is the bridge running?"}
	if got := f.Trouble.List(); !slices.Equal(got, want) {
		t.Errorf("the status says %q, want %q", got, want)
	}
	if err := f.Add(notice.GaveUp{Agent: "coder", ID: "k7f3q9m2xc", Title: "Paint the door", Why: "no luck", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	f.hear()
	waiting(1001)
	f.Trouble.Mend()
	waiting(1001)
	for _, name := range names() {
		if err := os.Remove(filepath.Join(inbox, name)); err != nil {
			t.Fatal(err)
		}
	}
	f.Trouble.Mend()
	waiting(1)
	if got := f.Trouble.List(); got != nil {
		t.Errorf("the status still says %q", got)
	}
}
