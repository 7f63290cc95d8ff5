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
	if err := b.Bury(c.Entry, "no"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(f); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("Load of what moved on = %v, want ErrGone", err)
	}
	drop(t, s, "alice", "odd.md", "\x00")
	st := onlyStray(t, mailbox(t, s, "alice"))
	if err := mailbox(t, s, "alice").SetAside(st, "odd"); err != nil {
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
