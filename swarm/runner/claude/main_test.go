package claude_test

import (
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

	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/internal/testkit/standin"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
	"go.uber.org/goleak"
)

// asClient is the name of an environment variable. If it is set, the test binary acts as
// the stand-in client.
const asClient = "SWARM_TEST_CLIENT"

func TestMain(m *testing.M) {
	if os.Getenv(asClient) != "" {
		os.Exit(standin.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	}
	// Adopt the clients' orphaned processes, as the daemon does.
	if err := runner.BecomeReaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Parallel tests spend more time waiting for clients than working.
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		flag.Set("test.parallel", "8")
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

// short contains time limits that are short enough for a test to wait for, but long
// enough for a busy machine.
var short = runner.Timing{
	Interrupt:    time.Second,
	Terminate:    300 * time.Millisecond,
	Close:        time.Minute,
	PromptNotRun: 3 * time.Second,
	Leftovers:    200 * time.Millisecond,
	Sample:       500 * time.Millisecond,
}

// patient is for clients that end at the signal that they get: no client gets the next one.
var patient = runner.Timing{Interrupt: time.Hour, Terminate: time.Hour}.Or(short)

// newTurn returns a turn of the stand-in, in its own home and working directory. env is
// added to the client's environment.
func newTurn(t testing.TB, script string, env ...string) runner.Turn {
	t.Helper()
	need.Script(t, script)
	home, dir, files := t.TempDir(), t.TempDir(), t.TempDir()
	add := map[string]string{
		asClient: "1", "HOME": home, "ANTHROPIC_API_KEY": "sk-ant-test",
		"GORACE": "atexit_sleep_ms=0", // otherwise, each client of a race build waits one second before it exits
	}
	script = strings.TrimSpace(script)
	if script == "@unborn" {
		add["STANDIN_UNBORN"] = "1"
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		add[name] = value
	}
	session := runnertest.NewUUID()
	id := "claude-test-" + session
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return runner.Turn{
		ID: id, Agent: "coder", UUID: runnertest.NewUUID(), Prompt: script,
		Session: runner.Session{ID: session, How: runner.New},
		Spec:    runner.Spec{Command: []string{self}, Dir: dir, PermissionMode: "acceptEdits"},
		Env:     runner.Environ(os.Environ(), runner.EnvOptions{Add: add, Agent: "coder", Dir: dir, Token: "secret", TurnID: id}),
		Files: runner.Files{
			Stdout: filepath.Join(files, "turn.jsonl"), Stderr: filepath.Join(files, "turn.err"),
			Settings: filepath.Join(files, "settings.json"), System: filepath.Join(files, "system.md"),
		},
	}
}

func TestSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	runnertest.Suite(t, runnertest.Fixture{
		Backend: claude.New(claude.Options{Timing: short}),
		Turn:    func(t *testing.T, script string) runner.Turn { return newTurn(t, script) },
		Kill:    func(p runner.Process) { syscall.Kill(p.PID, syscall.SIGKILL) },
		Shell:   "Bash", Allow: "Bash(npm test:*)", Commands: true,
		Server: func(*testing.T) *runner.Server {
			return &runner.Server{Command: "tools", Env: map[string]string{}}
		},
	})
}
