package mcpserver

import (
	"cmp"
	"context"
	"slices"

	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
)

// A budgetView is the result of budget.
type budgetView struct {
	Caps []capView `json:"caps"`
	Turn string    `json:"turn,omitempty" jsonschema:"what your running turn has done and cost so far"`
	Note string    `json:"note,omitempty"`
}

// A capView is one cap that applies to the agent.
type capView struct {
	Scope    string `json:"scope" jsonschema:"swarm.day, your own day, or your task"`
	Spent    string `json:"spent"`
	Reserved string `json:"reserved" jsonschema:"for running turns, including yours"`
	Cap      string `json:"cap"`
	Rest     string `json:"rest"`
}

// budget lists the caps that apply to the caller: those of the swarm, of the agent and of
// its turn's task. A caller that is not an agent sees all caps.
func (c crew) budget(ctx context.Context, _ noArguments) (*budgetView, error) {
	st, err := c.status(ctx)
	if err != nil {
		return nil, err
	}
	work, err := c.Work()
	if err != nil {
		return nil, err
	}
	mine := []string{budget.Scope{Kind: budget.KindSwarm}.String(), budget.Scope{Kind: budget.KindAgent, Name: c.Me.Name}.String()}
	if work != nil {
		mine = append(mine, budget.Scope{Kind: budget.KindTask, Name: cmp.Or(work.Trace, work.ID)}.String())
	}
	v := &budgetView{Caps: []capView{}}
	if st.Budget != nil {
		_, agent := c.spec(c.Me.Name)
		for _, row := range st.Budget.Scopes {
			if agent && !slices.Contains(mine, row.Scope) {
				continue
			}
			for _, cell := range row.Cells(st.Budget.Digits()) {
				v.Caps = append(v.Caps, capView{row.Scope, cell.Spent, cell.Reserved, cell.Cap, cell.Rest})
			}
		}
	}
	for _, a := range st.Agents {
		if a.Name == c.Me.Name {
			v.Turn = view.ProgressOf(a)
		}
	}
	if len(v.Caps) == 0 {
		v.Note = "No cap applies to you."
	}
	return v, nil
}

func (v *budgetView) readable() string {
	var t text
	for _, c := range v.Caps {
		t.line("%s: %s of %s spent, %s reserved, %s left", c.Scope, c.Spent, c.Cap, c.Reserved, c.Rest)
	}
	if v.Turn != "" {
		t.line("This turn: %s", v.Turn)
	}
	t.remark(v.Note)
	return t.String()
}
