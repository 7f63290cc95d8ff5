package swarm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// These are the causes in the table of docs/dev/reliability.md.
const (
	theMessage      = "the message"
	theConversation = "the conversation"
	theSetUp        = "the set-up"
	theService      = "the account or the service"
)

// Each way in which a turn can fail is booked on its cause, and only there. The tests of package
// claude show that the real clients' errors end in these ways ([TestRecordedErrors] and
// TestThePersonsSettings there).
func TestFailuresAreBookedOnTheirCause(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "dev", "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	end := func(out runner.Outcome) []runnertest.Step { return []runnertest.Step{runnertest.End(out)} }
	first := ""
	for name, c := range map[string]struct {
		fails  func(runner.Turn) []runnertest.Step // nil steps mean a good turn
		booked string
		state  swarm.State // after the first try
		why    string      // part of the reason that the person reads
		next   string      // part of the next step that the person reads
		heals  bool        // the message is done without a person
	}{
		"the turn fails": {fails: func(runner.Turn) []runnertest.Step { return end(runner.Outcome{End: runner.Failed, Reason: "no luck"}) }, booked: theMessage, state: swarm.Backoff, why: "no luck", next: "tries again at"},
		"an error subtype": {fails: func(runner.Turn) []runnertest.Step {
			return end(runner.Outcome{End: runner.Failed, Reason: "error_during_execution"})
		}, booked: theMessage, state: swarm.Backoff, why: "error_during_execution", next: "tries again at"},
		"it is silent": {fails: func(runner.Turn) []runnertest.Step {
			return end(runner.Outcome{End: runner.Stalled, Reason: "no sign of life"})
		}, booked: theMessage, state: swarm.Backoff, why: "no sign of life", next: "tries again at"},
		"the API rejects the message": {fails: func(runner.Turn) []runnertest.Step {
			return end(runner.Outcome{End: runner.Failed, Reason: "400", Rejected: true})
		}, booked: theMessage, state: swarm.Backoff, why: "400", next: "tries again at"},
		"the API rejects the conversation": {fails: func(turn runner.Turn) []runnertest.Step {
			if turn.Session.ID != first {
				return nil
			}
			return end(runner.Outcome{End: runner.Failed, Reason: "400", Rejected: true})
		}, booked: theConversation, heals: true},
		"a wrong key": {fails: func(runner.Turn) []runnertest.Step {
			return end(runner.Outcome{End: runner.BadSetup, Reason: "wrong key", Hint: "set the key"})
		}, booked: theSetUp, state: swarm.Stopped, why: "wrong key", next: "set the key, then claude-swarm start coder"},
		"a hook refuses the prompt": {fails: func(runner.Turn) []runnertest.Step {
			return end(runner.Outcome{End: runner.BadSetup, Reason: "a hook refuses the prompt", Hint: "change the hook"})
		}, booked: theSetUp, state: swarm.Stopped, why: "a hook", next: "change the hook, then claude-swarm start coder"},
		"damaged settings": {fails: func(runner.Turn) []runnertest.Step {
			return end(runner.Outcome{End: runner.BadSetup, Reason: "Configuration error", Hint: "repair that file"})
		}, booked: theSetUp, state: swarm.Stopped, why: "Configuration error", next: "repair that file, then claude-swarm start coder"},
		"the client dies at once": {fails: func(runner.Turn) []runnertest.Step {
			return end(runner.Outcome{End: runner.NoFirstEvent, Reason: "exited", Hint: "run it by hand"})
		}, booked: theSetUp, state: swarm.Stopped, why: "exited", next: "run it by hand, then claude-swarm start coder"},
		"a usage limit": {fails: func(runner.Turn) []runnertest.Step { return []runnertest.Step{runnertest.Limited(time.Hour)} }, booked: theService, state: swarm.Limited, why: "usage limit", next: "continues on its own"},
		"an error of the service": {fails: func(runner.Turn) []runnertest.Step {
			return []runnertest.Step{runnertest.Unavailable(runner.ServiceFailed)}
		}, booked: theService, state: swarm.Limited, why: "500", next: "continues on its own"},
		"no connection": {fails: func(runner.Turn) []runnertest.Step {
			return []runnertest.Step{runnertest.Unavailable(runner.ServiceAway)}
		}, booked: theService, state: swarm.Limited, why: "Connection refused", next: "continues on its own"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(string(page), "\n| "+c.booked+" |") {
				t.Errorf("docs/dev/reliability.md has no row for %q", c.booked)
			}
			inBubble(t, func(t *testing.T) {
				a := newAccount(t, "coder")
				fails := func(runner.Turn) []runnertest.Step { return nil }
				a.backend.Script = func(turn runner.Turn) []runnertest.Step { return fails(turn) }
				a.start()
				a.answer(a.send("coder", "begin"))
				_, ids := a.sessions("coder", "begin")
				first, fails = ids[0], c.fails
				id := a.send("coder", "work")
				if c.heals {
					a.answer(id)
					if len(a.files("coder", "dead")) > 0 {
						t.Error("the message died")
					}
					return
				}
				st := a.untilState("coder", c.state)
				if !strings.Contains(st.Why, c.why) || !strings.Contains(st.Next, c.next) {
					t.Errorf("why %q, next %q; want …%s…, …%s…", st.Why, st.Next, c.why, c.next)
				}
				want := "0"
				if c.booked == theMessage {
					want = "1"
				}
				if got := a.counted("coder"); got != want {
					t.Errorf("%s failures of the message are counted, want %s", got, want)
				}
				if c.booked == theMessage {
					a.until("the message is given up", func() bool { return len(a.files("coder", "dead")) > 0 })
					return
				}
				// When the cause is gone, the message is done, without or with the command that
				// the status names.
				fails = func(runner.Turn) []runnertest.Step { return nil }
				if c.state == swarm.Stopped {
					if err := a.daemon.StartAgent("coder", "lead"); err != nil {
						t.Fatal(err)
					}
				}
				a.answer(id)
			})
		})
	}
}
