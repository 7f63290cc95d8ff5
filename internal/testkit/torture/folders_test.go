//go:build linux

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A message whose delivery began before its mailbox was moved away is in the mailbox after
// the two have been merged: the fault itself loses nothing.
func TestAMergeLosesNoDelivery(t *testing.T) {
	base := t.TempDir()
	a := &arena{dir: filepath.Join(base, "p"), agents: []string{"agent0"}}
	if err := errors.Join(os.Mkdir(a.dir, 0o700), dropbox.Create(a.mail())); err != nil {
		t.Fatal(err)
	}
	daemon, err := dropbox.Open(a.mail(), dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer daemon.Close()
	if err := daemon.MakeMailbox("agent0"); err != nil {
		t.Fatal(err)
	}
	at, away := a.box("agent0"), filepath.Join(base, "away-agent0")
	merged := make(chan error, 1)
	a.store, err = dropbox.Open(a.mail(), dropbox.Options{Step: func(st dropbox.Step) error {
		if strings.HasPrefix(st.String(), "move agent0/tmp/") {
			if err := errors.Join(os.Rename(at, away), daemon.MakeMailbox("agent0")); err != nil {
				return err
			}
			go func() {
				merged <- a.betweenDeliveries(func() error { return errors.Join(merge(away, at), removeFolders(away)) })
			}()
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.store.Close()
	id, err := a.deliver(t.Context(), &job{agent: "agent0"}, traffic{keyed: true, library: true})
	if err := errors.Join(err, <-merged); err != nil {
		t.Fatal(err)
	}
	if found, err := daemon.Find(id); err != nil || found.State != dropbox.Waiting {
		t.Errorf("%s is %q, %v, want it waiting; its files: %s", id, found.State, err, a.filesOf(id))
	}
	if _, err := os.Stat(away); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old mailbox is still there: %v", err)
	}
}
