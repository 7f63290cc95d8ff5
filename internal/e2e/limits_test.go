package e2e_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// untilState waits until an agent is in a state, and returns the agent's status.
func (p *project) untilState(agent string, want swarm.State) swarm.AgentStatus {
	p.t.Helper()
	var got swarm.AgentStatus
	p.until(agent+" is "+string(want), func() bool { got = p.agent(agent); return got.State == want })
	return got
}

// waiting returns the file names of an agent's waiting messages, without the priority and
// time.
func (p *project) waiting(agent string) []string {
	p.t.Helper()
	names, err := filepath.Glob(filepath.Join(p.dir, ".dead-drop", agent, "new", "*.md"))
	if err != nil {
		p.t.Fatal(err)
	}
	for i, name := range names {
		_, names[i], _ = strings.Cut(filepath.Base(name), "Z-")
	}
	return names
}

// told counts the lead's messages whose subject contains part.
func (p *project) told(part string) int {
	p.t.Helper()
	return strings.Count(p.swarm("inbox"), part)
}

// When a subscription reaches its limit, the API says when the limit ends. Until then,
// all agents with that login are parked and send no requests, even after a daemon
// restart. An agent with another login keeps working.
func TestASubscriptionsLimit(t *testing.T) {
	t.Parallel()
	end := time.Now().Add(time.Hour)
	p := newLogins(t, end)
	p.start()
	p.send("coder", "First task")
	st := p.untilState("coder", swarm.Limited)
	if !strings.Contains(st.Why, "hit your session limit") && !strings.Contains(st.Why, "hit your 5-hour limit") {
		t.Errorf("why = %q", st.Why)
	}
	said := false // the status can show a time up to a minute after the limit ends
	for d := range 62 {
		said = said || strings.Contains(st.Next, "continues on its own at "+end.Add(time.Duration(d)*time.Second).Format("15:04:05"))
	}
	if !said {
		t.Errorf("next = %q, want the end of the limit, %v, and up to a minute", st.Next, end)
	}
	p.untilState("reviewer", swarm.Limited)
	p.send("reviewer", "Second task")
	p.receipt("other", p.send("other", "Another task"))
	p.swarm("stop")
	p.start()
	p.untilState("coder", swarm.Limited)
	p.untilState("reviewer", swarm.Limited)
	p.receipt("other", p.send("other", "Another task"))
	if n := p.api.Stats().Answered; n["limit"] != 1 || n["one"] != 0 {
		t.Errorf("requests of the parked login: %v, want one", n)
	}
	if n := p.told("parked: "); n != 1 {
		t.Errorf("the lead was told %d times of the limit", n)
	}
}

// When the limit ends, the agents continue automatically. They work on their mail in the
// order in which it was sent, and no message is abandoned.
func TestAfterASubscriptionsLimit(t *testing.T) {
	t.Parallel()
	const soon = 5 * time.Second
	p := newLogins(t, time.Now().Add(soon))
	p.start()
	first := p.send("coder", "First task")
	second := p.send("coder", "Second task")
	r := p.receipt("coder", first)
	if len(r.Attempts) != 2 || r.Attempts[0].Outcome != "limited" {
		t.Errorf("attempts = %+v, want one that was limited and a good one", r.Attempts)
	}
	p.receipt("coder", second)
	var order []string
	for _, req := range p.requests() {
		for _, task := range []string{"First", "Second"} {
			if req.Reply == "one" && strings.Contains(req.LastUser, task+" task") {
				order = append(order, task)
			}
		}
	}
	if got := strings.Join(order, " "); got != "First Second" {
		t.Errorf("tasks after the reset: %s", got)
	}
	if dead := p.agent("coder").Dead; dead != 0 {
		t.Errorf("%d messages were given up", dead)
	}
}

// newLogins creates a project in which two agents share one login and a third agent has
// another. The shared login's first request is refused because of a limit that ends at
// the given time.
func newLogins(t *testing.T, end time.Time) *project {
	t.Helper()
	const login = "env_drop: [ANTHROPIC_API_KEY], env: {CLAUDE_CODE_OAUTH_TOKEN: sk-ant-oat01-%s}"
	return newProject(t, fmt.Sprintf(`{"replies":[
		{"name":"limit","match":{"header":{"Authorization":"oat01-one"}},"status":429,"headers":{"anthropic-ratelimit-unified-status":"rejected",
			"anthropic-ratelimit-unified-reset":"%d","anthropic-ratelimit-unified-representative-claim":"five_hour"}},
		{"name":"one","times":-1,"match":{"header":{"Authorization":"oat01-one"}},"text":"Done."},
		{"name":"two","times":-1,"match":{"header":{"Authorization":"oat01-two"}},"text":"Done by the other."}]}`, end.Unix()),
		fmt.Sprintf("  coder: {%[1]s}\n  reviewer: {%[1]s}\n  other: {%[2]s}\n", fmt.Sprintf(login, "one"), fmt.Sprintf(login, "two")))
}
