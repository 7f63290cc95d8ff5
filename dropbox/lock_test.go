package dropbox_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func TestLock(t *testing.T) {
	s := newStore(t, dropbox.Options{})
	release, err := s.Lock()
	if err != nil {
		t.Fatal(err)
	}
	other := reopen(t, s.Dir(), dropbox.Options{})
	_, err = other.Lock()
	locked, ok := errors.AsType[*dropbox.LockedError](err)
	if !ok || !strings.Contains(locked.Holder, fmt.Sprintf("pid %d", os.Getpid())) {
		t.Errorf("second Lock = %v, want a LockedError that names this process", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	// A killed process no longer holds the lock.
	cmd := helper("lock", s.Dir())
	stdin, _ := cmd.StdinPipe()
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "locked\n" {
		t.Fatalf("helper says %q, %v", line, err)
	}
	if _, err := s.Lock(); !errors.Is(err, dropbox.ErrLocked) {
		t.Errorf("Lock while another process holds it = %v, want ErrLocked", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	release, err = s.Lock()
	if err != nil {
		t.Fatalf("Lock after its holder was killed = %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

// A symlink in place of the lock file is not followed, and its target does not change.
func TestLockFollowsNoSymlink(t *testing.T) {
	s := newStore(t, dropbox.Options{})
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(s.Dir(), ".lock")
	for _, to := range []string{target, filepath.Join(t.TempDir(), "missing")} {
		if err := os.Symlink(to, lock); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Lock(); !errors.Is(err, syscall.ELOOP) {
			t.Errorf("Lock through a symlink = %v, want ELOOP", err)
		}
		if err := os.Remove(lock); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(to); to != target && err == nil {
			t.Errorf("Lock made the file %s", to)
		}
	}
	if data, err := os.ReadFile(target); err != nil || string(data) != "precious" {
		t.Errorf("the target of the symlink has %q, %v", data, err)
	}
	release, err := s.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

func TestHalt(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	deliver(t, s, "coder", text("1"))
	for _, why := range []string{"the house is on fire", "another reason"} {
		if err := s.Halt(why); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.HaltReason(); !s.Halted() || got != "the house is on fire" {
		t.Errorf("Halted() = %v, reason %q", s.Halted(), got)
	}
	deliver(t, s, "coder", text("2")) // deliveries continue
	entries := list(t, b)
	if _, err := b.Claim(entries[0]); !errors.Is(err, dropbox.ErrHalted) || len(entries) != 2 {
		t.Errorf("Claim = %v, want ErrHalted", err)
	}
	for range 2 {
		if err := s.Unhalt(); err != nil {
			t.Fatal(err)
		}
	}
	claim(t, b, entries[0])
	if err := os.WriteFile(filepath.Join(s.Dir(), "HALT"), nil, 0o600); err != nil { // touch
		t.Fatal(err)
	}
	if !s.Halted() {
		t.Error("touch HALT does not halt")
	}
}
