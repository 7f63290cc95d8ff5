package swarm_test

import (
	"errors"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// Turns that stop one another's agents in a cycle would wait for one another to end. To
// prevent this, one of them does not wait, so all the agents eventually stop.
func TestAgentsThatStopOneAnotherDoNotWaitForEver(t *testing.T) {
	for name, ring := range map[string][]string{
		"two":   {"coder", "reviewer"},
		"three": {"coder", "reviewer", "tester"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, ring...)
			f.start()
			for _, name := range ring {
				f.send(name, "@hang")
				f.untilState(name, swarm.Working)
			}
			type result struct {
				by  string
				err error
			}
			results := make(chan result, len(ring))
			for i, by := range ring {
				next := ring[(i+1)%len(ring)]
				go func() { // the goroutine ends no later than the test's context
					_, err := f.daemon.StopAgent(t.Context(), next, by, false)
					results <- result{by, err}
				}()
			}
			for _, name := range ring {
				f.until(name+" has heard of it", func() bool { return f.status(name).Why != "" })
			}
			for n := range ring {
				f.until("a stop has returned", func() bool { return len(results) > 0 })
				r := <-results
				if _, later := errors.AsType[*swarm.LaterError](r.err); later != (n == 0) || n > 0 && r.err != nil {
					t.Errorf("stop %d that returned, by %s: %v", n, r.by, r.err)
				}
				// This ends the turn that gave the order.
				if _, err := f.daemon.Interrupt(t.Context(), r.by, "lead", ""); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range ring {
				f.untilState(name, swarm.Stopped)
			}
		})
	}
}
