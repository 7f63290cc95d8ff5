package view_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A crowd is a daemon with many agents. most is the maximum number of agents whose status
// fits in an answer of one line.
type crowd struct {
	names []string
	most  int
	err   error // if not nil, the error returned for every request that names agents
	asked []int // the number of agents that each request named
}

func (c *crowd) Status(_ context.Context, agents ...string) (swarm.Status, error) {
	c.asked = append(c.asked, len(agents))
	if len(agents) > 0 && c.err != nil {
		return swarm.Status{}, c.err
	}
	if len(agents) == 0 {
		agents = c.names
	}
	if len(agents) > c.most {
		return swarm.Status{}, &control.Error{Code: control.CodeTooLong, Message: "too long"}
	}
	st := running()
	st.Judge.Total, st.Removed.Total = 1, 2
	for _, name := range agents {
		st.Agents = append(st.Agents, swarm.AgentStatus{Name: name})
	}
	return st, nil
}

func TestAsk(t *testing.T) {
	var names []string
	for i := range 250 {
		names = append(names, fmt.Sprint("a", i))
	}
	gone := errors.New("the daemon is gone")
	for name, tc := range map[string]struct {
		crowd
		agents []string
		want   []string
		asked  []int
		err    bool
	}{
		"all in one answer":         {crowd{names: names[:3], most: 3}, nil, names[:3], []int{0}, false},
		"one by name":               {crowd{names: names, most: 100}, names[7:8], names[7:8], []int{1}, false},
		"all in parts":              {crowd{names: names, most: 100}, nil, names, []int{0, 100, 100, 50}, false},
		"too many by name":          {crowd{names: names, most: 100}, names, nil, []int{250}, true},
		"it goes between two parts": {crowd{names: names, most: 100, err: gone}, nil, nil, []int{0, 100}, true},
	} {
		t.Run(name, func(t *testing.T) {
			st, err := view.Ask(t.Context(), &tc.crowd, tc.agents, func() ([]string, error) { return names, nil })
			if (err != nil) != tc.err {
				t.Fatalf("Ask = %v", err)
			}
			var got []string
			for _, a := range st.Agents {
				got = append(got, a.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("agents (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.asked, tc.crowd.asked); diff != "" {
				t.Errorf("how many were asked for (-want +got):\n%s", diff)
			}
			if err == nil && st.Daemon == nil {
				t.Error("the rest of the status is lost")
			}
			if all := len(tc.agents) == 0; err == nil && (st.Judge.Total == 1 && st.Removed.Total == 2) != all {
				t.Errorf("the supervisor cost %v, removed agents cost %v; want 1 and 2 only for all agents", st.Judge, st.Removed)
			}
		})
	}
}
