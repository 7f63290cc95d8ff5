package swarm_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// slowly makes the compaction hook take a minute while the file "slow" exists. Such a hook
// creates the file "over" if nobody ends it before the minute is over.
type slowly struct {
	*seen
	slow, began, over string
}

func newSlowly(f *field, s *seen) *slowly {
	return &slowly{s, filepath.Join(f.dir, "slow"), filepath.Join(f.dir, "began"), filepath.Join(f.dir, "over")}
}

func (s *slowly) Run(ctx context.Context, t runner.Turn) runner.Outcome {
	if t.Prompt == s.CompactPrompt() || strings.Contains(t.Prompt, "@compact") {
		t.Hook = "touch " + s.began + "; test ! -e " + s.slow + " || { sleep 60; touch " + s.over + "; }"
	}
	return s.seen.Run(ctx, t)
}

// ended checks that an order ended the hook, and did not wait for it.
func (s *slowly) ended(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(s.over); err == nil {
		t.Error("the order waited for the compaction")
	}
}

// An order that interrupts a compaction ends it promptly, and no process remains. No
// order to compact is lost unless a person withdraws it.
func TestStopDuringACompaction(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, c := range map[string]struct {
		stop  func(f *field) *swarm.Cut
		state dropbox.State
		again bool // the compaction runs after the agent resumes
	}{
		"stop --now of the agent": {func(f *field) *swarm.Cut {
			cut, err := f.daemon.StopAgent(f.t.Context(), "coder", "lead", true)
			if err != nil {
				f.t.Error(err)
			}
			return cut
		}, dropbox.Waiting, true},
		"stop --now of the daemon": {func(f *field) *swarm.Cut { f.halt(); return nil }, "", true},
		"abort": {func(f *field) *swarm.Cut {
			cut, err := f.daemon.Abort(f.t.Context(), "coder", "lead", "")
			if err != nil {
				f.t.Error(err)
			}
			return &cut
		}, dropbox.Dead, false},
	} {
		t.Run(name, func(t *testing.T) {
			f, s := newSeenField(t, "coder")
			slow := newSlowly(f, s)
			f.clients = slow
			f.start()
			f.receipt("coder", f.send("coder", "@say I remember BLUE"))
			f.receipt("coder", f.send("coder", "@say and GREEN"))
			session := f.status("coder").Session
			if err := os.WriteFile(slow.slow, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := f.daemon.Compact("coder", "lead"); err != nil {
				t.Fatal(err)
			}
			f.until("it compacts", func() bool { _, err := os.Stat(slow.began); return err == nil })
			cut := c.stop(f)
			slow.ended(t)
			if c.state != "" && (cut == nil || cut.State != c.state || cut.Message != "") {
				t.Errorf("the cut is %+v, want %s without a message", cut, c.state)
			}
			f.noProcesses()
			if err := os.Remove(slow.slow); err != nil {
				t.Fatal(err)
			}
			if f.daemon == nil {
				f.start()
			} else if err := f.daemon.StartAgent("coder", "lead"); err != nil {
				t.Fatal(err)
			}
			f.receipt("coder", f.send("coder", "@say on"))
			if got := f.status("coder").Session; got != session {
				t.Errorf("the session is %q, want %q", got, session)
			}
			done := false
			if err := journal.ReadLedger(journal.HomeOf(f.dir).Ledger(), func(l journal.LedgerLine) bool {
				done = done || l.Message == "" && l.Outcome == "done"
				return true
			}); err != nil {
				t.Fatal(err)
			}
			if done != c.again {
				t.Errorf("the compaction was done afterwards: %v, want %v", done, c.again)
			}
		})
	}
}

// A client that compacts within a turn also ends promptly, and the turn's message waits
// again. This does not count as a failure.
func TestStopWhileTheClientCompacts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	f, s := newSeenField(t, "coder")
	slow := newSlowly(f, s)
	f.clients = slow
	f.start()
	f.receipt("coder", f.send("coder", "@say one"))
	if err := os.WriteFile(slow.slow, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	id := f.send("coder", "@compact\n@say ready")
	f.until("it compacts", func() bool { _, err := os.Stat(slow.began); return err == nil })
	cut, err := f.daemon.StopAgent(t.Context(), "coder", "lead", true)
	if err != nil || cut == nil || cut.Message != id || cut.State != dropbox.Waiting {
		t.Errorf("StopAgent = %+v, %v, want that %s waits again", cut, err, id)
	}
	slow.ended(t)
	f.noProcesses()
	if waiting := f.files("coder", "new"); len(waiting) != 1 || !strings.HasSuffix(waiting[0], "~1.0.md") {
		t.Errorf("in new/: %v, want the message, begun once and failed never", waiting)
	}
	if err := os.Remove(slow.slow); err != nil {
		t.Fatal(err)
	}
	if err := f.daemon.StartAgent("coder", "lead"); err != nil {
		t.Fatal(err)
	}
	if r := f.receipt("coder", id); r.Outcome != "done" || !strings.Contains(r.Text, "ready") {
		t.Errorf("receipt %+v", r)
	}
}
