package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// A busyDaemon reports that each agent is in a turn, and that coder's client cannot read
// mail during a turn.
type busyDaemon struct{ control.Daemon }

func (busyDaemon) Status(names ...string) (st swarm.Status, err error) {
	for _, name := range names {
		st.Agents = append(st.Agents, swarm.AgentStatus{Name: name, State: swarm.Working, UrgentWaits: name == "coder", Message: &turn.MessageStatus{ID: "aaaaaaaaaa"}})
	}
	return st, nil
}

// The sender of an urgent message learns that the receiver will read it only after its
// turn.
func TestTheSenderHearsThatAnUrgentMessageWaits(t *testing.T) {
	p, store := projectWithMail(t, "{coder: , reviewer: }")
	for _, name := range p.file.Names() {
		if err := store.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
	}
	release, err := lockDaemon(p.home)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	l, err := control.Listen(p.dir, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- control.NewServer(busyDaemon{}, control.Options{Version: version}).Serve(ctx, l) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	if err := (discovery.Note{PID: os.Getpid(), Socket: l.Addr().String()}).Write(p.home.LockFile()); err != nil {
		t.Fatal(err)
	}
	const said = "claude-swarm: the client of coder cannot read mail during a turn: it will read this after its turn\n"
	for args, want := range map[string]string{
		"send coder stop --now":             said,
		"send all stop --priority urgent":   said,
		"send coder stop":                   "",
		"send coder stop --now --type note": "",
		"send reviewer stop --now":          "",
		"send lead stop --now":              "",
	} {
		var out, complaints strings.Builder
		code := run(append([]string{"claude-swarm", "--config", filepath.Join(p.dir, config.Name)}, strings.Fields(args)...), strings.NewReader(""), &out, &complaints)
		if code != 0 || complaints.String() != want {
			t.Errorf("%s ended with %d and says %q, want %q", args, code, complaints.String(), want)
		}
	}
}
