package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/mcpserver"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
)

// TestAnAgentSeesItsBudget checks which caps an agent sees, and which are hidden from it.
func TestAnAgentSeesItsBudget(t *testing.T) {
	row := func(scope string, kind budget.Kind) budget.Row {
		limit, rest := 20.0, 12.5
		return budget.Row{Scope: scope, Kind: kind, Spent: budget.Sum{USD: 5.5}, Reserved: budget.Sum{USD: 2}, Cap: budget.Bound{USD: &limit}, Rest: budget.Bound{USD: &rest}}
	}
	p := newProject(t, nil)
	p.as("coder")
	p.daemon = &daemon{status: swarm.Status{Budget: &budget.Report{Scopes: []budget.Row{row("swarm.day", budget.KindSwarm), row("coder.day", budget.KindAgent), row("reviewer.day", budget.KindAgent), row("task.other", budget.KindTask)}}}}
	_, text := p.call("budget", `{}`)
	want := "swarm.day: 5.50 USD of 20.00 USD spent, 2.00 USD reserved, 12.50 USD left\ncoder.day: 5.50 USD of 20.00 USD spent, 2.00 USD reserved, 12.50 USD left"
	if text != want {
		t.Errorf("budget says %q, want %q", text, want)
	}
	p.daemon = &daemon{}
	if _, text := p.call("budget", `{}`); text != "No cap applies to you." {
		t.Errorf("without a cap %q", text)
	}
	for _, tool := range mcpserver.New(mcpserver.Options{}).Tools() {
		if strings.Contains(tool.Name, "budget") {
			t.Error("the tool is offered without a cap")
		}
	}
}
