package main

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// If a client reports no cost, all front ends show its cost as unknown, and mark a sum that
// omits this cost as incomplete. No front end shows 0.
func TestAllFacesSayThatACostIsUnknown(t *testing.T) {
	p, store := projectWithMail(t, "{coder: , reviewer: }")
	turns := runScripted(t, p, store, map[string]string{"coder": "@say done", "reviewer": "@cost 0.5\n@say done"})

	for _, f := range turns.feed {
		want := swarm.FeedEvent{Kind: swarm.FeedTurn, At: f.At, Agent: f.Agent, ID: f.ID, Text: "done", CostUnknown: true}
		if f.Agent == "reviewer" {
			want.CostUnknown, want.Cost = false, 0.5
		}
		if f != want {
			t.Errorf("the feed says %+v, want %+v", f, want)
		}
	}
	for name, c := range map[string]struct{ said, want string }{
		"status, of the agent":   {typed(t, p, "status"), `(?m)^coder +stopped +\S+ +- +- +unknown`},
		"status, of the other":   {typed(t, p, "status"), `(?m)^reviewer +stopped +\S+ +- +- +0\.50`},
		"status, of all":         {typed(t, p, "status"), `(?m)^at least 0\.50 USD today, at least 0\.50 USD in all$`},
		"history, of the turn":   {typed(t, p, "history", "coder"), `(?m) done .* unknown .*@say done$`},
		"history, of the agent":  {typed(t, p, "history", "coder"), `(?m)^1 turn · cost unknown$`},
		"history, of all":        {typed(t, p, "history"), `(?m)^2 turns · at least 0\.50 USD$`},
		"trace, of the turn":     {typed(t, p, "trace", turns.task["coder"]), `turn 1 done · \d+ ms · cost unknown`},
		"trace, of the task":     {typed(t, p, "trace", turns.task["coder"]), `(?m)· 1 turn · cost unknown`},
		"trace, of a known cost": {typed(t, p, "trace", turns.task["reviewer"]), `· 1 turn · 0\.50 USD`},
		"logs":                   {typed(t, p, "logs", "coder"), `= done \d+ m?s cost unknown`},
		"logs, of a known cost":  {typed(t, p, "logs", "reviewer"), `= done \d+ m?s 0\.50 USD`},
	} {
		if !regexp.MustCompile(c.want).MatchString(c.said) {
			t.Errorf("%s: no %s in\n%s", name, c.want, c.said)
		}
	}

	// In JSON, the cost is null, and another key indicates that it is unknown.
	for name, want := range map[string]string{
		"status":                          `{"agents":[{"cost_usd":{"today":null,"total":null,"today_unknown_turns":1,"total_unknown_turns":1}},{"cost_usd":{"today":0.5,"total":0.5}}]}`,
		"history coder":                   `{"cost_usd":null,"cost_unknown_turns":1,"turns":[{"cost_usd":null,"cost_unknown":true}]}`,
		"history":                         `{"cost_usd":0.5,"cost_unknown_turns":1}`,
		"trace " + turns.task["coder"]:    `{"cost_usd":null,"cost_unknown_turns":1}`,
		"trace " + turns.task["reviewer"]: `{"cost_usd":0.5}`,
	} {
		said := typedJSON[any](t, p, strings.Fields(name)...)
		if !has(said, decoded(t, want)) {
			t.Errorf("%s --json: %v, want %s in it", name, said, want)
		}
	}
	var past any
	toolsOf(t, p)("history", map[string]any{"agent": "coder"}, &past)
	if turn := past.(map[string]any)["turns"].([]any)[0].(map[string]any); turn["cost_unknown"] != true || turn["cost_usd"] != nil {
		t.Errorf("the tool history says %v", turn)
	}
}

// scriptedTurns records what a daemon with scripted clients did.
type scriptedTurns struct {
	task map[string]string // maps each agent to the id of its task
	feed []swarm.FeedEvent // the events that ended turns
}

// runScripted gives each agent of a project one task and runs a daemon until the tasks
// are done. The agent coder's client is named codex and reports no cost. All other
// clients are named claude.
func runScripted(t *testing.T, p *project, store *dropbox.Store, tasks map[string]string) (turns scriptedTurns) {
	t.Helper()
	plan := swarm.Plan{Debounce: time.Millisecond}
	for name := range tasks {
		if err := store.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
		backend := "claude"
		if name == "coder" {
			backend = "codex"
		}
		spec := swarm.Spec{Name: name}
		spec.Backend, spec.Client.Dir = backend, p.dir
		plan.Agents = append(plan.Agents, spec)
	}
	if err := store.MakeMailbox(dropbox.Lead); err != nil {
		t.Fatal(err)
	}
	s, err := swarm.New(swarm.Options{
		Project: p.dir, Store: store, Plan: plan,
		Backends: map[string]runner.Backend{"claude": &runnertest.Scripted{Name: "claude"}, "codex": &runnertest.Scripted{Name: "codex", Plain: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	stop, halt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(stop, t.Context()) }()
	<-s.Ready()
	changes := s.Subscribe(swarm.Filter{})
	turns.task = map[string]string{}
	for name, text := range tasks {
		d, err := store.Deliver(name, &dropbox.Message{From: dropbox.Lead, Type: dropbox.Task, Priority: dropbox.Normal, Body: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		turns.task[name] = d.ID
	}
	for len(turns.feed) < len(tasks) {
		select {
		case <-changes.Ready():
		case <-time.After(time.Minute):
			t.Fatal("the turns do not end")
		}
		for _, ev := range changes.Take() {
			if ev.Kind == swarm.FeedTurn {
				turns.feed = append(turns.feed, ev)
			}
		}
	}
	changes.Close()
	halt()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return turns
}

func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// has reports whether a JSON value contains everything in part. The value can mark a cost as
// unknown only if part does the same.
func has(all, part any) bool {
	switch part := part.(type) {
	case map[string]any:
		m, ok := all.(map[string]any)
		for key, value := range part {
			got, there := m[key]
			ok = ok && there && has(got, value)
		}
		return ok && m["cost_unknown"] == part["cost_unknown"] && m["cost_unknown_turns"] == part["cost_unknown_turns"]
	case []any:
		list, ok := all.([]any)
		ok = ok && len(list) == len(part)
		for i := range part {
			ok = ok && has(list[i], part[i])
		}
		return ok
	}
	return all == part
}
