package e2e_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// untilState waits until an agent is in a state, and returns what the status says.
func (p *project) untilState(agent string, want swarm.State) swarm.AgentStatus {
	p.t.Helper()
	var got swarm.AgentStatus
	p.until(agent+" is "+string(want), func() bool { got = p.agent(agent); return got.State == want })
	return got
}

// waiting are the files of an agent's waiting messages, without the time.
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

// told counts what the lead was told with a subject that has that part.
func (p *project) told(part string) int {
	p.t.Helper()
	return strings.Count(p.swarm("inbox"), part)
}

// What the API refuses is known after a bounded number of requests, said with what
// to do, and counted against nobody; then the work goes on.
func TestWhatTheAPIRefuses(t *testing.T) {
	const always = `"times":-1,"match":{"kind":"main"}`
	for name, c := range map[string]struct {
		refusal   string // of the scripted API
		env       string // of the agent
		state     swarm.State
		why, next string
		requests  int // at most
		outcome   string
	}{
		"429 with a long retry-after": {refusal: `"status":429,"headers":{"retry-after":"3600"}`, state: swarm.Limited, why: "Request rejected (429)", next: "goes on by itself at", requests: 1, outcome: "limited"},
		"429 without a reset":         {refusal: `"status":429`, env: `CLAUDE_CODE_MAX_RETRIES: "2"`, state: swarm.Limited, why: "Request rejected (429)", next: "goes on by itself at", requests: 3, outcome: "limited"},
		"529 overloaded":              {refusal: `"status":529`, env: `CLAUDE_CODE_MAX_RETRIES: "1"`, state: swarm.Limited, why: "529 Overloaded", next: "status.claude.com may say more; goes on by itself at", requests: 2, outcome: "limited"},
		"503":                         {refusal: `"status":503`, env: `CLAUDE_CODE_MAX_RETRIES: "0"`, state: swarm.Limited, why: "503", next: "goes on by itself at", requests: 1, outcome: "limited"},
		"no credit":                   {refusal: `"status":400,"error_message":"Your credit balance is too low to access the Anthropic API."`, state: swarm.Limited, why: "Credit balance is too low", next: "pay in credit for the API key, or use another login; goes on by itself at", requests: 1, outcome: "limited"},
		"a billing error":             {refusal: `"status":402`, state: swarm.Limited, why: "402", next: "pay in credit", requests: 1, outcome: "limited"},
		"no connection":               {env: `ANTHROPIC_BASE_URL: "http://127.0.0.1:9", CLAUDE_CODE_MAX_RETRIES: "1"`, state: swarm.Limited, why: "Unable to connect to API", next: "look at the network", outcome: "limited"},
		// With the retries that are in force without a word: a dead key is not asked with
		// ten times.
		"401 wrong key":  {refusal: `"status":401`, state: swarm.Stopped, why: "refuses the key", next: "claude /login", requests: 3, outcome: "refused"},
		"401 with login": {refusal: `"status":401`, env: `CLAUDE_CODE_OAUTH_TOKEN: sk-ant-oat01-test, ANTHROPIC_API_KEY: ""`, state: swarm.Stopped, why: "refuses the key", next: "claude /login", requests: 3, outcome: "refused"},
		"403":            {refusal: `"status":403`, state: swarm.Stopped, why: "403", next: "claude /login", requests: 1, outcome: "refused"},
		"404 no model":   {refusal: `"status":404`, state: swarm.Stopped, why: "selected model", next: "set model: of agent coder", requests: 2, outcome: "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, fmt.Sprintf(`{"replies":[{"name":"refused",%s,%s}]}`, always, orElse(c.refusal, `"text":"x"`)), fmt.Sprintf("  coder: {env: {%s}}\n", c.env))
			p.start()
			id := p.send("coder", "Do it")
			st := p.untilState("coder", c.state)
			if !strings.Contains(st.Why, c.why) || !strings.Contains(st.Next, c.next) {
				t.Errorf("why %q, next %q; want …%s…, …%s…", st.Why, st.Next, c.why, c.next)
			}
			if n := p.api.Stats().Answered["refused"]; n > c.requests {
				t.Errorf("the API was asked %d times, want %d at most", n, c.requests)
			}
			if got := p.waiting("coder"); len(got) != 1 || got[0] != id+"~1.0.md" {
				t.Errorf("new/ = %v, want the message with no failure counted", got)
			}
			if left := p.marked(); len(left) != 0 {
				t.Errorf("processes left: %v", left)
			}
			if n := p.told(map[bool]string{true: "parked: ", false: "coder is stopped"}[c.state == swarm.Limited]); n != 1 {
				t.Errorf("the lead was told %d times:\n%s", n, p.swarm("inbox"))
			}
			// A person sees to it.
			p.script(`{"replies":[{"name":"rest","times":-1,"text":"Done."}]}`)
			p.write("claude-swarm.yaml", strings.Replace(p.read("claude-swarm.yaml"), c.env, "", 1))
			p.swarm("reload")
			verb := "resume"
			if c.state == swarm.Stopped {
				verb = "start"
			}
			p.swarm(verb, "coder")
			if r := p.receipt("coder", id); len(r.Attempts) != 2 || r.Attempts[0].Outcome != c.outcome {
				t.Errorf("attempts = %+v, want one that ended %s and a good one", r.Attempts, c.outcome)
			}
		})
	}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// A subscription's limit says when it ends: all agents of that login are parked
// until then, through a restart of the daemon, and nobody is asked meanwhile; an
// agent of another login works on.
func TestASubscriptionsLimit(t *testing.T) {
	p := newLogins(t, time.Hour)
	p.start()
	p.send("coder", "First task")
	st := p.untilState("coder", swarm.Limited)
	if !strings.Contains(st.Why, "hit your session limit") {
		t.Errorf("why = %q", st.Why)
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

// When the limit is lifted the agents go on by themselves, and the mail is worked
// off in its order, with nothing counted.
func TestAfterASubscriptionsLimit(t *testing.T) {
	const soon = 5 * time.Second
	p := newLogins(t, soon)
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

// newLogins is a project with two agents of one login, whose first request meets a
// limit that is lifted after d, and one of another.
func newLogins(t *testing.T, d time.Duration) *project {
	t.Helper()
	const login = "env_drop: [ANTHROPIC_API_KEY], env: {CLAUDE_CODE_OAUTH_TOKEN: sk-ant-oat01-%s}"
	return newProject(t, fmt.Sprintf(`{"replies":[
		{"name":"limit","match":{"header":{"Authorization":"oat01-one"}},"status":429,"headers":{"anthropic-ratelimit-unified-status":"rejected",
			"anthropic-ratelimit-unified-reset":"%d","anthropic-ratelimit-unified-representative-claim":"five_hour"}},
		{"name":"one","times":-1,"match":{"header":{"Authorization":"oat01-one"}},"text":"Done."},
		{"name":"two","times":-1,"match":{"header":{"Authorization":"oat01-two"}},"text":"Done by the other."}]}`, time.Now().Add(d).Unix()),
		fmt.Sprintf("  coder: {%[1]s}\n  reviewer: {%[1]s}\n  other: {%[2]s}\n", fmt.Sprintf(login, "one"), fmt.Sprintf(login, "two")))
}
