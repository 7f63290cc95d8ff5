package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/mcpserver"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A project is a test project with a client that calls the tools.
type project struct {
	whispers []string         // whispers that are waiting for the agent
	chat     *client.Channels // nil: no IRC
	t        *testing.T
	dir      string
	home     journal.Home
	store    *dropbox.Store
	daemon   *daemon // nil: no daemon is running
	env      map[string]string
	rules    policy.Policy

	lead     string // the agent that is the lead; "" if the person is the lead
	leadName string // another name for the person, in addition to lead
	attached bool   // coder is an attached session
	client   *mcp.ClientSession
}

// newProject creates a project with the agents coder and reviewer, and a server for the caller that
// env specifies.
func newProject(t *testing.T, env map[string]string) *project {
	t.Helper()
	dir := t.TempDir()
	p := &project{t: t, dir: dir, home: journal.HomeOf(dir), env: env, rules: policy.Default()}
	dropDir := filepath.Join(dir, ".dead-drop")
	if err := dropbox.Create(dropDir); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.store, err = dropbox.Open(dropDir, dropbox.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.store.Close() })
	for _, name := range []string{"coder", "reviewer"} {
		if err := p.store.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
	}
	server := mcpserver.New(mcpserver.Options{Version: "test", IRC: true, Budget: true, Open: p.open, Dial: p.dial, Whispers: func(context.Context, *mcpserver.Caller) []string { lines := p.whispers; p.whispers = nil; return lines }})
	p.client = connect(t, server)
	return p
}

// connect serves a client of the official SDK, which is independent of this package,
// until the test ends.
func connect(t *testing.T, server *mcpserver.Server) *mcp.ClientSession {
	t.Helper()
	requests, ask := io.Pipe()
	answers, say := io.Pipe()
	served := make(chan error, 1)
	go func() {
		err := server.Serve(context.Background(), requests, say)
		say.Close()
		served <- err
	}()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.IOTransport{Reader: answers, Writer: ask}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
	return client
}

func (p *project) open(context.Context) (*mcpserver.Caller, error) {
	bound := client.Reading{Dir: p.dir, Allowed: &[]string{"Glob"}}
	me, err := journal.WhoAmI(p.home, func(name string) string { return p.env[name] })
	if err != nil {
		return nil, err
	}
	d := client.New(client.Project{
		Home: p.home, Store: p.store, Agents: []string{"coder", "reviewer"}, Tags: map[string][]string{"go": {"coder", "reviewer"}, "own": {"coder"}}, Lead: p.lead, LeadName: p.leadName, Rules: p.rules, IRC: p.chat,
		Reading: map[string]client.Reading{"coder": bound, "reviewer": bound},
	}, me)
	spec := func(name, role string) swarm.Spec {
		return swarm.Spec{Name: name, AgentSettings: swarm.AgentSettings{Role: role, Settings: turn.Settings{Client: runner.Spec{Dir: p.dir}}}}
	}
	coder := spec("coder", "writes")
	coder.Attached, coder.Tags = p.attached, []string{"go", "own"}
	return &mcpserver.Caller{
		Client: d, Project: p.dir, Folders: []string{p.dir}, Close: func() error { return nil },
		Plan: swarm.Plan{Agents: []swarm.Spec{coder, spec("reviewer", "reads")}},
	}, nil
}

func (p *project) dial(context.Context, *mcpserver.Caller) (mcpserver.Daemon, error) {
	if p.daemon == nil {
		return nil, control.ErrNoDaemon
	}
	return p.daemon, nil
}

// A daemon records the commands it receives and does nothing else.
type daemon struct {
	mu     sync.Mutex
	told   []string
	status swarm.Status
	fails  error
}

func (d *daemon) note(format string, args ...any) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = append(d.told, fmt.Sprintf(format, args...))
	return d.fails
}

func (d *daemon) notes() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.told, "; ")
}

func (d *daemon) Status(_ context.Context, agents ...string) (swarm.Status, error) {
	st := d.status
	st.Daemon = &swarm.DaemonStatus{PID: 1}
	return st, nil
}

func (d *daemon) Pause(_ context.Context, agent string, o swarm.PauseOrder) error {
	return d.note("pause %s by %s: %s %v", agent, o.By, o.Why, o.Questions)
}
func (d *daemon) Abort(_ context.Context, agent, by, why string) (swarm.Cut, error) {
	return swarm.Cut{}, d.note("abort %s by %s: %s", agent, by, why)
}
func (d *daemon) Compact(_ context.Context, agent, by string) error {
	return d.note("compact %s by %s", agent, by)
}
func (d *daemon) Clear(_ context.Context, agent, by string) error {
	return d.note("clear %s by %s", agent, by)
}
func (d *daemon) Close() error { return nil }

// call calls a tool; arguments are JSON. It checks that the result conforms to the tool's
// schema and also has a text form.
func (p *project) call(name, arguments string) (structured map[string]any, text string) {
	p.t.Helper()
	res := p.try(name, arguments)
	if res.IsError {
		p.t.Fatalf("%s %s: %s", name, arguments, textOf(res))
	}
	structured, ok := res.StructuredContent.(map[string]any)
	if !ok || textOf(res) == "" {
		p.t.Fatalf("%s %s gave %#v and the text %q, want both", name, arguments, res.StructuredContent, textOf(res))
	}
	p.checkSchema(name, structured)
	return structured, textOf(res)
}

// fails calls a tool that must refuse the call, and returns the text of the error.
func (p *project) fails(name, arguments string) string {
	p.t.Helper()
	res := p.try(name, arguments)
	if !res.IsError {
		p.t.Fatalf("%s %s gave %v, want an error", name, arguments, res.StructuredContent)
	}
	return textOf(res)
}

func (p *project) try(name, arguments string) *mcp.CallToolResult {
	p.t.Helper()
	res, err := p.client.CallTool(p.t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		p.t.Fatalf("%s %s: %v", name, arguments, err)
	}
	return res
}

func textOf(res *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

// checkSchema validates a result against the output schema with an independent
// implementation of JSON Schema.
func (p *project) checkSchema(name string, structured map[string]any) {
	p.t.Helper()
	for tool, err := range p.client.Tools(p.t.Context(), nil) {
		if err != nil {
			p.t.Fatal(err)
		}
		if tool.Name != name {
			continue
		}
		data, err := json.Marshal(tool.OutputSchema)
		if err != nil {
			p.t.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(data, &schema); err != nil {
			p.t.Fatal(err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			p.t.Fatal(err)
		}
		if err := resolved.Validate(structured); err != nil {
			p.t.Errorf("%s: the result %v is not what its schema says: %v", name, structured, err)
		}
	}
}

// Every tool and argument has a description, and the schemas match the tags.
func TestSchemas(t *testing.T) {
	p := newProject(t, nil)
	n := 0
	for tool, err := range p.client.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if len(tool.Description) < 40 {
			t.Errorf("%s says only %q", tool.Name, tool.Description)
		}
		properties, _ := tool.InputSchema.(map[string]any)["properties"].(map[string]any)
		for name, of := range properties {
			if text, _ := of.(map[string]any)["description"].(string); text == "" {
				t.Errorf("%s says nothing of its argument %s", tool.Name, name)
			}
		}
	}
	if n < 2 {
		t.Errorf("%d tools", n)
	}
}

// If an argument is wrong, the tool's error names it, and the tool does nothing.
func TestWrongArguments(t *testing.T) {
	p := newProject(t, nil)
	if err := os.WriteFile(filepath.Join(p.dir, "notes.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.home.Make(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tool, arguments, want string }{
		{"send", `{}`, "send: the argument to is missing: agents, comma-separated"},
		{"send", `null`, "send: the argument to is missing"},
		{"send", `[]`, "send: the arguments are not a JSON object"},
		{"send", `{"to":"coder"}`, "send: the argument text is missing"},
		{"send", `{"to":"coder","txt":"x"}`, `send: there is no argument "txt"; did you mean text?`},
		{"send", `{"to":"coder","text":"x","colour":"red"}`, `send: there is no argument "colour"; it takes attach, cc, depends_on, key`},
		{"whoami", `{"name":"x"}`, `whoami: there is no argument "name"; it takes none`},
		{"send", `{"to":["coder"],"text":"x"}`, "send: to: want text, got a list"},
		{"send", `{"to":7,"text":"x"}`, "send: to: want text, got 7"},
		{"send", `{"to":"coder","text":null}`, "send: text: want text, got null"},
		{"send", `{"to":"coder","text":"x","cc":"lead"}`, "send: cc: want a list of strings, got text"},
		{"send", `{"to":"coder","text":"x","cc":["lead",true]}`, "send: cc[1]: want text, got true"},
		{"send", `{"to":"coder","text":"x","type":"tsk"}`, `send: type: "tsk" is not one of task, question, result, status, handoff, note; did you mean task?`},
		{"send", `{"to":"coder","text":"x","priority":"high"}`, `send: priority: "high" is not one of urgent, normal, low`},
		{"send", `{"to":"codr","text":"x"}`, `send: no agent named "codr" here; did you mean coder?`},
		{"send", `{"to":"coder","text":"x","cc":["nobody"]}`, `send: no agent named "nobody" here`},
		{"send", `{"to":"coder","text":"  "}`, "send: the text is empty"},
		{"send", `{"to":"coder","text":"a\u0000b"}`, "send: the text has a NUL byte, at byte 2"},
		{"send", `{"to":"coder","text":"` + strings.Repeat("x", 8193) + `"}`, "send: the text has 8193 bytes, but the maximum is 8192; write it to a file, and name the file in attach"},
		{"send", `{"to":"coder","text":"x","thread":"zzzzzzzzzz"}`, "no such message"},
		{"send", `{"to":"coder","text":"x","reply_to":"zzzzzzzzzz"}`, "no such message"},
		{"send", `{"to":"coder","text":"x","depends_on":["zzzzzzzzzz"]}`, "no such message"},
		{"send", `{"to":"coder","text":"x","attach":["/etc/passwd"]}`, "send: attach: /etc/passwd is outside your folders: " + p.dir},
		{"send", `{"to":"coder","text":"x","attach":["nothing.txt"]}`, "nothing.txt does not exist"},
		{"send", `{"to":"coder","text":"x","attach":["."]}`, "not a regular file"},
		{"send", `{"to":"coder","text":"x","attach":[".claude-swarm/turns"]}`, "belongs to the daemon"},
	} {
		if got := p.fails(c.tool, c.arguments); !strings.Contains(got, c.want) {
			t.Errorf("%s %.60s: %q, want %q", c.tool, c.arguments, got, c.want)
		}
	}
	if n := len(p.waiting("coder")); n > 0 {
		t.Errorf("%d messages were sent anyway", n)
	}
}

// waiting returns the messages that are waiting for an agent.
func (p *project) waiting(agent string) []*dropbox.Message {
	p.t.Helper()
	box, err := p.store.Mailbox(agent)
	if err != nil {
		p.t.Fatal(err)
	}
	entries, err := box.List()
	if err != nil {
		p.t.Fatal(err)
	}
	var list []*dropbox.Message
	for _, e := range entries {
		m, err := box.Read(e)
		if err != nil {
			p.t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// Whispers are placed before the result of a call, in both its text and its structure, or
// before an error. Each whisper appears only once.
func TestWhispersComeBeforeAResult(t *testing.T) {
	p := newProject(t, map[string]string{})
	const line = "[SUPERVISOR/CORRECTION] Ask for help."
	for name, arguments := range map[string]string{"list_agents": `{}`, "read": `{"id":"nothing234"}`} {
		p.whispers = []string{line}
		for again := range 2 {
			out, err := p.client.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
			if err != nil {
				t.Fatal(err)
			}
			first := out.Content[0].(*mcp.TextContent).Text
			if has := first == line; has == (again == 1) {
				t.Errorf("%s, call %d: the first content is %q", name, again+1, first)
			}
			data, err := json.Marshal(out.StructuredContent)
			if err != nil {
				t.Fatal(err)
			}
			if has := strings.Contains(string(data), line); !out.IsError && has == (again == 1) {
				t.Errorf("%s, call %d: structure %s", name, again+1, data)
			}
		}
	}
}
