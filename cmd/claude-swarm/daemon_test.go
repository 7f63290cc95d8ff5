package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// shortProject returns a project with a short path, because the length of a socket's path is
// limited.
func shortProject(t *testing.T) *project {
	t.Helper()
	dir, err := os.MkdirTemp("", "cs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, name := range []string{"p", "r", "h"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(dir, "r"))
	t.Setenv("HOME", filepath.Join(dir, "h"))
	p := &project{dir: filepath.Join(dir, "p"), home: journal.HomeOf(filepath.Join(dir, "p"))}
	if err := p.home.Make(); err != nil {
		t.Fatal(err)
	}
	return p
}

// The daemon recreates its socket if the socket is removed. For example, systemd removes
// the whole runtime folder of a user who has logged out.
func TestTheSocketIsMadeAgain(t *testing.T) {
	p := shortProject(t)
	s, err := openSocket(p)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if l, err := s.renew(); l != nil || err != nil {
		t.Errorf("renew of a socket that is there = %v, %v, want nothing", l, err)
	}

	// If only the socket file is gone, the daemon recreates it at the same path.
	first := s.path()
	if err := os.Remove(first); err != nil {
		t.Fatal(err)
	}
	if _, err := s.renew(); err != nil || s.path() != first {
		t.Fatalf("renew = %v, at %s, want %s", err, s.path(), first)
	}
	if _, err := os.Lstat(first); err != nil {
		t.Errorf("the new socket went with the old one: %v", err)
	}

	// If the whole folder is gone, the daemon creates the socket in another folder and
	// writes the new path to the note.
	if err := os.RemoveAll(os.Getenv("XDG_RUNTIME_DIR")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.renew(); err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(os.Getenv("HOME"), ".claude-swarm", "run", filepath.Base(first)); s.path() != want {
		t.Errorf("the socket is at %s, want %s", s.path(), want)
	}
	if got := discovery.ReadNote(p.home.LockFile()); got.Socket != s.path() || got.PID != os.Getpid() {
		t.Errorf("the note says %+v, want the socket %s", got, s.path())
	}
	if _, err := control.Listen(p.dir, os.Getenv); err == nil {
		t.Error("a second daemon could listen too")
	}

	s.close()
	if _, err := os.Lstat(s.path()); err == nil {
		t.Error("the socket is there after close")
	}
	if l, err := s.renew(); l != nil || err != nil {
		t.Errorf("renew after close = %v, %v, want nothing", l, err)
	}
}

func TestOneDaemonHoldsTheLock(t *testing.T) {
	p := shortProject(t)
	if lockHeld(p.home) {
		t.Error("the lock is held before anybody took it")
	}
	release, err := lockDaemon(p.home)
	if err != nil {
		t.Fatal(err)
	}
	if !lockHeld(p.home) {
		t.Error("the lock is not seen to be held")
	}
	if _, err := lockDaemon(p.home); err == nil {
		t.Error("a second daemon got the lock")
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if lockHeld(p.home) {
		t.Error("the lock is held after its release")
	}
}
