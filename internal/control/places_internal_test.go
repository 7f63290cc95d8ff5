package control

import (
	"errors"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// However many connections agents open, a person still gets one, and so does another agent
// as long as there are any for agents.
func TestNoCallerTakesEveryConnection(t *testing.T) {
	agents := map[int]string{}
	p := &places{callerOf: func(pid int, _ *journal.Claim) (journal.Caller, error) {
		if pid == 13 {
			return journal.Caller{}, errors.New("its opener has ended")
		}
		return journal.Caller{Agent: agents[pid/1000]}, nil
	}}
	agents[1], agents[2], agents[3] = "coder", "tester", "writer"
	taken := func(pid func(i int) int) (n int) {
		for i := range 300 {
			if _, err := p.admit(pid(i)); err == nil {
				n++
			}
		}
		return n
	}
	for _, test := range []struct {
		name string
		pid  func(i int) int
		want int
	}{
		{"an agent with many processes", func(i int) int { return 1000 + i }, maxOfCaller},
		{"programs that cannot be traced", func(int) int { return 13 }, maxOfCaller},
		{"a second agent", func(i int) int { return 2000 + i }, maxOfAgents - 2*maxOfCaller},
		{"a third agent", func(i int) int { return 3000 + i }, 0},
		{"one process of a person", func(int) int { return 4000 }, maxConnections - maxOfAgents},
		{"another one", func(int) int { return 5000 }, 0},
	} {
		if got := taken(test.pid); got != test.want {
			t.Errorf("%s gets %d connections, want %d", test.name, got, test.want)
		}
	}
	leave, err := p.admit(13)
	if code := (&Error{}); !errors.As(err, &code) || code.Code != CodeBusy || leave != nil {
		t.Errorf("beyond the limit: %v, want the code %s", err, CodeBusy)
	}
}

// A connection that has ended gives its place back.
func TestAPlaceIsGivenBack(t *testing.T) {
	p := &places{}
	for range 10 * maxConnections {
		leave, err := p.admit(7)
		if err != nil {
			t.Fatal(err)
		}
		leave()
	}
	if len(p.taken) != 0 {
		t.Errorf("%d places are taken", len(p.taken))
	}
}
