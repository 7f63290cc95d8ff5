package mcpserver_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// asAgent returns the environment of an agent outside a turn.
func asAgent(name string) map[string]string { return map[string]string{runner.AgentVar: name} }

// idle returns a daemon whose agents are idle.
func idle() *daemon {
	return &daemon{status: swarm.Status{Agents: []swarm.AgentStatus{{Name: "coder", State: swarm.Idle}, {Name: "reviewer", State: swarm.Idle}}}}
}

// deliver delivers an unsigned message to a mailbox.
func (p *project) deliver(to string, m *dropbox.Message) string {
	p.t.Helper()
	d, err := p.store.Deliver(to, m)
	if err != nil {
		p.t.Fatal(err)
	}
	return d.ID
}

// sign delivers a message with its sender's proof.
func (p *project) sign(to string, m *dropbox.Message) error {
	tokens, err := p.home.Tokens(m.From)
	if err != nil {
		return err
	}
	_, err = p.store.DeliverSigned(to, m, func(m *dropbox.Message) string { return dropbox.Proof(tokens[m.From], m, to) })
	return err
}

// patience is the maximum wait for an event that takes only milliseconds on an idle
// machine.
const patience = 3 * time.Minute

// asked waits for a question to arrive in a mailbox.
func (p *project) asked(of string) *dropbox.Message {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if list := p.waiting(of); len(list) > 0 {
			return list[0]
		}
	}
	return nil
}

func TestAskIsAnswered(t *testing.T) {
	for kind, stays := range map[dropbox.Type]int{dropbox.Result: 0, dropbox.Question: 1} {
		p := newProject(t, asAgent("coder"))
		p.daemon = idle()
		go func() {
			if q := p.asked("reviewer"); q != nil {
				err := p.sign("coder", &dropbox.Message{From: "reviewer", Type: kind, ReplyTo: q.ID, Body: []byte("Tabs.\n")})
				if err != nil {
					t.Error(err)
				}
			}
		}()
		out, text := p.call("ask", `{"to":"reviewer","text":"Tabs or spaces?"}`)
		from := out["answer"].(map[string]any)
		if out["outcome"] != "answered" || out["text"] != "Tabs." || from["from"] != "reviewer" || from["type"] != string(kind) || !strings.Contains(text, "Tabs.") {
			t.Errorf("ask, answered by a %s = %v, %q", kind, out, text)
		}
		if n := len(p.waiting("coder")); n != stays {
			t.Errorf("after a %s %d messages wait, want %d", kind, n, stays)
		}
	}
}

// While a turn is waiting for an answer, and only then, its files say so.
func TestAskIsNotedInItsTurn(t *testing.T) {
	const turn = "k7f3q9m2xd-1"
	p := newProject(t, asAgent("coder"))
	p.daemon = idle()
	p.env["CLAUDE_SWARM_TURN"] = turn
	if err := os.MkdirAll(p.home.Turns(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.home.Turns(), turn+".json"), []byte(`{"v":1,"turn":"`+turn+`","agent":"coder","message":"k7f3q9m2xd"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	notes := func() string {
		data, _ := os.ReadFile(filepath.Join(p.home.Turns(), turn+".asks"))
		return string(data)
	}
	go func() {
		q := p.asked("reviewer")
		if q == nil {
			return
		}
		for deadline := time.Now().Add(patience); !strings.Contains(notes(), q.ID) && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
		}
		if n := notes(); !strings.Contains(n, `"id":"`+q.ID+`","of":"reviewer"`) || strings.Contains(n, `"over"`) {
			t.Errorf("while it waits the notes are %q", n)
		}
		if err := p.sign("coder", &dropbox.Message{From: "reviewer", Type: dropbox.Result, ReplyTo: q.ID, Body: []byte("Tabs.\n")}); err != nil {
			t.Error(err)
		}
	}()
	p.call("ask", `{"to":"reviewer","text":"Tabs or spaces?"}`)
	if n := notes(); !strings.Contains(n, `"over":true`) {
		t.Errorf("after the answer the notes are %q", n)
	}
}

func TestAskWithoutAnAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	for name, c := range map[string]struct{ arguments, outcome, text, note string }{
		"left out":  {``, "continue", "", "Decide yourself"},
		"continue":  {`,"on_timeout":"continue"`, "continue", "", "Decide yourself"},
		"a default": {`,"default":"tabs"`, "continue", "tabs", "Continue with your default"},
		"deny":      {`,"on_timeout":"deny","default":"tabs"`, "deny", "No.", "Treat that as a no"},
		"pause":     {`,"on_timeout":"pause"`, "pause", "", "not in a turn"},
		"abort":     {`,"on_timeout":"abort"`, "abort", "", "not in a turn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, asAgent("coder"))
			p.daemon = idle()
			out, _ := p.call("ask", `{"to":"reviewer","text":"Tabs or spaces?","timeout":1`+c.arguments+`}`)
			got, _ := out["text"].(string)
			note, _ := out["note"].(string)
			if out["outcome"] != c.outcome || got != c.text || !strings.Contains(note, c.note) {
				t.Errorf("ask = %v, want %s %q …%s…", out, c.outcome, c.text, c.note)
			}
			if told := p.daemon.notes(); told != "" {
				t.Errorf("the daemon was told %q outside of a turn", told)
			}
			if len(p.waiting("reviewer")) != 1 {
				t.Error("the question does not wait any more")
			}
		})
	}
}

// ask does not wait for an agent that cannot answer now.
func TestAskSomebodyWhoCannotAnswer(t *testing.T) {
	p := newProject(t, asAgent("coder"))
	ask := func(want string) {
		t.Helper()
		out, _ := p.call("ask", `{"to":"reviewer","text":"Tabs?","timeout":3600,"default":"tabs"}`)
		if note, _ := out["note"].(string); out["outcome"] != "not waited" || out["text"] != "tabs" || !strings.Contains(note, want) {
			t.Errorf("ask = %v, want that it is not waited for: %s", out, want)
		}
	}
	ask("No daemon is running")
	p.daemon = idle()
	p.daemon.status.Agents[1].State, p.daemon.status.Agents[1].Why = swarm.Stopped, "its key is wrong"
	ask("reviewer is stopped (its key is wrong)")
	p.daemon.status.Agents[1].State = swarm.Idle
	p.daemon.status.Halted = true
	ask("The swarm is halted")

	for arguments, want := range map[string]string{
		`{"to":"coder","text":"x"}`:                             "you cannot wait for yourself",
		`{"to":"coder,reviewer","text":"x"}`:                    "you cannot wait for yourself",
		`{"to":"lead,reviewer","text":"x"}`:                     `ask one agent at a time, or set answerers: first; "lead,reviewer" names 2 agents`,
		`{"to":"reviewer","text":"x","answerers":"human"}`:      `answerers: human asks a person, and "reviewer" is not one: set to: lead`,
		`{"to":"lead,reviewer","text":"x","answerers":"human"}`: `answerers: human asks a person, and "lead,reviewer" is not one: set to: lead`,
		`{"to":"reviewer","text":"x","answerers":"frist"}`:      `answerers: "frist" is not one of any, human, first; did you mean first?`,
		`{"to":"reviewer","text":"x","answerers":"vote"}`:       `answerers: "vote" is not one of any, human, first`,

		`{"to":"reviewer","text":"x","timeout":0}`:      "timeout: 0 is too small; the minimum is 1",
		`{"to":"reviewer","text":"x","timeout":3601}`:   "timeout: 3601 is too large; the maximum is 3600",
		`{"to":"reviewer","text":"x","timeout":1.5}`:    "timeout: want a whole number, got 1.5",
		`{"to":"reviewer","text":"x","on_timeout":"?"}`: `on_timeout: "?" is not one of continue, pause, deny, abort`,
	} {
		if got := p.fails("ask", arguments); !strings.Contains(got, want) {
			t.Errorf("ask %s: %q, want %q", arguments, got, want)
		}
	}
}

func TestInboxReadReply(t *testing.T) {
	p := newProject(t, asAgent("coder"))
	p.daemon = idle()
	first := p.deliver("coder", &dropbox.Message{From: "reviewer", Type: dropbox.Question, Subject: "the parser", Body: []byte("Is it done?\n")})
	second := p.deliver("coder", &dropbox.Message{From: "lead", Type: dropbox.Task, Body: []byte("Go on\nthen.\n")})

	out, text := p.call("inbox", `{}`)
	list := out["messages"].([]any)
	if len(list) != 2 || list[0].(map[string]any)["about"] != "the parser" || list[1].(map[string]any)["about"] != "Go on then." || !strings.Contains(text, first) {
		t.Errorf("inbox = %v, %q", out, text)
	}
	if out, _ := p.call("inbox", `{"since":"`+first+`"}`); len(out["messages"].([]any)) != 1 {
		t.Errorf("inbox since %s = %v", first, out)
	}
	p.call("read", `{"id":"`+first[:4]+`"}`)
	out, text = p.call("read", `{"id":"`+first[4:]+`"}`)
	if out["id"] != first || out["text"] != "Is it done?\n" || out["proven"] != false || !strings.Contains(text, "(unverified)") {
		t.Errorf("read = %v, %q", out, text)
	}
	if len(p.waiting("coder")) != 2 {
		t.Error("reading removed a message")
	}

	p.call("reply", `{"id":"`+first+`","text":"Yes."}`)
	got := p.waiting("reviewer")
	if len(got) != 1 || got[0].Type != dropbox.Result || got[0].ReplyTo != first || got[0].Subject != "Re: the parser" || got[0].From != "coder" {
		t.Errorf("the answer is %+v", got)
	}
	if left := p.waiting("coder"); len(left) != 1 || left[0].ID != second {
		t.Errorf("after the answer, the waiting messages are %v", left)
	}
	alert := p.deliver("coder", &dropbox.Message{From: dropbox.Swarm, Type: dropbox.Status, Body: []byte("x\n")})
	for arguments, want := range map[string]string{
		`{"id":"` + got[0].ID + `","text":"x"}`: "is in the mailbox of reviewer",
		`{"id":"` + alert + `","text":"x"}`:     "from the daemon itself",
		`{"id":"zzzzzzzzzz","text":"x"}`:        "no such message",
	} {
		if got := p.fails("reply", arguments); !strings.Contains(got, want) {
			t.Errorf("reply %s: %q, want %q", arguments, got, want)
		}
	}
	// Without a daemon, the result is the same, with an additional note.
	p.daemon = nil
	if out, _ := p.call("inbox", `{}`); !strings.Contains(out["note"].(string), "No daemon is running") {
		t.Errorf("inbox without a daemon = %v", out)
	}
}

// A tag addresses all other agents with that tag.
func TestToolsTakeTags(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	p := newProject(t, asAgent("coder"))
	if _, text := p.call("list_agents", `{"agent":"coder"}`); !strings.Contains(text, "; writes; @go @own") {
		t.Errorf("list_agents = %q", text)
	}
	if out, text := p.call("whoami", `{}`); len(out["tags"].([]any)) != 2 || !strings.Contains(text, ", with the tags @go @own.") {
		t.Errorf("whoami = %v, %q", out, text)
	}
	out, _ := p.call("send", `{"to":"@go","text":"look"}`)
	if sent := out["sent"].([]any); len(sent) != 1 || sent[0].(map[string]any)["to"] != "reviewer" {
		t.Errorf("send to @go = %v", out)
	}
	p.daemon = idle()
	if out, _ := p.call("ask", `{"to":"@go","text":"well?","timeout":1,"default":"yes"}`); out["text"] != "yes" || len(p.waiting("reviewer")) != 2 {
		t.Errorf("ask of @go = %v", out)
	}
	for arguments, want := range map[string]string{
		`{"to":"@gop","text":"x"}`: `no agent has the tag "gop"; the tags are @go, @own`,
		`{"to":"@own","text":"x"}`: "@own: no agent but the sender has that tag",
	} {
		if got := p.fails("send", arguments); !strings.Contains(got, want) {
			t.Errorf("send %s: %q, want %q", arguments, got, want)
		}
	}
}

// whoami and list_agents report the client and the model. The text of list_agents does so
// only if the agents use clients of different kinds.
func TestToolsNameTheClients(t *testing.T) {
	p := newProject(t, asAgent("coder"))
	p.daemon = idle()
	for i, client := range []string{"claude 2.1.330", "codex 2.6.0"} {
		p.daemon.status.Agents[i].Client, p.daemon.status.Agents[i].Model = client, "model"
	}
	out, text := p.call("whoami", `{}`)
	if out["client"] != "claude 2.1.330" || out["model"] != "model" || !strings.Contains(text, ", on claude 2.1.330, model. ") {
		t.Errorf("whoami = %v, %q", out, text)
	}
	out, text = p.call("list_agents", `{}`)
	for i, want := range []string{"claude 2.1.330", "codex 2.6.0"} {
		if one := out["agents"].([]any)[i].(map[string]any); one["client"] != want || one["model"] != "model" {
			t.Errorf("list_agents = %v, want %s", one, want)
		}
	}
	if strings.Contains(text, "2.1.330") {
		t.Errorf("list_agents of clients of one kind = %q", text)
	}
	p.daemon.status.Mixed = true
	if _, text = p.call("list_agents", `{"agent":"reviewer"}`); !strings.Contains(text, "; codex 2.6.0, model") {
		t.Errorf("list_agents in a mixed swarm = %q", text)
	}
}

func TestListAgentsAndHistory(t *testing.T) {
	p := newProject(t, asAgent("coder"))
	p.deliver("reviewer", &dropbox.Message{From: "lead", Type: dropbox.Task, Body: []byte("x\n")})
	if _, err := topic.Of(p.store).Subscribe("reviewer", "review.*"); err != nil {
		t.Fatal(err)
	}
	out, _ := p.call("list_agents", `{}`)
	if list := out["agents"].([]any); len(list) != 2 || !strings.Contains(out["note"].(string), "No daemon is running") {
		t.Errorf("list_agents without a daemon = %v", out)
	}
	out, text := p.call("list_agents", `{"agent":"reviewer"}`)
	one := out["agents"].([]any)[0].(map[string]any)
	if one["name"] != "reviewer" || one["role"] != "reads" || one["waiting"] != 1.0 || one["topics"].([]any)[0] != "review.*" || !strings.Contains(text, "1 message waits") {
		t.Errorf("list_agents of one = %v, %q", out, text)
	}
	p.daemon = idle()
	p.daemon.status.Agents[0].State, p.daemon.status.Agents[0].Description = swarm.Working, "the parser"
	_, text = p.call("list_agents", `{}`)
	if !strings.Contains(text, "coder: working") || !strings.Contains(text, "working on: the parser") {
		t.Errorf("list_agents = %q", text)
	}
	if got := p.fails("list_agents", `{"agent":"codr"}`); !strings.Contains(got, "did you mean coder?") {
		t.Errorf("list_agents of nobody: %q", got)
	}
	if out, text := p.call("history", `{}`); len(out["turns"].([]any)) != 0 || text != "coder has done nothing yet." {
		t.Errorf("history = %v, %q", out, text)
	}
	if got := p.fails("history", `{"agent":"reviewr"}`); !strings.Contains(got, "did you mean reviewer?") {
		t.Errorf("history of nobody: %q", got)
	}
}

// An agent sees what people asked for, but not the text of other agents' mail.
func TestTasks(t *testing.T) {
	p := newProject(t, asAgent("coder"))
	if out, text := p.call("tasks", `{}`); len(out["tasks"].([]any)) != 0 || text != "There is no such task." {
		t.Errorf("tasks = %v, %q", out, text)
	}
	d, err := p.store.Deliver("reviewer", &dropbox.Message{From: dropbox.Lead, Subject: "Read the parser", Body: []byte("secret\n")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.store.Deliver("coder", &dropbox.Message{From: "reviewer", Body: []byte("no person asked\n")}); err != nil {
		t.Fatal(err)
	}
	out, text := p.call("tasks", `{}`)
	if list := out["tasks"].([]any); len(list) != 1 || list[0].(map[string]any)["id"] != d.ID {
		t.Errorf("tasks = %v", out)
	}
	if !strings.Contains(text, d.ID+" waiting since ") || !strings.Contains(text, ", reviewer: Read the parser") || strings.Contains(text, "secret") {
		t.Errorf("tasks = %q", text)
	}
	if out, _ := p.call("tasks", `{"agent":"coder"}`); len(out["tasks"].([]any)) != 0 {
		t.Errorf("tasks of the coder = %v", out)
	}
	if got := p.fails("tasks", `{"agent":"reviewr"}`); !strings.Contains(got, "did you mean reviewer?") {
		t.Errorf("tasks of nobody: %q", got)
	}
}

// inTurn makes the caller's tool calls part of a turn.
func (p *project) inTurn(turn string) {
	p.t.Helper()
	p.env["CLAUDE_SWARM_TURN"] = turn
	if err := os.MkdirAll(p.home.Turns(), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.home.Turns(), turn+".json"), []byte(`{"v":1,"turn":"`+turn+`","agent":"coder","message":"k7f3q9m2xd"}`), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// Only people and the recipients of a question can answer it, and only with a proof.
// Messages from other senders stay in the mailbox.
func TestWhoMayAnswerAnAsk(t *testing.T) {
	for name, c := range map[string]struct {
		arguments string
		of        string // the mailbox that gets the question
		from      string
		forged    bool
		counts    bool
	}{
		"the agent":                      {`"to":"reviewer"`, "reviewer", "reviewer", false, true},
		"the person instead":             {`"to":"reviewer","answerers":"any"`, "reviewer", "lead", false, true},
		"a person on IRC":                {`"to":"reviewer"`, "reviewer", "irc", false, true},
		"another agent":                  {`"to":"reviewer"`, "reviewer", "tester", false, false},
		"without a proof":                {`"to":"reviewer"`, "reviewer", "reviewer", true, false},
		"the person, without a proof":    {`"to":"lead"`, "lead", "lead", true, false},
		"human: the person":              {`"to":"lead","answerers":"human"`, "lead", "lead", false, true},
		"human: a person on IRC":         {`"to":"human","answerers":"human"`, "lead", "irc", false, true},
		"human: the agent that leads":    {`"to":"lead","answerers":"human"`, "lead", "reviewer", false, false},
		"an agent leads, and is asked":   {`"to":"lead"`, "reviewer", "reviewer", false, true},
		"first: somebody who is not one": {`"to":"reviewer,lead","answerers":"first"`, "lead", "tester", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, asAgent("coder"))
			p.daemon = idle()
			if strings.Contains(name, "leads") {
				p.lead = "reviewer"
			}
			if err := p.store.MakeMailbox(dropbox.Lead); err != nil {
				t.Fatal(err)
			}
			go func() {
				q := p.asked(c.of)
				if q == nil {
					return
				}
				m := &dropbox.Message{From: c.from, Type: dropbox.Result, ReplyTo: q.ID, Body: []byte("Tabs.\n")}
				err := error(nil)
				if c.forged {
					_, err = p.store.Deliver("coder", m)
				} else {
					err = p.sign("coder", m)
				}
				if !c.counts { // a person's answer ends the wait
					err = errors.Join(err, p.sign("coder", &dropbox.Message{From: "irc", Type: dropbox.Result, ReplyTo: q.ID, Body: []byte("Spaces.\n")}))
				}
				if err != nil {
					t.Error(err)
				}
			}()
			out, _ := p.call("ask", `{`+c.arguments+`,"text":"Tabs or spaces?","timeout":3600,"default":"none"}`)
			want, left := "Spaces.", 1
			if c.counts {
				want, left = "Tabs.", 0
			}
			if out["text"] != want || len(p.waiting("coder")) != left {
				t.Errorf("ask = %v, want %s; %d messages wait, want %d", out, want, len(p.waiting("coder")), left)
			}
		})
	}
}

// The first answer counts, and the other recipients are notified of it. A person's copy
// of the question is then filed. An agent is notified only if it is already working on
// its copy; otherwise, it never sees the question.
func TestTheFirstAnswerCounts(t *testing.T) {
	p := newProject(t, asAgent("coder"))
	p.daemon = idle()
	p.inTurn("k7f3q9m2xd-1")
	if err := p.store.MakeMailbox(dropbox.Lead); err != nil {
		t.Fatal(err)
	}
	box, err := p.store.Mailbox("reviewer")
	if err != nil {
		t.Fatal(err)
	}
	for _, begun := range []bool{false, true} {
		questions := make(chan *dropbox.Message, 2)
		go func() {
			defer close(questions)
			of, lead := p.asked("reviewer"), p.asked(dropbox.Lead)
			if of == nil || lead == nil {
				return
			}
			questions <- of
			questions <- lead
			from, q := "reviewer", of
			if begun { // reviewer is working on it, and the person answers first
				if _, err := box.Claim(must(box.Peek())[0]); err != nil {
					t.Error(err)
				}
				from, q = dropbox.Lead, lead
			}
			if err := p.sign("coder", &dropbox.Message{From: from, Type: dropbox.Result, ReplyTo: q.ID, Body: []byte("Tabs.\n")}); err != nil {
				t.Error(err)
			}
		}()
		out, _ := p.call("ask", `{"to":"reviewer,lead","answerers":"first","text":"Tabs or spaces?"}`)
		of, lead := <-questions, <-questions
		if out["text"] != "Tabs." || of == nil || lead == nil {
			t.Fatalf("ask = %v", out)
		}
		other, told := lead, dropbox.Lead
		if begun {
			other, told = of, "reviewer"
		}
		if why := mail.WhyOver(p.home, other); !strings.HasSuffix(why, "has already answered") {
			t.Errorf("the other question is over because %q", why)
		}
		var notes []string
		for _, m := range p.waiting(told) {
			if m.Type == dropbox.Note && m.ReplyTo == other.ID {
				notes = append(notes, string(m.Body))
			}
		}
		if len(notes) != 1 || !strings.Contains(notes[0], "has already answered "+other.ID) {
			t.Errorf("%s is told %q", told, notes)
		}
		if found, err := p.store.Find(lead.ID); err != nil || !begun && found.State != dropbox.Done {
			t.Errorf("the question to the person is %s, %v", found.State, err)
		}
		for _, name := range []string{dropbox.Lead, "reviewer"} { // empty the mailboxes for the next round
			b, err := p.store.Mailbox(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range must(b.Peek()) {
				if err := b.File(e); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// The tool tells the daemon why to pause the agent or abort its turn, and which answer
// ends the pause.
func TestAskStopsItsTurn(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	for how, want := range map[string]string{
		"pause": "pause coder by coder: lead did not answer ID within 1s: Tabs or spaces? [{ID lead false}]",
		"abort": "abort coder by coder: lead did not answer ID within 1s: Tabs or spaces?",
	} {
		p := newProject(t, asAgent("coder"))
		p.daemon = idle()
		p.inTurn("k7f3q9m2xd-1")
		out, _ := p.call("ask", `{"to":"lead","text":"Tabs or spaces?","timeout":1,"on_timeout":"`+how+`"}`)
		if got := strings.ReplaceAll(p.daemon.notes(), out["id"].(string), "ID"); got != want || out["outcome"] != how {
			t.Errorf("ask = %v; the daemon was told %q, want %q", out, got, want)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
