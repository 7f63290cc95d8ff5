package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A strangeDaemon stands in for the daemon of another project. It only reports its
// status.
type strangeDaemon struct{ control.Daemon }

func (strangeDaemon) Status(...string) (swarm.Status, error) {
	return swarm.Status{Project: "another"}, nil
}

// If no process holds the lock, either the note in the lock file is out of date, or the file was
// copied together with a project. In both cases, the socket in the note can belong to another
// project's daemon. Verbs must not connect to that daemon.
func TestAnOldNoteLeadsToNoDaemon(t *testing.T) {
	p := shortProject(t)
	overwrite(t, filepath.Join(p.dir, "claude-swarm.yaml"), "agents: {coder: }\n")
	t.Chdir(p.dir)
	another := t.TempDir()
	l, err := control.Listen(another, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- control.NewServer(strangeDaemon{}, control.Options{}).Serve(ctx, l) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	if err := (discovery.Note{PID: 1, Socket: l.Addr().String()}).Write(p.home.LockFile()); err != nil {
		t.Fatal(err)
	}
	c := cli.NewContext(newApp(nil, strings.NewReader(""), io.Discard, io.Discard), flag.NewFlagSet("", flag.ContinueOnError), nil)
	ways := map[string]func() error{
		"the events of status --watch": func() error { return followEvents(t.Context(), c, swarm.Filter{}, func(swarm.FeedEvent) {}) },
		"a person on IRC": func() error {
			return daemonVoice{project: p}.ask(t.Context(), func(context.Context, *control.Client) error { return nil })
		},
		"send --wait": func() error { _, err := (&holdups{project: p}).ask(t.Context()); return err },
	}
	for name, ask := range ways {
		if err := ask(); !errors.Is(err, control.ErrNoDaemon) {
			t.Errorf("%s: %v, want that no daemon is running", name, err)
		}
	}

	// If a process holds the lock, verbs use the socket in its note, because that process
	// may have a different environment.
	release, err := lockDaemon(p.home)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if st, err := (&holdups{project: p}).ask(t.Context()); err != nil || st.Project != "another" {
		t.Errorf("with the lock held: %+v, %v", st, err)
	}
}
