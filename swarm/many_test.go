package swarm_test

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/standin"
)

// Several senders send a thousand messages to ten agents at the same time. Each message
// is done once, in order for each agent and priority, and none is left over.
func TestAThousandMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const agents, messages = 10, 1000
	names := make([]string, agents)
	for i := range names {
		names[i] = "agent" + strconv.Itoa(i)
	}
	f := newField(t, names...)
	f.plan.MaxRunning = 8
	f.start()

	var wg sync.WaitGroup
	for sender := range 4 {
		wg.Go(func() {
			for n := sender; n < messages; n += 4 {
				m := &dropbox.Message{Type: dropbox.Task, Priority: dropbox.Normal, Body: fmt.Appendf(nil, "task %d", n)}
				if n%7 == 0 {
					m.Priority = dropbox.Urgent
				}
				if _, err := f.store.Deliver(names[n%agents], m); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	f.until("all are answered", func() bool { return len(f.files("lead", "new")) == messages })
	f.until("all are filed", func() bool {
		left := 0
		for _, name := range names {
			left += len(f.files(name, "cur")) + len(f.files(name, "new"))
		}
		return left == 0
	})

	// The turns of an agent do not overlap. For each agent and sender, the messages run
	// in the order in which they were sent, except that urgent messages overtake others.
	// The order between senders is not defined.
	ran := map[string]int{}
	began := map[string]time.Time{}
	last := map[string]int{}
	for _, r := range f.backend.Runs() {
		body := standin.Body(r.Turn.Prompt)
		ran[body]++
		if r.Began.Before(began[r.Turn.Agent]) {
			t.Errorf("%s: a turn began before the one before it had ended", r.Turn.Agent)
		}
		began[r.Turn.Agent] = r.Ended
		var n int
		if _, err := fmt.Sscanf(body, "task %d", &n); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprint(r.Turn.Agent, n%4, n%7 == 0)
		if before, ok := last[line]; ok && before > n {
			t.Errorf("%s: task %d ran after task %d", r.Turn.Agent, n, before)
		}
		last[line] = n
	}
	for n := range messages {
		if got := ran[fmt.Sprintf("task %d", n)]; got != 1 {
			t.Errorf("task %d ran %d times", n, got)
		}
	}
	for _, name := range names {
		done := f.files(name, "done")
		slices.Sort(done)
		if got := len(done); got != 2*messages/agents {
			t.Errorf("%s has %d files in done/, want %d", name, got, 2*messages/agents)
		}
		f.nothingLeft(name)
	}
}
