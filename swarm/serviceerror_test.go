package swarm_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// An account is a field in a bubble whose agents share an account. The waits are the real
// ones.
type account struct {
	*field
	fails   atomic.Pointer[func(runner.Turn) bool] // whether a turn meets an error of the service; see failIf
	how     runner.ServiceError                    // set before failIf
	turnFor time.Duration                          // how long a good turn takes
}

func newAccount(t *testing.T, agents ...string) *account {
	t.Helper()
	a := &account{field: newField(t, agents...), how: runner.ServiceFailed, turnFor: 5 * time.Second}
	a.restart, a.sweep = swarm.RestartPolicy{}, time.Second
	for i := range a.plan.Agents {
		a.plan.Agents[i].RetryDelay = 0
	}
	a.failIf(func(runner.Turn) bool { return false })
	a.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if (*a.fails.Load())(turn) {
			return []runnertest.Step{runnertest.Unavailable(a.how)}
		}
		return []runnertest.Step{runnertest.Do(a.busy), runnertest.Say("ready")}
	}
	return a
}

// failIf decides which turns meet an error of the service from now on.
func (a *account) failIf(f func(runner.Turn) bool) { a.fails.Store(&f) }

func (a *account) busy(ctx context.Context, _ runner.Turn) error {
	select {
	case <-time.After(a.turnFor):
	case <-ctx.Done():
	}
	return nil
}

// counted returns how many failures of an agent's waiting message are counted.
func (a *account) counted(agent string) string {
	a.t.Helper()
	names := append(a.files(agent, "new"), a.files(agent, "cur")...)
	for _, name := range names {
		if _, counts, ok := strings.Cut(strings.TrimSuffix(name, ".md"), "~"); ok {
			_, failed, _ := strings.Cut(counts, ".")
			return failed
		}
	}
	return "0"
}

// work sends an agent a message every period, until stopped, and returns the longest time
// from a message to its good turn.
func (a *account) work(agent string, period time.Duration, until func() bool) (longest time.Duration) {
	a.t.Helper()
	for n := 0; !until(); n++ {
		if n == 1000 {
			a.t.Fatalf("%s has done %d messages", agent, n)
		}
		sent := time.Now()
		id := a.send(agent, "work")
		for !a.finished(id) {
			if time.Since(sent) > fakePatience {
				a.t.Fatalf("no good turn of %s", agent)
			}
			time.Sleep(time.Second)
		}
		longest = max(longest, time.Since(sent))
		time.Sleep(period)
	}
	return longest
}

// finished reports whether a message has had a good turn. It reads no file, because the
// tests ask it thousands of times.
func (a *account) finished(id string) bool {
	return slices.ContainsFunc(a.backend.Runs(), func(r runnertest.Run) bool {
		return r.Outcome.End == runner.Done && strings.HasPrefix(r.Turn.ID, id+"-")
	})
}

// sessions returns how the turns of an agent on a message got their sessions.
func (a *account) sessions(agent, body string) (hows []runner.How, ids []string) {
	for _, r := range a.backend.Runs() {
		if r.Turn.Agent == agent && strings.Contains(r.Turn.Prompt, body) {
			hows, ids = append(hows, r.Turn.Session.How), append(ids, r.Turn.Session.ID)
		}
	}
	return hows, ids
}

// An agent meets an error of the service at each try, while the other agent of its account
// works. The other agent loses at most the first wait. The message is tried once in a new
// session, and ends as a dead letter after three errors that count. The agent keeps its
// conversation, and goes on with the next message.
func TestAServiceErrorOfOneAgentIsItsOwn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a := newAccount(t, "coder", "reviewer")
		a.start()
		a.answer(a.send("coder", "begin"))
		_, first := a.sessions("coder", "begin")
		a.failIf(func(turn runner.Turn) bool { return strings.Contains(turn.Prompt, "poison") })
		poison := a.send("coder", "poison")
		alone := swarm.AgentStatus{}
		longest := a.work("reviewer", 10*time.Second, func() bool {
			if st := a.status("coder"); st.State == swarm.Backoff {
				alone = st
			}
			return len(a.files("coder", "dead")) > 0
		})
		if longest > 40*time.Second { // the first wait, its spread, and the turn
			t.Errorf("a message of the healthy agent waited for %v", longest)
		}
		if !strings.Contains(alone.Why, "only this agent meets the error") || !strings.Contains(alone.Next, "tries again at") {
			t.Errorf("the agent's status is %q, %q", alone.Why, alone.Next)
		}
		bounce := string(a.answer(poison).Body)
		if !strings.Contains(bounce, "failed 3 times, last: API Error: 500") || !strings.Contains(bounce, "a new session did not help") {
			t.Errorf("the sender is told %q", bounce)
		}
		hows, _ := a.sessions("coder", "poison")
		if n := len(slices.DeleteFunc(slices.Clone(hows), func(h runner.How) bool { return h != runner.New })); n != 1 {
			t.Errorf("the message was tried in %d new sessions: %v", n, hows)
		}
		a.answer(a.send("coder", "next"))
		if _, next := a.sessions("coder", "next"); !slices.Equal(next, first) {
			t.Errorf("the next message ran in the session %v, want the agent's own %v", next, first)
		}
		a.untilState("coder", swarm.Idle)
		a.halt()
		a.state(func(state map[string]any) {
			if left, ok := state["agents"].(map[string]any)["coder"]; ok {
				t.Errorf("after a good turn %v is remembered", left)
			}
		})
	})
}

// The conversation is the cause: in a new session, which gets the window, the message is
// done.
func TestAConversationThatTheServiceCannotStand(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a := newAccount(t, "coder", "reviewer")
		a.start()
		a.answer(a.send("coder", "begin"))
		_, first := a.sessions("coder", "begin")
		a.failIf(func(turn runner.Turn) bool { return turn.Session.ID == first[0] })
		id := a.send("coder", "second")
		a.work("reviewer", 10*time.Second, func() bool { return a.finished(id) })
		if n := len(a.receipt("coder", id).Attempts); n < 2 {
			t.Errorf("the receipt lists %d attempts", n)
		}
		runs := a.backend.Runs()
		last := runs[slices.IndexFunc(runs, func(r runnertest.Run) bool { return r.Turn.Agent == "coder" && r.Turn.Session.ID != first[0] })]
		if !strings.Contains(last.Turn.Prompt, "<prior-context") {
			t.Error("the new session did not get the window")
		}
		a.answer(a.send("coder", "third"))
		if hows, _ := a.sessions("coder", "third"); hows[len(hows)-1] != runner.Resume {
			t.Errorf("the third message ran %v, want in the new conversation", hows)
		}
	})
}

// A real outage holds all agents, kills no message however long it lasts, and costs nobody
// the conversation. All go on when it ends, also if the daemon was restarted in its middle.
func TestAnOutageKillsNoMessage(t *testing.T) {
	for name, agents := range map[string][]string{"three agents": {"coder", "reviewer", "tester"}, "one agent": {"coder"}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				a := newAccount(t, agents...)
				a.sweep = time.Minute
				a.start()
				for _, name := range agents {
					a.answer(a.send(name, "begin"))
				}
				a.failIf(func(runner.Turn) bool { return true })
				ids := map[string]string{}
				for _, name := range agents {
					ids[name] = a.send(name, "work")
				}
				for range 3 {
					time.Sleep(3 * time.Hour)
					for _, name := range agents {
						if a.counted(name) != "0" || len(a.files(name, "dead")) > 0 {
							t.Fatalf("%s: %s failures count", name, a.counted(name))
						}
						if st := a.status(name); st.State != swarm.Limited && st.State != swarm.Working {
							t.Errorf("%s is %s: %s", name, st.State, st.Why)
						}
					}
					a.halt()
					a.start()
				}
				a.failIf(func(runner.Turn) bool { return false })
				for _, name := range agents {
					a.answer(ids[name])
				}
				told := slices.DeleteFunc(a.mail(dropbox.Lead), func(m *dropbox.Message) bool { return !strings.Contains(m.Subject, "parked") })
				if len(told) != 1 {
					t.Errorf("the lead was told %d times", len(told))
				}
			})
		})
	}
}

// After one error, another agent succeeds, and then the service fails for all: the evidence
// is old, so nothing counts.
func TestAnOutageThatBeginsWithOneAgent(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a := newAccount(t, "coder", "reviewer")
		a.sweep = time.Minute
		a.start()
		a.answer(a.send("coder", "begin"))
		a.answer(a.send("reviewer", "begin"))
		a.failIf(func(turn runner.Turn) bool { return turn.Agent == "coder" })
		id := a.send("coder", "work")
		a.untilState("coder", swarm.Limited)
		a.answer(a.send("reviewer", "one more"))
		a.failIf(func(runner.Turn) bool { return true })
		review := a.send("reviewer", "work")
		time.Sleep(3 * time.Hour)
		if a.counted("reviewer") != "0" || len(a.files("coder", "dead")) > 0 || a.counted("coder") > "1" {
			t.Errorf("counted %s and %s, dead %v", a.counted("coder"), a.counted("reviewer"), a.files("coder", "dead"))
		}
		a.failIf(func(runner.Turn) bool { return false })
		a.answer(id)
		a.answer(review)
	})
}

// If nobody else uses the account, nobody can show whose the error is. An agent whose
// conversation is broken does not wait without an end: after many errors it tries a new
// session.
func TestALonelyAgentTriesANewSession(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a := newAccount(t, "coder")
		a.start()
		a.answer(a.send("coder", "begin"))
		_, first := a.sessions("coder", "begin")
		a.failIf(func(turn runner.Turn) bool { return turn.Session.ID == first[0] })
		sent := time.Now()
		a.answer(a.send("coder", "work"))
		if took := time.Since(sent); took < 10*time.Minute || took > time.Hour {
			t.Errorf("the new session was tried after %v", took)
		}
	})
}

// The daemon remembers the errors of one agent across a restart.
func TestServiceErrorsSurviveARestart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a := newAccount(t, "coder", "reviewer")
		a.start()
		a.answer(a.send("coder", "begin"))
		a.failIf(func(turn runner.Turn) bool { return turn.Agent == "coder" })
		id := a.send("coder", "poison")
		seen := ""
		longest := a.work("reviewer", 10*time.Second, func() bool {
			if now := a.counted("coder"); now != seen { // restart after each error that counts
				seen = now
				a.halt()
				a.start()
			}
			return len(a.files("coder", "dead")) > 0
		})
		if longest > 40*time.Second {
			t.Errorf("a message of the healthy agent waited for %v", longest)
		}
		if hows, _ := a.sessions("coder", "poison"); len(slices.DeleteFunc(hows, func(h runner.How) bool { return h != runner.New })) != 1 {
			t.Errorf("the message was tried in new sessions more or less than once: %v", hows)
		}
		if body := string(a.answer(id).Body); !strings.Contains(body, "failed 3 times") {
			t.Errorf("the sender is told %q", body)
		}
	})
}

// An agent alone cannot reach the service. The cause may be its settings, so the agent stops
// and its message waits. The agent goes on when it is started.
func TestAnAgentThatCannotReachTheServiceIsStopped(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a := newAccount(t, "coder", "reviewer")
		a.start()
		a.how = runner.ServiceAway
		a.failIf(func(turn runner.Turn) bool { return turn.Agent == "coder" })
		id := a.send("coder", "work")
		a.work("reviewer", 10*time.Second, func() bool { return a.status("coder").State == swarm.Stopped })
		st := a.status("coder")
		if !strings.Contains(st.Why, "only this agent") || !strings.Contains(st.Next, "network settings in env: of agent coder") || !strings.Contains(st.Next, "claude-swarm cancel "+id) {
			t.Errorf("why %q, next %q", st.Why, st.Next)
		}
		if a.counted("coder") != "0" {
			t.Errorf("%s failures of the message were counted", a.counted("coder"))
		}
		a.failIf(func(runner.Turn) bool { return false })
		if err := a.daemon.StartAgent("coder", "lead"); err != nil {
			t.Fatal(err)
		}
		a.answer(id)
	})
}

// An outage of one model: the agents with other models go on, and the message of the agent
// with that model waits, because its errors do not count.
func TestAnOutageOfOneModel(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a := newAccount(t, "coder", "reviewer")
		a.plan.Agents[0].Client.Model = "large"
		a.sweep = 10 * time.Second
		a.start()
		a.failIf(func(turn runner.Turn) bool { return turn.Spec.Model == "large" })
		id := a.send("coder", "work")
		// A message may be found as late as the next sweep. A turn of the reviewer that ended
		// before the first error would not show whose the error is.
		a.untilState("coder", swarm.Limited)
		end := time.Now().Add(2 * time.Hour)
		longest := a.work("reviewer", 10*time.Minute, func() bool { return time.Now().After(end) })
		if longest > time.Minute {
			t.Errorf("a message of the other agent waited for %v", longest)
		}
		if a.counted("coder") != "0" || len(a.files("coder", "dead")) > 0 {
			t.Errorf("%s failures of the message were counted", a.counted("coder"))
		}
		told := 0
		for _, m := range a.mail(dropbox.Lead) {
			if strings.Contains(m.Subject, "waits alone") {
				told++
			}
		}
		if told != 1 {
			t.Errorf("the lead was told %d times that the agent waits alone", told)
		}
		a.failIf(func(runner.Turn) bool { return false })
		a.answer(id)
	})
}

// Several messages and agents meet errors of their own: none of them holds the others, and
// each message ends. See the comment of [journal.ServiceErrors].
func TestTwoAgentsWithErrorsOfTheirOwn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a := newAccount(t, "coder", "tester", "reviewer")
		a.start()
		a.failIf(func(turn runner.Turn) bool { return turn.Agent != "reviewer" })
		a.send("coder", "one")
		a.send("tester", "two")
		started := time.Now()
		a.work("reviewer", 10*time.Second, func() bool {
			return len(a.files("coder", "dead")) > 0 && len(a.files("tester", "dead")) > 0 || time.Since(started) > time.Hour
		})
		if took := time.Since(started); took > time.Hour {
			t.Errorf("it took %v", took)
		}
	})
}
