package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/mcpserver"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// facts maps names to the facts that a front end shows about a project. A front end is one
// way to view a project, such as a verb, a tool or IRC.
type facts map[string]string

func (f facts) set(name string, value any) { f[name] = fmt.Sprint(value) }

// All front ends show the same facts about a project with mail in every state. A front end can
// omit some facts.
func TestAllFacesSayTheSame(t *testing.T) {
	p, store := projectWithMail(t, "{coder: , reviewer: }")
	done := mailInEveryState(t, p, store)
	want := facts{
		"coder state": "stopped", "coder waiting": "4", "coder urgent": "1", "coder dead": "2", "coder today": "0.75", "coder drops": "3",
		"reviewer state": "stopped", "reviewer waiting": "1", "reviewer urgent": "0", "reviewer dead": "0", "reviewer today": "0.50",
		"today": "1.25", "total": "3.25", "turns": "3", "failed": "1", "coder total": "2.75", "coder turns": "2", "task turns": "2", "task cost": "2.75",
		"halted": "by lead: the disk is full", "threads": "1", "refused": "1", "questions": "2", "unread": "2", "inbox": "3",
	}
	compare(t, p, store, done, want)

	// The daemon has its own code for counting mail. This daemon starts no turn, because
	// the swarm is halted. It puts messages that were claimed without a turn back into
	// new/.
	for i := range 3 {
		if err := os.Remove(filepath.Join(store.Dir(), "coder", fmt.Sprintf("drop%d.md", i))); err != nil {
			t.Fatal(err)
		}
	}
	runHalted(t, p)
	delete(want, "coder drops")
	maps.Copy(want, facts{"coder state": "paused", "reviewer state": "paused", "coder waiting": "5"})
	t.Run("with a daemon", func(t *testing.T) { compare(t, p, store, done, want) })
}

// compare checks the facts that each front end shows.
func compare(t *testing.T, p *project, store *dropbox.Store, done string, want facts) {
	for name, face := range map[string]struct {
		says  facts
		about []string // names of the facts that the front end shows; nil means all
	}{
		"status --json, history --json, trace --json": {jsonFacts(t, p, done), nil},
		"status, history, trace": {textFacts(t, p, done), slices.DeleteFunc(slices.Collect(maps.Keys(want)), func(name string) bool {
			return name == "reviewer urgent"
		})},
		"what waits for a person": {needFacts(t, p), []string{"coder dead", "halted", "threads", "refused", "questions", "unread"}},
		"the agents' tools": {toolFacts(t, p), []string{
			"coder state", "coder waiting", "reviewer state", "reviewer waiting", "coder total", "coder turns", "inbox", "unread",
		}},
		"IRC": {ircFacts(t, p, store), []string{
			"coder state", "coder waiting", "coder urgent", "reviewer state", "reviewer waiting", "coder dead", "halted", "threads", "refused", "questions", "unread",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			expected := facts{}
			for fact, value := range want {
				if face.about == nil || slices.Contains(face.about, fact) {
					expected[fact] = value
				}
			}
			if diff := cmp.Diff(expected, face.says); diff != "" {
				t.Errorf("what it says (-want +got):\n%s", diff)
			}
		})
	}
}

// runHalted runs the daemon of a halted project until the test ends. It returns when all
// agents are paused.
func runHalted(t *testing.T, p *project) {
	t.Helper()
	verb := func(args ...string) {
		t.Helper()
		cmd := exec.Command("claude-swarm", args...)
		cmd.Dir = p.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("claude-swarm %q: %v\n%s", args, err, out)
		}
	}
	verb("start")
	t.Cleanup(func() { verb("stop", "--now") })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client, err := p.connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	changes, err := client.Subscribe(ctx, swarm.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	defer changes.Close()
	for {
		st := typedJSON[swarm.Status](t, p, "status")
		if !slices.ContainsFunc(st.Agents, func(a swarm.AgentStatus) bool { return a.State != swarm.Paused }) {
			return
		}
		if _, err := changes.Next(ctx); err != nil {
			t.Fatalf("the agents are not paused: %v, %+v", err, st.Agents)
		}
	}
}

// mailInEveryState puts mail in every state into the mailboxes, and adds turns to the ledger.
// It returns the id of a task that is done.
func mailInEveryState(t *testing.T, p *project, store *dropbox.Store) (done string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"coder", "reviewer", dropbox.Lead} {
		must(store.MakeMailbox(name))
	}
	put := func(to string, m dropbox.Message) (*dropbox.Mailbox, dropbox.Entry) {
		t.Helper()
		m.Body = []byte("do it\n")
		d, err := store.Deliver(to, &m)
		must(err)
		found, err := store.Find(d.ID)
		must(err)
		box, err := store.Mailbox(to)
		must(err)
		return box, found.Entry
	}
	task := dropbox.Message{From: dropbox.Lead, Type: dropbox.Task, Priority: dropbox.Normal}
	urgent, low := task, task
	urgent.Priority, low.Priority = dropbox.Urgent, dropbox.Low
	for _, m := range []dropbox.Message{task, urgent, task, low} {
		put("coder", m)
	}
	put("reviewer", task)
	claimed := func() (*dropbox.Mailbox, dropbox.Entry) {
		box, e := put("coder", task)
		c, err := box.Claim(e)
		must(err)
		return box, c.Entry
	}
	claimed()
	for range 2 {
		box, e := claimed()
		must(box.GiveUp(e, "failed 3 times"))
	}
	box, e := claimed()
	must(box.Refuse(e, "rate: too many"))
	for i := range 3 {
		must(os.WriteFile(filepath.Join(store.Dir(), "coder", fmt.Sprintf("drop%d.md", i)), []byte("look"), 0o600))
	}
	question := dropbox.Message{From: "coder", Type: dropbox.Question}
	put(dropbox.Lead, question)
	put(dropbox.Lead, dropbox.Message{From: "coder", Type: dropbox.Status})
	lead, e := put(dropbox.Lead, question)
	must(lead.MarkRead(e))
	must(store.Threads().Halt("k7f3q9m2xd", "rings: to and fro"))

	box, e = claimed()
	now := time.Now().UTC()
	turn := func(agent, outcome string, ago time.Duration, cost float64, n int) journal.Attempt {
		l := journal.LedgerLine{V: 1, At: now.Add(-ago), Turn: fmt.Sprintf("%s-%d", e.ID, n), Agent: agent, Message: e.ID, From: dropbox.Lead, Outcome: outcome, Seconds: 2, CostUSD: cost}
		if agent != "coder" {
			l.Message, l.Turn = "aaaaaaaaaa", "aaaaaaaaaa-1"
		}
		data, err := json.Marshal(l)
		must(err)
		appendTo(t, p.home.Ledger(), string(data)+"\n")
		return journal.Attempt{Start: l.At.Add(-2 * time.Second), End: l.At, Outcome: outcome, CostUSD: cost}
	}
	attempts := []journal.Attempt{turn("coder", "failed", 48*time.Hour, 2, 1), turn("coder", view.OutcomeDone, 0, 0.75, 2)}
	turn("reviewer", view.OutcomeDone, 0, 0.5, 1)
	receipt := &journal.Receipt{ID: e.ID, Turn: e.ID + "-2", Agent: "coder", Outcome: view.OutcomeDone, Ended: now, Attempts: attempts, CostUSD: 2.75}
	data, err := receipt.Encode()
	must(err)
	must(box.Commit(e, data))
	must(box.Finish(e))
	must(store.Halt("by lead: the disk is full"))
	return e.ID
}

// typed runs a verb and returns its output.
func typed(t *testing.T, p *project, args ...string) string {
	t.Helper()
	var out, complaints strings.Builder
	args = append([]string{"claude-swarm", "--config", filepath.Join(p.dir, config.Name)}, args...)
	if code := run(args, strings.NewReader(""), &out, &complaints); code != 0 {
		t.Fatalf("%q ended with %d\n%s", args, code, complaints.String())
	}
	return out.String()
}

func typedJSON[T any](t *testing.T, p *project, args ...string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(typed(t, p, append(args, "--json")...)), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func cents(amount float64) string { return fmt.Sprintf("%.2f", amount) }

func jsonFacts(t *testing.T, p *project, done string) facts {
	f := facts{}
	st := typedJSON[swarm.Status](t, p, "status")
	var today, total float64
	for _, a := range st.Agents {
		f.set(a.Name+" state", a.State)
		f.set(a.Name+" waiting", a.Waiting.Total())
		f.set(a.Name+" urgent", a.Waiting.Urgent)
		f.set(a.Name+" dead", a.Dead)
		f.set(a.Name+" today", cents(a.CostUSD.Today))
		if a.Name == "coder" {
			if a.Drops > 0 {
				f.set("coder drops", a.Drops)
			}
			f.set("coder total", cents(a.CostUSD.Total))
			f.set("coder turns", a.TurnCount)
		}
		today, total = today+a.CostUSD.Today, total+a.CostUSD.Total
	}
	f.set("today", cents(today))
	f.set("total", cents(total))
	f.set("halted", st.Reason)
	f.set("threads", len(st.Gate.Threads))
	f.set("refused", st.Gate.Refused.Today)
	f.set("questions", st.Lead.Questions)
	f.set("unread", st.Lead.Unread)
	h := typedJSON[view.History](t, p, "history")
	f.set("turns", len(h.Turns))
	f.set("failed", h.Failed)
	if got := cents(h.CostUSD); got != f["total"] {
		t.Errorf("history adds up to %s US dollars, status to %s", got, f["total"])
	}
	tr := typedJSON[view.Trace](t, p, "trace", done)
	f.set("task turns", tr.Turns)
	f.set("task cost", cents(tr.CostUSD))
	f.set("inbox", len(typedJSON[struct{ Messages []view.Message }](t, p, "inbox").Messages))
	return f
}

// read sets the named facts to the groups of a pattern's match in the text. If the text
// does not match, the test fails.
func (f facts) read(t *testing.T, text, pattern string, names ...string) {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		t.Errorf("no %s in\n%s", pattern, text)
		return
	}
	for i, name := range names {
		f[name] = found[i+1]
	}
}

func textFacts(t *testing.T, p *project, done string) facts {
	f := facts{}
	st := typed(t, p, "status")
	f.read(t, st, `(?m)^coder +(\w+) +(?:-|\d+ \w+) +(\d+) \((\d+)!\) +(\d+) +([0-9.]+)`, "coder state", "coder waiting", "coder urgent", "coder dead", "coder today")
	f.read(t, st, `(?m)^reviewer +(\w+) +(?:-|\d+ \w+) +(\d+) +(\S+) +([0-9.]+)`, "reviewer state", "reviewer waiting", "reviewer dead", "reviewer today")
	if f["reviewer dead"] == "-" {
		f["reviewer dead"] = "0"
	}
	if strings.Contains(st, "drops") {
		f.read(t, st, `(\d+) drops`, "coder drops")
	}
	f.read(t, st, `(\S+) USD today, (\S+) USD in all`, "today", "total")
	f.read(t, st, `HALTED: no new turn begins \((.*)\)`, "halted")
	f.set("threads", len(regexp.MustCompile(`the conversation .* is halted`).FindAllString(st, -1)))
	f.read(t, st, `(\d+) message refused today`, "refused")
	f.read(t, st, `(\d+) questions for you, (\d+) unread messages`, "questions", "unread")
	f.read(t, typed(t, p, "history"), `(\d+) turns, (\d+) of them not done · (\S+) USD`, "turns", "failed", "total")
	f.read(t, typed(t, p, "history", "coder"), `(\d+) turns, 1 of them not done · (\S+) USD`, "coder turns", "coder total")
	f.read(t, typed(t, p, "trace", done), `1 message · (\d+) turns · (\S+) USD`, "task turns", "task cost")
	f.set("inbox", len(regexp.MustCompile(`(?m)^\S{10}  .*(unread|read) `).FindAllString(typed(t, p, "inbox"), -1)))
	return f
}

func needFacts(t *testing.T, p *project) facts {
	f := facts{}
	for _, n := range typedJSON[view.Status](t, p, "status").Needs {
		switch n.Kind {
		case view.NeedDaemon:
		case view.NeedHalted:
			f.set("halted", n.Why)
		case view.NeedDead:
			f.set(strings.Join(n.Agents, " ")+" dead", n.Count)
		case view.NeedThread:
			f.set("threads", 1)
		case view.NeedRefused:
			f.set("refused", n.Count)
		case view.NeedQuestion:
			f.set("questions", n.Count)
		case view.NeedUnread:
			f.set("unread", n.Count)
		default:
			t.Errorf("something else waits: %+v", n)
		}
	}
	return f
}

// toolsOf runs the tool server for a project until the test ends. The returned function
// calls one tool.
func toolsOf(t *testing.T, p *project) (call func(tool string, arguments map[string]any, into any)) {
	t.Helper()
	server := mcpserver.New(mcpserver.Options{
		Version: "test", Open: func(ctx context.Context) (*mcpserver.Caller, error) {
			return openCaller(ctx, filepath.Join(p.dir, config.Name))
		}, Dial: new(whispers).dial,
	})
	requests, ask := io.Pipe()
	answers, say := io.Pipe()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context())) // the cleanup function cancels it
	served := make(chan error, 1)
	go func() {
		err := server.Serve(ctx, requests, say)
		say.Close()
		served <- err
	}()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(ctx, &mcp.IOTransport{Reader: answers, Writer: ask}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		cancel()
		<-served
	})
	return func(tool string, arguments map[string]any, into any) {
		t.Helper()
		got, err := client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil || got.IsError {
			t.Fatalf("%s: %+v, %v", tool, got, err)
		}
		data, err := json.Marshal(got.StructuredContent)
		if err == nil {
			err = json.Unmarshal(data, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func toolFacts(t *testing.T, p *project) facts {
	call := toolsOf(t, p)
	f := facts{}
	var list struct {
		Agents []struct {
			Name, State string
			Waiting     int
		}
	}
	call("list_agents", nil, &list)
	for _, a := range list.Agents {
		f.set(a.Name+" state", a.State)
		f.set(a.Name+" waiting", a.Waiting)
	}
	var past struct {
		Turns []struct {
			CostUSD float64 `json:"cost_usd"`
		}
	}
	call("history", map[string]any{"agent": "coder"}, &past)
	cost := 0.0
	for _, turn := range past.Turns {
		cost += turn.CostUSD
	}
	f.set("coder turns", len(past.Turns))
	f.set("coder total", cents(cost))
	var box struct{ Messages []any }
	call("inbox", nil, &box)
	f.set("inbox", len(box.Messages))
	var self struct{ Waiting int }
	call("whoami", nil, &self)
	f.set("unread", self.Waiting)
	return f
}

func ircFacts(t *testing.T, p *project, store *dropbox.Store) facts {
	text, err := daemonVoice{p, store}.Status(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	f := facts{}
	f.read(t, text, `(?m)^coder (\w+).* \((\d+) \((\d+)!\) waiting\)`, "coder state", "coder waiting", "coder urgent")
	f.read(t, text, `(?m)^reviewer (\w+).* \((\d+) waiting\)`, "reviewer state", "reviewer waiting")
	f.read(t, text, `HALTED: no new turn begins \((.*)\)`, "halted")
	f.read(t, text, `coder has (\d+) dead letters?`, "coder dead")
	f.set("threads", len(regexp.MustCompile(`(?m)^the conversation .* is halted`).FindAllString(text, -1)))
	f.read(t, text, `(\d+) message refused today`, "refused")
	f.read(t, text, `(\d+) questions for the lead`, "questions")
	f.read(t, text, `(\d+) unread messages for the lead`, "unread")
	return f
}
