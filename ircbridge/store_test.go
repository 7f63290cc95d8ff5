package ircbridge_test

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func newStore(t testing.TB, agents ...string) *dropbox.Store {
	t.Helper()
	dir := t.TempDir()
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(dir, dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	for _, name := range agents {
		if err := store.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
	}
	return store
}
