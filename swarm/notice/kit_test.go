package notice_test

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// A telling is a daemon that tells facts, in a project with a person and the agent coder.
type telling struct {
	*notice.Teller
	t     *testing.T
	store *dropbox.Store
}

func newTelling(t *testing.T, a notice.Announcer) *telling {
	t.Helper()
	dir := t.TempDir()
	box := filepath.Join(dir, ".dead-drop")
	if err := dropbox.Create(box); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(box, dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	home := journal.HomeOf(dir)
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dropbox.Lead, "coder"} {
		if err := store.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
	}
	f := &telling{t: t, store: store, Teller: &notice.Teller{
		Home: home, Store: store, Events: home.Events(), Log: slog.New(slog.DiscardHandler), Announcer: notice.NewAnnouncing(a),
		Hide:    func(text string) string { return text },
		Deliver: func(_, to string, m *dropbox.Message) (dropbox.Delivery, error) { return store.Deliver(to, m) },
		LeadFor: func(string) string { return dropbox.Lead },
		CanWork: func(string) bool { return false },
		Alerted: func(time.Time, string, string) {},
		Wake:    func() {},
	}}
	for _, l := range f.Listeners() {
		if err := f.Events.Begin(l.Name); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// quietUntil opens the quiet hours. They last until end returns the zero time.
func (f *telling) quietUntil(end func() time.Time, grave func() bool) {
	f.t.Helper()
	quiet, err := notice.OpenQuiet(f.Teller, notice.Now{
		Until: func(time.Time) time.Time { return end() }, Grave: grave,
		Hold:    func(string) (journal.Hold, bool) { return journal.Hold{}, true },
		Limited: func(string) bool { return false }, Unclaimed: func(string) bool { return false },
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.Quiet = quiet
}

// hear lets each listener hear the events that it has not heard.
func (f *telling) hear() {
	f.t.Helper()
	for _, l := range f.Listeners() {
		if _, err := f.Hear(f.t.Context(), l); err != nil {
			f.t.Fatal(err)
		}
	}
}

// waiting returns the messages in the new/ folder of a mailbox, oldest first.
func (f *telling) waiting(mailbox string) (all []*dropbox.Message) {
	f.t.Helper()
	box, err := f.store.Mailbox(mailbox)
	if err != nil {
		f.t.Fatal(err)
	}
	entries, err := box.Peek()
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range entries {
		m, err := box.Read(e)
		if err != nil {
			f.t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// subjects returns the subjects of the messages that wait for the person.
func (f *telling) subjects() (all []string) {
	f.t.Helper()
	for _, m := range f.waiting(dropbox.Lead) {
		all = append(all, m.Subject)
	}
	return all
}

// gone is a fact of which the person gets mail: a warning.
func gone(since string) notice.Gone {
	return notice.Gone{Agent: "tester", Since: since, Why: "1 message waits", Next: "claude-swarm remove tester --keep"}
}
