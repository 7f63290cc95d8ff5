package supervisor_test

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
)

// A turn that goes on after its escalation overruns once, after InterruptAfter further
// steps of whatever kind. Also tried: steps of a sub-agent, steps that repeat nothing, a
// turn that ends before, and no limit.
func TestATurnThatGoesOnAfterItsEscalation(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		after int
		want  int
	}{
		"the same call":     {[]string{"15x " + fails}, 10, 1},
		"much longer":       {[]string{"170x " + fails}, 10, 1},
		"one step less":     {[]string{"14x " + fails}, 10, 0},
		"other calls":       {[]string{"5x " + fails, "10x Grep `a#` = #"}, 10, 1},
		"the next step":     {[]string{"6x " + fails}, 1, 1},
		"no limit":          {[]string{"170x " + fails}, 0, 0},
		"without a change":  {[]string{"170x Grep `a#` = #"}, 10, 1},
		"no finding at all": {[]string{"2x " + fails, "20x Grep `a#` = #"}, 10, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := usual
			s.InterruptAfter = c.after
			h := watch(s, script(t, c.lines...))
			if len(h.overruns) != c.want {
				t.Fatalf("%+v, want %d overruns", h.overruns, c.want)
			}
			for _, o := range h.overruns {
				if e := h.escalations[0]; o != (supervisor.Overrun{ID: e.ID, Agent: e.Agent, Turn: e.Turn}) {
					t.Errorf("%+v does not name the escalation %+v", o, e)
				}
			}
		})
	}
}

// The reason is shown later with the number of repetitions at that time, even if they are
// more than the window holds. An escalation after a person let the agent continue says both
// numbers.
func TestTheReasonHasTheTrueNumber(t *testing.T) {
	for name, c := range map[string]struct {
		line, first, resumed, second string
	}{
		"same_call":            {"x " + stays, "Retried same approach 22 times.", "5x " + stays, "Retried same approach 5 times since it was resumed, 27 times in all."},
		"same_error":           {"x " + fails, "Retried same approach 22 times.", "5x " + fails, "Retried same approach 5 times since it was resumed, 27 times in all."},
		"another call":         {"x " + fails, "Retried same approach 22 times.", "5x " + stays, "Retried same approach 5 times."},
		"steps_without_change": {"x Grep `a#` = #", "Changed no file in 97 steps.", "90x Grep `a#` = #", "Changed no file in 90 steps."},
	} {
		t.Run(name, func(t *testing.T) {
			var h heard
			w := supervisor.New(h.options(usual)).Watch("coder")
			if _, _, ok := w.Stuck(); ok {
				t.Error("stuck before any step")
			}
			n := "22"
			if name == "steps_without_change" {
				n = "97"
			}
			play(w, script(t, n+c.line))
			if id, why, ok := w.Stuck(); !ok || why != c.first || id != h.escalations[0].ID {
				t.Errorf("%q %q %v, want %q", id, why, ok, c.first)
			}
			w.Resume()
			if _, _, ok := w.Stuck(); ok {
				t.Error("still stuck after a person let it continue")
			}
			h = heard{}
			play(w, script(t, c.resumed))
			if len(h.escalations) != 1 || h.escalations[0].Why != c.second {
				t.Errorf("%+v, want %q", h.escalations, c.second)
			}
		})
	}
}
