package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
)

// An unknown cost is not shown as 0.
func TestWriteHistoryOfAnUnknownCost(t *testing.T) {
	var out bytes.Buffer
	turn := view.PastTurn{Agent: "coder", At: time.Now(), Message: "k7f3q9m2xd", Outcome: "done", CostUnknown: true}
	writeHistory(&out, &view.History{Agent: "coder", Turns: []view.PastTurn{turn}}, false, time.Now())
	if row, _, _ := strings.Cut(out.String(), "\n"); !strings.Contains(row, " unknown ") || strings.Contains(row, "USD") {
		t.Errorf("the row of a turn whose cost is unknown is %q", row)
	}
}

// A turn is printed on one line of at most 80 columns. With --long, no part of the turn
// is omitted.
func TestWriteHistory(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 30, 0, 0, time.Local)
	about := "Find out why the tests of the parser fail since yesterday, and mend what is broken there"
	turns := []view.PastTurn{
		{Agent: "coder", At: now.Add(-time.Minute), Message: "k7f3q9m2xd", From: "lead", Subject: about, Outcome: "done", Seconds: 125, CostUSD: 0.02},
		{Agent: "an-agent-with-a-very-long-name-32", At: now.Add(-50 * time.Hour), Message: "k2jldpguz7", From: "an-agent-with-another-long-name", Subject: about, Outcome: "no-session", Seconds: 3, CostUSD: 0.0012},
	}
	for _, agent := range []string{"", "coder"} {
		var out bytes.Buffer
		writeHistory(&out, &view.History{Agent: agent, Turns: turns}, false, now)
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) != len(turns)+2 {
			t.Errorf("history %s has %d lines for %d turns, an empty one and a sum:\n%s", agent, len(lines), len(turns), &out)
		}
		for i, line := range lines {
			if screen.Columns(line) > 80 {
				t.Errorf("history %s: a line has %d columns: %s", agent, screen.Columns(line), line)
			}
			if i < len(turns) && (!strings.Contains(line, turns[i].Message) || !strings.Contains(line, "  Find ou")) {
				t.Errorf("history %s: %q lacks the id, or what the turn was about", agent, line)
			}
		}
		out.Reset()
		writeHistory(&out, &view.History{Agent: agent, Turns: turns}, true, now)
		long := strings.Join(strings.Fields(out.String()), " ")
		for _, want := range []string{about, "2 min", "an-agent-with-another-long-name"} {
			if !strings.Contains(long, want) {
				t.Errorf("history %s --long lacks %q:\n%s", agent, want, &out)
			}
		}
	}
}
