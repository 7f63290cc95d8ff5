package mcpserver

import (
	"context"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
)

type tasksArguments struct {
	Agent  string `json:"agent,omitempty" jsonschema:"only tasks of which this agent has, or had, a message; default: all"`
	Closed bool   `json:"closed,omitempty" jsonschema:"the closed tasks of the last days instead of the open ones"`
}

// taskList is the result of tasks.
type taskList struct {
	Tasks []taskView `json:"tasks" jsonschema:"oldest first"`
	More  int        `json:"more,omitempty" jsonschema:"older tasks that are left out"`
}

type taskView struct {
	ID      string   `json:"id" jsonschema:"of the person's message"`
	State   string   `json:"state" jsonschema:"open: asking (a person), working, parked, waiting; closed: merged, given up, failed, verified, unverified (said to be done)"`
	By      string   `json:"by" jsonschema:"who asked"`
	Agent   string   `json:"agent,omitempty" jsonschema:"who has it, or had it last"`
	Subject string   `json:"subject"`
	Since   string   `json:"since" jsonschema:"of the state"`
	Why     string   `json:"why,omitempty"`
	CostUSD *float64 `json:"cost_usd,omitempty" jsonschema:"missing if unknown"`
	// CostUnknown is set if CostUSD is only the known part.
	CostUnknown bool `json:"cost_unknown,omitempty" jsonschema:"cost_usd is only part of the cost, or missing"`
}

const (
	// maxTasks is the maximum number of tasks in a result, because an agent reads all of it
	// into its context.
	maxTasks = 30
	// closedTaskDays is for how many days the tool lists closed tasks.
	closedTaskDays = 7
	// maxTaskSubject is the maximum width of a subject, in columns.
	maxTaskSubject = 100
)

func (c crew) tasks(ctx context.Context, in tasksArguments) (*taskList, error) {
	if in.Agent != "" {
		if _, ok := c.spec(in.Agent); !ok {
			return nil, &swarm.UnknownAgentError{Name: in.Agent, Near: dropbox.Nearest(in.Agent, c.Agents)}
		}
	}
	st, err := c.status(ctx)
	if err != nil {
		return nil, err
	}
	found, err := view.TasksOf(c.Client, st, view.TaskQuery{
		Open: !in.Closed, Closed: in.Closed, Agent: in.Agent, Since: time.Now().AddDate(0, 0, -closedTaskDays),
	})
	if err != nil {
		return nil, err
	}
	list := &taskList{Tasks: []taskView{}, More: max(0, len(found.Tasks)-maxTasks)}
	for _, t := range found.Tasks[list.More:] {
		list.Tasks = append(list.Tasks, taskView{
			ID: t.ID, State: string(t.State), By: c.Called(t.By), Agent: t.Agent, Subject: screen.Cut(t.Subject, maxTaskSubject), Since: stamp(t.Since),
			Why: t.Why, CostUSD: t.KnownUSD(), CostUnknown: t.CostUnknown > 0,
		})
	}
	return list, nil
}

func (l *taskList) readable() string {
	var t text
	if len(l.Tasks) == 0 {
		t.line("There is no such task.")
	}
	for _, one := range l.Tasks {
		t.line("%s %s since %s, from %s", one.ID, one.State, one.Since, one.By)
		if one.Agent != "" {
			t.add(", %s", one.Agent)
		}
		t.add(": %s", one.Subject)
		if one.Why != "" {
			t.add(" (%s)", one.Why)
		}
	}
	if l.More > 0 {
		t.line("%d older ones are left out.", l.More)
	}
	return t.String()
}
