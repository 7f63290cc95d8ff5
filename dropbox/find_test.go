package dropbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func TestFind(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "alice", "bob")
	write := func(agent, id string) {
		t.Helper()
		name := "1-20261121T045102.123456Z-" + id + ".md"
		if err := os.WriteFile(filepath.Join(s.Dir(), agent, "new", name), []byte("---\n---\n"+id), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("alice", "aaaaaaaaxy")
	write("bob", "bbbbbbbbxy")
	if f, err := s.Find("aaxy"); err != nil || f.Mailbox != "alice" || f.State != dropbox.Waiting || f.Entry.ID != "aaaaaaaaxy" {
		t.Errorf("Find(aaxy) = %+v, %v", f, err)
	}
	if f, err := s.Find("aaaa"); err != nil || f.Entry.ID != "aaaaaaaaxy" {
		t.Errorf("Find(aaaa) = %+v, %v", f, err)
	}
	write("bob", "aaaaccccaa")
	both, ok := errors.AsType[*dropbox.AmbiguousError](second(s.Find("aaaa")))
	if !ok || len(both.Found) != 2 || both.Found[0].Mailbox != "alice" || both.Found[1].Entry.ID != "aaaaccccaa" {
		t.Errorf("Find(aaaa) = %+v, want both", both)
	}
	if err := os.Remove(filepath.Join(s.Dir(), filepath.FromSlash(both.Found[1].Path))); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"zzzz", "", "axy", "aaac", "aacc", "../x", "aaaaaaaaaaaaaaaaxy", "*"} {
		if _, err := s.Find(part); !errors.Is(err, dropbox.ErrNotFound) {
			t.Errorf("Find(%q) = %v, want ErrNotFound", part, err)
		}
	}
	b := mailbox(t, s, "bob")
	c := claim(t, b, list(t, b)[0])
	f, err := s.Find("bbxy")
	if err != nil || f.State != dropbox.Claimed || f.Entry != c.Entry {
		t.Errorf("Find(bbxy) = %+v, %v", f, err)
	}
	if m, err := s.Load(f); err != nil || string(m.Body) != "bbbbbbbbxy" {
		t.Errorf("Load = %+v, %v", m, err)
	}
	if err := b.GiveUp(c.Entry, "no"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(f); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("Load of a message that moved = %v, want ErrGone", err)
	}
	drop(t, s, "alice", "odd.md", "\x00")
	st := onlyStray(t, mailbox(t, s, "alice"))
	if err := mailbox(t, s, "alice").Drops().SetAside(st, "odd"); err != nil {
		t.Fatal(err)
	}
	var seen []string
	err = s.Walk(func(f dropbox.Found, m *dropbox.Message) bool {
		seen = append(seen, f.Mailbox+" "+string(f.State)+" "+string(m.Body))
		return true
	})
	if want := []string{"alice new aaaaaaaaxy", "bob dead bbbbbbbbxy"}; err != nil || !slices.Equal(seen, want) {
		t.Errorf("Walk saw %q, %v, want %q", seen, err, want)
	}
}

// Unfinished visits no filed, dead or refused messages, and does not read mailboxes that the
// caller did not select.
func TestUnfinished(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "alice", "bob", "carol")
	for _, agent := range []string{"alice", "bob"} {
		for _, body := range []string{"waits", "claimed", "done", "dead", "refused"} {
			deliver(t, s, agent, &dropbox.Message{Body: []byte(body)})
		}
		box := mailbox(t, s, agent)
		for _, e := range list(t, box)[1:] {
			c := claim(t, box, e)
			var err error
			switch body := string(c.Message.Body); body {
			case "done":
				err = box.File(c.Entry)
			case "dead":
				err = box.GiveUp(c.Entry, "no")
			case "refused":
				err = box.Refuse(c.Entry, "no")
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	walk := func(in func(string) bool, most int) []string {
		t.Helper()
		var found []string
		err := s.Unfinished(in, func(box *dropbox.Mailbox, e dropbox.Entry) bool {
			m, err := box.Read(e)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, box.Name()+" "+string(m.Body))
			return len(found) < most
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if got, want := walk(nil, 9), []string{"alice waits", "alice claimed", "bob waits", "bob claimed"}; !slices.Equal(got, want) {
		t.Errorf("Unfinished = %q, want %q", got, want)
	}
	if got, want := walk(nil, 3), []string{"alice waits", "alice claimed", "bob waits"}; !slices.Equal(got, want) {
		t.Errorf("Unfinished, ended after three = %q, want %q", got, want)
	}
	if err := os.RemoveAll(filepath.Join(s.Dir(), "alice", "cur")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir(), "alice", "cur"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := walk(func(name string) bool { return name != "alice" }, 9), []string{"bob waits", "bob claimed"}; !slices.Equal(got, want) {
		t.Errorf("Unfinished without alice = %q, want %q", got, want)
	}
	if err := s.Unfinished(nil, func(*dropbox.Mailbox, dropbox.Entry) bool { return true }); err == nil {
		t.Error("Unfinished over a mailbox that cannot be read = nil")
	}
}
