package swarm_test

import (
	"context"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// While the client retries an API request, the status says so. The status also shows a
// hold that begins after the turn. The text about the retries disappears when the client
// reports its next event or its turn ends.
func TestTheStatusShowsThatTheAPIIsAskedAgain(t *testing.T) {
	f := newField(t, "coder")
	told := make(chan *streamjson.Retry)
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Do(func(ctx context.Context, turn runner.Turn) error {
			for {
				select {
				case r, more := <-told:
					if !more {
						return nil
					}
					ev := &streamjson.Event{Kind: streamjson.KindRetry, Retry: r}
					if r == nil {
						ev.Kind = streamjson.KindStatus
					}
					turn.Event(ev)
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}), runnertest.Say("done")}
	}
	f.start()
	says := func(why string) {
		t.Helper()
		f.until("the status says "+why, func() bool {
			st := f.status("coder")
			if st.State != swarm.Working && st.TurnCount > 0 {
				t.Fatalf("the agent is %s while its client asks again", st.State)
			}
			return st.Why == why
		})
	}
	id := f.send("coder", "a task")
	f.untilState("coder", swarm.Working)
	told <- &streamjson.Retry{Attempt: 7, Max: 10}
	says("the API is not answering (retry 7 of 10)")
	told <- &streamjson.Retry{Attempt: 8, Max: 10, Status: 529, Error: "overloaded"}
	says("the API answers 529 overloaded (retry 8 of 10)")
	if next := f.status("coder").Next; next != "" {
		t.Errorf("next = %q, want nothing: the client continues on its own", next)
	}
	if err := f.daemon.Pause("coder", swarm.PauseOrder{By: "lead"}); err != nil {
		t.Fatal(err)
	}
	says("the API answers 529 overloaded (retry 8 of 10); is paused when this turn has ended: by lead")
	told <- nil
	says("is paused when this turn has ended: by lead")
	if err := f.daemon.Resume("coder", "lead"); err != nil {
		t.Fatal(err)
	}
	says("")
	told <- &streamjson.Retry{Attempt: 1, Max: 10}
	says("the API is not answering (retry 1 of 10)")
	close(told)
	f.answer(id)
	f.untilState("coder", swarm.Idle)
	if why := f.status("coder").Why; why != "" {
		t.Errorf("why = %q after the turn", why)
	}
}
