package topic_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// The test binary also serves as the program that claims publications.
func TestMain(m *testing.M) {
	if os.Getenv("TOPIC_HELPER") == "" {
		os.Exit(m.Run())
	}
	s, err := dropbox.Open(os.Args[1], dropbox.Options{})
	if err == nil {
		err = claimAll(s, os.Args[2], os.Args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// newStore creates a store with the given mailboxes and closes it when the test ends.
func newStore(t testing.TB, o dropbox.Options, mailboxes ...string) *dropbox.Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".dead-drop")
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	s, err := dropbox.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for _, name := range mailboxes {
		if err := s.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func mailbox(t testing.TB, s *dropbox.Store, name string) *dropbox.Mailbox {
	t.Helper()
	b, err := s.Mailbox(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func list(t testing.TB, b *dropbox.Mailbox) []dropbox.Entry {
	t.Helper()
	entries, err := b.List()
	if err != nil {
		t.Fatal(err)
	}
	return entries
}
