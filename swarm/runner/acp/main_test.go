package acp_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acpstandin"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/acp"
)

// asProgram is the name of an environment variable. If it is set, the test binary acts as
// a client or as our tool server.
const asProgram = "SWARM_TEST_PROGRAM"

func TestMain(m *testing.M) {
	switch os.Getenv(asProgram) {
	case "client":
		os.Exit(acpstandin.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	case "tools":
		serveTools()
		return
	}
	// Adopt the clients' orphaned processes, as the daemon does.
	if err := runner.BecomeReaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Parallel tests spend more time waiting for clients than working.
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		flag.Set("test.parallel", "12")
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// serveTools runs an MCP server with one tool, send. Like claude-swarm mcp, it creates
// the file named by ReadyVar once its tools have been listed.
func serveTools() {
	s := mcp.NewServer(&mcp.Implementation{Name: "tools", Version: "1"}, nil)
	type in struct {
		To   string `json:"to"`
		Text string `json:"text"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "send"}, func(_ context.Context, _ *mcp.CallToolRequest, i in) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: os.Getenv(runner.AgentVar) + " sent to " + i.To}}}, nil, nil
	})
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, r)
			if path := os.Getenv(runner.ReadyVar); method == "tools/list" && err == nil && path != "" {
				late, _ := time.ParseDuration(os.Getenv(readyAfter)) // 0 if it is not set
				if late == 0 {
					return result, os.WriteFile(path, nil, 0o600)
				}
				time.AfterFunc(late, func() { os.WriteFile(path, nil, 0o600) }) // the test sees whether the file is there
			}
			return result, err
		}
	})
	s.Run(context.Background(), &mcp.StdioTransport{}) // the only possible error is the end of the input
}

// short contains time limits that are short enough for a test to wait for, but long
// enough for a busy machine.
var short = runner.Timing{
	Interrupt: time.Second,
	Terminate: 300 * time.Millisecond,
	Close:     5 * time.Second,
	Connect:   time.Minute,
	Leftovers: 200 * time.Millisecond,
	Sample:    500 * time.Millisecond,
}

// client returns the entry of a client in [acp.Clients].
func client(t testing.TB, name string) *acp.Client {
	t.Helper()
	for _, c := range acp.Clients() {
		if c.Kind.Name == name {
			return c
		}
	}
	t.Fatalf("no client is called %q", name)
	return nil
}

func backend(t testing.TB, name string) runner.Backend { return backendIn(t, name, short) }

func backendIn(t testing.TB, name string, timing runner.Timing) runner.Backend {
	c := *client(t, name)
	c.FreshLoads = false // otherwise a resumed turn would wait for the end of the minute
	return acp.New(acp.Options{Client: &c, Timing: timing})
}

// newTurn returns a turn with the test binary as its client, in its own home and working
// directory. env is added to the client's environment.
func newTurn(t testing.TB, name, script string, env ...string) runner.Turn {
	t.Helper()
	home, dir, files := t.TempDir(), t.TempDir(), t.TempDir()
	add := map[string]string{
		asProgram: "client", "HOME": home, acpstandin.Var: name, acpstandin.QuirksVar: `{"silence":300,"exit_after":20}`,
		"GORACE": "atexit_sleep_ms=0", // otherwise, each client of a race build waits one second before it exits
	}
	if strings.TrimSpace(script) == "@unborn" {
		add[acpstandin.NoFirstEventVar] = "1"
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		add[name] = value
	}
	id := "acp-test-" + runnertest.NewUUID()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return runner.Turn{
		ID: id, Agent: "coder", UUID: runnertest.NewUUID(), Prompt: script,
		Session: runner.Session{ID: runnertest.NewUUID(), How: runner.New},
		Spec:    runner.Spec{Command: []string{self}, Dir: dir, PermissionMode: client(t, name).Kind.Mode, Options: patience(client(t, name), script)},
		Env:     runner.Environ(os.Environ(), runner.EnvOptions{Add: add, Agent: "coder", Dir: dir, Token: "secret", TurnID: id}),
		Files: runner.Files{
			Stdout: filepath.Join(files, "turn.jsonl"), Stderr: filepath.Join(files, "turn.err"),
			Settings: filepath.Join(files, "settings.json"), System: filepath.Join(files, "system.md"),
			Servers: filepath.Join(files, "servers.json"), Ready: filepath.Join(files, "ready"),
		},
	}
}

// patience returns options that shorten the time for which a client may be silent. It is
// short only for a script with a limit, at which some clients wait silently; for any other
// script, a busy machine must not use it up.
func patience(c *acp.Client, script string) map[string]any {
	switch {
	case c.Silence == 0:
		return nil
	case strings.Contains(script, "@status 429"):
		return map[string]any{"silence": "3s"}
	}
	return map[string]any{"silence": "20m"}
}

// toolsServer returns our tool server.
func toolsServer(t *testing.T) *runner.Server {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &runner.Server{Command: self, Args: []string{}, Env: map[string]string{asProgram: "tools"}}
}

// slowServer returns our tool server, but with its sign of readiness half a second after it
// has listed its tools.
func slowServer(t *testing.T) *runner.Server {
	s := toolsServer(t)
	s.Env[readyAfter] = "500ms"
	return s
}

// readyAfter is the variable with the delay of a tool server's sign of readiness.
const readyAfter = "TEST_READY_AFTER"

// fixtures describes how the clients differ in the test suite.
var fixtures = map[string]runnertest.Fixture{
	"acp":      {},
	"codex":    {Command: "rm -rf sub", Lacks: runnertest.Lacks{Cost: true}},
	"opencode": {Ends: unnamed},
	"copilot":  {Lacks: runnertest.Lacks{Cost: true, Model: true}},
	"gemini":   {Lacks: runnertest.Lacks{Cost: true, Context: true}},
	"cline":    {Lacks: runnertest.Lacks{Cost: true, Context: true, Tokens: true}, Ends: unnamed},
}

// unnamed contains the expected ends for clients that do not report the answer from the
// model's service.
var unnamed = map[string]runner.End{"@status 401": runner.Limited, "@status 404": runner.Limited, "@status 400": runner.Limited}

func TestSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, f := range fixtures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			impatient := short
			impatient.Connect = 2 * time.Second
			f.Backend, f.Impatient = backend(t, name), backendIn(t, name, impatient)
			f.Turn = func(t *testing.T, script string) runner.Turn { return newTurn(t, name, script) }
			f.Kill = func(p runner.Process) { syscall.Kill(-p.PID, syscall.SIGKILL) }
			f.Shell, f.Commands = "execute", true
			f.Allow = "execute npm test"
			if f.Command != "" {
				f.Allow = "execute " + f.Command
			}
			f.Server, f.Calls, f.Result = toolsServer, `@tool send {"to":"bob","text":"hi"}`, "coder sent to bob"
			runnertest.Suite(t, f)
		})
	}
}
