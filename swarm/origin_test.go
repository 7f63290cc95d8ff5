package swarm_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// deliver puts a message into a mailbox in the same way as a program that cannot prove
// its sender.
func (f *field) deliver(to, body string) string {
	f.t.Helper()
	d, err := f.store.Deliver(to, &dropbox.Message{From: dropbox.Lead, To: []string{to}, Type: dropbox.Handoff, Body: []byte(body)})
	if err != nil {
		f.t.Fatal(err)
	}
	return d.ID
}

// In a swarm in which a turn is always running, people and cron jobs drop one file after
// another. No such file counts as part of a loop, even if each one appears during the
// turn that the previous one started.
func TestHonestDropsOnABusySwarm(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	f := newGated(t, policy.Default(), "a", "b")
	steps := map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{})}
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		return []runnertest.Step{
			runnertest.Tool(runnertest.Shell, map[string]any{"command": "make test"}, ""),
			runnertest.Do(func(ctx context.Context, _ runner.Turn) error {
				select {
				case <-steps[turn.Agent]:
				case <-ctx.Done():
				}
				return nil
			}),
		}
	}
	f.start()
	names := []string{"a", "b"}
	f.deliver("a", "drop 0")
	const drops = 24
	for n := 1; n <= drops; n++ {
		f.until("the turn of the drop before runs", func() bool {
			runs := f.backend.Runs()
			return len(runs) == n && runs[n-1].Ended.IsZero()
		})
		to := names[n%2]
		if n%3 == 0 {
			drop(f, to, fmt.Sprint("drop", n, ".md"), fmt.Sprint("drop ", n))
			f.until("it is taken in", func() bool { return len(f.files(to, "new"))+len(f.files(to, "cur")) > 0 })
		} else {
			f.deliver(to, fmt.Sprint("drop ", n))
		}
		f.until("both run", func() bool { return len(f.backend.Runs()) == n+1 })
		steps[names[(n-1)%2]] <- struct{}{}
	}
	steps[names[drops%2]] <- struct{}{}
	f.quiet()
	if got := append(f.refused("a"), f.refused("b")...); len(got) > 0 {
		t.Errorf("refused: %+v", got)
	}
}

// If a turn delivers a message without a proof, directly into a folder that its tools
// named, the message inherits the hops of that turn. The age of the message's file does
// not matter, and neither do the sender and path in the file.
func TestADeliveryIntoANamedFolderInheritsTheTurn(t *testing.T) {
	f := newGated(t, policy.Default(), "a", "b")
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if turn.Agent == "b" {
			return nil
		}
		tmp := filepath.Join(f.store.Dir(), "b", "tmp", "x")
		name := "1-" + time.Now().UTC().Format("20060102T150405.000000Z") + "-bbbbbbbbbb.md"
		return []runnertest.Step{
			runnertest.Tool(runnertest.Shell, map[string]any{"command": "sh drop.sh .dead-drop/b/"}, ""),
			runnertest.Do(func(context.Context, runner.Turn) error {
				if err := os.WriteFile(tmp, []byte("---\nfrom: lead\ntype: handoff\npath: [lead]\n---\nyour turn\n"), 0o600); err != nil {
					return err
				}
				old := time.Now().Add(-24 * time.Hour)
				if err := os.Chtimes(tmp, old, old); err != nil {
					return err
				}
				return os.Rename(tmp, filepath.Join(f.store.Dir(), "b", "new", name))
			}),
		}
	}
	f.start()
	id := f.send("a", "Begin.", typed(dropbox.Handoff))
	f.until("b had a turn", func() bool { return len(f.backend.Runs()) == 2 })
	f.quiet()
	data, err := os.ReadFile(filepath.Join(f.dir, ".claude-swarm", "turns", "bbbbbbbbbb-1.json"))
	if err != nil {
		t.Fatal(err)
	}
	got := string(data)
	for _, want := range []string{`"hops": 1`, `"thread": "` + id + `"`, `"trace": "` + id + `"`, `"a"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the record of b's turn lacks %s:\n%s", want, got)
		}
	}
}
