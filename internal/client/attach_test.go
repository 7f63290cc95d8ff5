package client_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
)

// An agent attaches only a file that its tools may read; a person attaches any regular
// file.
func TestAttach(t *testing.T) {
	y := newProject(t)
	agent, lead := y.client(t, "coder", new([]string), nil, ""), y.client(t, dropbox.Lead, nil, nil, "")
	got, err := agent.Attach(y.in("notes.md"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(agent.AttachmentPath(got)); err != nil || string(text) != "notes" || got.Name != "notes.md" {
		t.Errorf("attached %+v, %q, %v", got, text, err)
	}
	if _, err := agent.Attach(y.out("other.txt")); !is[*client.FileError](err) {
		t.Errorf("a file that the agent may not read: %v, want a FileError", err)
	}
	if _, err := lead.Attach(y.out("other.txt")); err != nil {
		t.Errorf("the same by the lead: %v", err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{pipe: client.ErrNotRegular, y.in("sub"): client.ErrNotRegular, y.in("none"): os.ErrNotExist} {
		if _, err := lead.Attach(path); !errors.Is(err, want) {
			t.Errorf("attach %s: %v, want %v", path, err, want)
		}
	}
}
