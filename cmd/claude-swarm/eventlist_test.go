package main

import (
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// TestALongEventIsWrapped checks that the text of an event is wrapped at spaces and that all
// its lines are indented to the right of the time.
func TestALongEventIsWrapped(t *testing.T) {
	n := journal.Notice{Word: journal.BudgetReached, Agent: "coder", Why: "has spent 0.60 USD of 0.50 USD today", Held: true, Next: "To answer: reply k7f3q9m2xd more, stop or end"}
	var out strings.Builder
	p := eventPrinter{w: &out, columns: 60, irc: &config.IRC{}}
	if err := p.print([]journal.Event{{Kind: journal.Noticed, At: time.Now(), Agent: "coder", Notice: &n}}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	if len(lines) < 2 {
		t.Fatalf("not wrapped: %q", lines)
	}
	for i, line := range lines {
		if len(line) > 60 {
			t.Errorf("%d columns: %q", len(line), line)
		}
		if i > 0 && !strings.HasPrefix(line, strings.Repeat(" ", 10)+strings.TrimLeft(line, " ")[:1]) {
			t.Errorf("not below the text: %q", line)
		}
	}
	if got := strings.Join(strings.Fields(out.String())[1:], " "); got != n.Text() {
		t.Errorf("got %q, want %q", got, n.Text())
	}
}
