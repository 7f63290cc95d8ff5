package control_test

import (
	"errors"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
)

// TestRaiseBudget checks that a raise reaches the daemon and that the errors reach the
// client.
func TestRaiseBudget(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	serve(t, p, d)
	c := p.dial(t)
	row, err := c.RaiseBudget(t.Context(), "swarm.day", budget.Of(2.5, 3, time.Hour), "lead")
	if err != nil || row.Scope != "swarm.day" {
		t.Errorf("RaiseBudget = %+v, %v", row, err)
	}
	if got, want := d.notes(), "raise swarm.day 2.50 USD, 3 turns, 1 h 0 min by lead"; len(got) != 1 || got[0] != want {
		t.Errorf("the daemon heard %q, want %q", got, want)
	}
	_, err = c.RaiseBudget(t.Context(), "swarm.dya", budget.Of(1, 0, 0), "lead")
	if unknown := (*budget.UnknownScopeError)(nil); !errors.As(err, &unknown) || len(unknown.Near) != 1 {
		t.Errorf("an unknown scope: %v", err)
	}
	_, err = c.RaiseBudget(t.Context(), "coder.day", budget.Of(1, 0, 0), "lead")
	if e := (*control.Error)(nil); !errors.As(err, &e) || e.Code != control.CodeNoCap || e.Hint == "" {
		t.Errorf("a scope without a cap: %v", err)
	}
	for _, wrong := range []budget.Amount{{}, budget.Of(-1, 0, 0), budget.Of(0, -1, 0), budget.Of(0, 0, -time.Hour)} {
		if _, err := c.RaiseBudget(t.Context(), "swarm.day", wrong, "lead"); err == nil {
			t.Errorf("raised by %v", wrong)
		}
	}
}
