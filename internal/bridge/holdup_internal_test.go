package bridge

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A heldSwarm returns its answers one at a time, one per call of Held.
type heldSwarm struct {
	deafSwarm
	answers []heldAnswer
}

type heldAnswer struct {
	why string
	err error
}

func (s *heldSwarm) Held(context.Context, string) (string, error) {
	a := s.answers[0]
	s.answers = s.answers[1:]
	return a.why, a.err
}

// The same reason is reported only once, even if the daemon could not be asked in
// between.
func TestAReasonIsToldOnce(t *testing.T) {
	r, _ := newListener(t, "irc.example", Options{})
	swarm := &heldSwarm{answers: []heldAnswer{
		{"coder is paused", nil}, {"coder is paused", nil}, {"", errors.New("no daemon")}, {"coder is paused", nil}, {"", nil}, {"coder is paused", nil},
	}}
	n := r.listener.notices
	n.swarm = swarm
	said := onNetwork(irc.Text{Time: time.Now(), Target: "#project-x", Source: "ann!~a@home.example", Nick: "ann", Body: "coder: go on"})
	for len(swarm.answers) > 0 {
		n.tellHeld(said, "coder")
		for key := range n.holdups {
			for n.holdups[key].asks {
				(<-r.loop.later)()
			}
			h := n.holdups[key]
			h.asked = time.Time{} // as if heldLook had passed
			n.holdups[key] = h
		}
	}
	want := []string{"#project-x: ann: coder is paused", "#project-x: ann: coder is paused"}
	if got := r.listener.link.(*stubLink).told; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}
