package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A crew describes the agents of a swarm. The data comes from the daemon or, if no daemon
// is running, from the files.
type crew struct {
	*Caller
	daemon daemonLink
}

func crewOf(c *call) crew { return crew{c.Caller, c.daemon} }

type listArguments struct {
	Agent string `json:"agent,omitempty" jsonschema:"default: all agents"`
}

// agentList is the result of list_agents.
type agentList struct {
	Agents []agentView `json:"agents"`
	Note   string      `json:"note,omitempty"`

	mixed bool // the agents use clients of different kinds
}

type agentView struct {
	Name    string   `json:"name"`
	Role    string   `json:"role,omitempty"`
	Zone    string   `json:"zone,omitempty"`
	Tags    []string `json:"tags,omitempty" jsonschema:"@TAG is the address of all agents with that tag"`
	Folder  string   `json:"folder,omitempty" jsonschema:"where it works"`
	Client  string   `json:"client,omitempty" jsonschema:"the kind of its client, and its version"`
	Model   string   `json:"model,omitempty"`
	State   string   `json:"state" jsonschema:"starting, idle, queued, working, asking, backoff, limited, off, parked, paused, stopped or attached"`
	Since   string   `json:"since,omitempty" jsonschema:"of the state"`
	Why     string   `json:"why,omitempty" jsonschema:"why it is in that state"`
	Task    string   `json:"task,omitempty" jsonschema:"what it is working on now"`
	Turn    string   `json:"turn,omitempty" jsonschema:"what its running turn has done and cost so far"`
	Waiting int      `json:"waiting" jsonschema:"messages waiting for it"`
	Seen    string   `json:"last_seen,omitempty" jsonschema:"when it last began a turn"`
	Said    string   `json:"last_words,omitempty"`
	Topics  []string `json:"topics" jsonschema:"what it subscribes to"`
}

func (c crew) list(ctx context.Context, in listArguments) (*agentList, error) {
	var names []string
	if in.Agent != "" {
		if _, ok := c.spec(in.Agent); !ok {
			return nil, &swarm.UnknownAgentError{Name: in.Agent, Near: dropbox.Nearest(in.Agent, c.Agents)}
		}
		names = []string{in.Agent}
	}
	st, err := c.status(ctx, names...)
	if err != nil {
		return nil, err
	}
	list := &agentList{Agents: []agentView{}, mixed: st.Mixed}
	if st.Daemon == nil {
		list.Note = noDaemon
	} else if st.Halted {
		list.Note = halted
	}
	for _, a := range st.Agents {
		if len(names) > 0 && a.Name != names[0] {
			continue
		}
		v, err := c.agent(a)
		if err != nil {
			return nil, err
		}
		list.Agents = append(list.Agents, v)
	}
	return list, nil
}

// status gets the status of the swarm from the daemon. If no daemon is running, status
// reads the files, and the Daemon field of the result is nil.
func (c crew) status(ctx context.Context, names ...string) (swarm.Status, error) {
	d, err := c.daemon.open(ctx)
	if err != nil {
		return swarm.Status{}, err
	}
	if d == nil {
		return swarm.Offline(c.Home, c.Store, c.Plan, c.Project, time.Now())
	}
	defer d.Close()
	return view.Ask(ctx, d, names, func() ([]string, error) { return c.Agents, nil })
}

func (c crew) agent(a swarm.AgentStatus) (agentView, error) {
	v := agentView{
		Name: a.Name, Role: a.Role, State: string(a.State), Why: a.Why, Task: a.Description, Turn: view.ProgressOf(a), Waiting: a.Waiting.Total(),
		Client: a.Client, Model: a.Model,
	}
	if spec, ok := c.spec(a.Name); ok {
		v.Zone, v.Tags, v.Folder = spec.Zone, spec.Tags, spec.Client.Dir
	}
	if a.Since != nil {
		v.Since = stamp(*a.Since)
	}
	if at := a.LastActivation; at != nil {
		v.Seen = stamp(time.UnixMilli(int64(*at * 1000)))
	}
	if a.Last != nil {
		v.Said = a.Last.Text
	}
	topics, err := topic.Of(c.Store).Subscriptions(a.Name)
	v.Topics = append([]string{}, topics...)
	return v, err
}

func (l *agentList) readable() string {
	var t text
	for _, a := range l.Agents {
		t.line("%s: %s", a.Name, a.State)
		if a.Why != "" {
			t.add(" (%s)", a.Why)
		}
		if about := strings.Trim(cmp.Or(a.Role, "no role")+", "+a.Zone, ", "); about != "" {
			t.add("; %s", about)
		}
		if len(a.Tags) > 0 {
			t.add("; %s", tagsText(a.Tags))
		}
		if l.mixed {
			t.add("; %s", clientText(a.Client, a.Model))
		}
		if a.Task != "" {
			t.add("; working on: %s", a.Task)
		}
		if a.Turn != "" {
			t.add("; %s", a.Turn)
		}
		if a.Waiting > 0 {
			t.add("; %s", screen.Several(a.Waiting, "message waits", "messages wait"))
		}
		if len(a.Topics) > 0 {
			t.add("; subscribes to %s", strings.Join(a.Topics, " "))
		}
	}
	t.remark(l.Note)
	return t.String()
}

// clientText formats a client and its model: "codex 2.6.0, gpt-5".
func clientText(client, model string) string { return strings.Trim(client+", "+model, ", ") }

// tagsText formats tags as addresses: "@go @frontend".
func tagsText(tags []string) string {
	return client.TagMark + strings.Join(tags, " "+client.TagMark)
}

// cannotWork returns the reason why an agent will not start work on a message soon, or ""
// if it will.
func cannotWork(st swarm.Status, name string) string {
	if st.Daemon == nil {
		return noDaemon
	}
	if st.Halted {
		return halted
	}
	for _, a := range st.Agents {
		if a.Name != name {
			continue
		}
		if h := view.HoldupOf(a); h != nil && h.Lasting() {
			return fmt.Sprintf("%s is %s (%s): the message is waiting.", name, h.State, cmp.Or(h.Why, "by hand"))
		}
	}
	return ""
}
