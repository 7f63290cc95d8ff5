package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// toolsProject creates a project with the agents coder and reviewer.
func toolsProject(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	const config = "agents:\n  coder: {role: writes, zone: the parser, allowed_dirs: [/srv]}\n  reviewer: {cwd: sub}\n"
	if err := os.WriteFile(filepath.Join(dir, "claude-swarm.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dropbox.Create(filepath.Join(dir, ".dead-drop")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// ourselves returns the path of this test binary, which can also act as the program; see
// TestMain.
func ourselves(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("claude-swarm")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// connect starts the MCP server in a project, with extra environment variables, and
// connects the official SDK's client to it.
func connect(t *testing.T, dir string, env ...string) *mcp.ClientSession {
	t.Helper()
	client, _ := connectTo(t, ourselves(t), dir, env...)
	return client
}

func connectTo(t *testing.T, program, dir string, env ...string) (*mcp.ClientSession, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command(program, "mcp")
	cmd.Dir, cmd.Env = dir, append([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, env...)
	cmd.Stderr = os.Stderr
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return client, cmd
}

func whoami(t *testing.T, client *mcp.ClientSession) map[string]any {
	t.Helper()
	res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "whoami"})
	if err != nil || res.IsError {
		t.Fatalf("whoami: %+v, %v", res, err)
	}
	return res.StructuredContent.(map[string]any)
}

// The server offers the IRC tools only if the configuration uses IRC.
func TestToolsForIRC(t *testing.T) {
	for section, want := range map[string]bool{"": false, "irc: {server: localhost}\n": true} {
		dir := toolsProject(t)
		if err := os.WriteFile(filepath.Join(dir, "claude-swarm.yaml"), []byte(section+"agents: {coder: }\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		client := connect(t, dir)
		got := false
		for tool, err := range client.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			got = got || tool.Name == "irc_send"
		}
		if got != want {
			t.Errorf("with %q the tools for IRC are there: %v, want %v", section, got, want)
		}
	}
}

// Outside a turn, the server serves the lead. Inside a turn, it serves the turn's agent,
// regardless of the working directory.
func TestWhomItServes(t *testing.T) {
	dir := toolsProject(t)
	client := connect(t, dir)
	if me := whoami(t, client); me["name"] != "lead" || me["daemon"] != false || fmt.Sprint(me["folders"]) != "["+dir+"]" {
		t.Errorf("outside a turn: %v", me)
	}
	client = connect(t, t.TempDir(), "CLAUDE_SWARM_AGENT=coder", "CLAUDE_SWARM_DIR="+dir)
	me := whoami(t, client)
	if me["name"] != "coder" || me["role"] != "writes" || me["zone"] != "the parser" || me["project"] != dir {
		t.Errorf("in a turn: %v", me)
	}
	if want := fmt.Sprintf("[%s /srv %s/.dead-drop/coder/work]", dir, dir); fmt.Sprint(me["folders"]) != want {
		t.Errorf("folders %v, want %s", me["folders"], want)
	}
	// The server uses the new configuration if the file changes while the server is
	// running.
	if err := os.WriteFile(filepath.Join(dir, "claude-swarm.yaml"), []byte("agents:\n  coder: {role: thinks}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if me := whoami(t, client); me["role"] != "thinks" {
		t.Errorf("after a change: %v", me)
	}
}

// An anothersDaemon stands in for the daemon of another project. It only reports its
// status.
type anothersDaemon struct{ control.Daemon }

func (anothersDaemon) Status(...string) (swarm.Status, error) { return swarm.Status{}, nil }

// A copy of a project contains the note from the original project's daemon, but the tools
// must not use that daemon.
func TestACopyHasNoDaemon(t *testing.T) {
	dir, another := toolsProject(t), toolsProject(t)
	l, err := control.Listen(another, func(key string) string {
		return map[string]string{"XDG_RUNTIME_DIR": filepath.Dir(dir)}[key]
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- control.NewServer(anothersDaemon{}, control.Options{}).Serve(ctx, l) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	home := journal.HomeOf(dir)
	if err := errors.Join(home.Make(), discovery.Note{PID: 1, Socket: l.Addr().String()}.Write(home.LockFile())); err != nil {
		t.Fatal(err)
	}
	client := connect(t, dir)
	if me := whoami(t, client); me["daemon"] != false {
		t.Errorf("in a copy: %v, want no daemon", me)
	}
	lock, err := os.Open(home.LockFile())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close() // releases the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if me := whoami(t, client); me["daemon"] != true {
		t.Errorf("with the lock held: %v, want a daemon", me)
	}
}

// Each agent's client keeps a tool server running, so memory use matters. After a few
// calls, the shipped program uses at most 25 MiB.
func TestMemoryOfTheTools(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const most = 25 << 10 // KiB
	program := filepath.Join(t.TempDir(), "claude-swarm")
	build := exec.Command("go", "build", "-trimpath", "-tags", "urfave_cli_no_docs", "-ldflags", "-s -w", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	client, cmd := connectTo(t, program, toolsProject(t))
	for range 20 {
		whoami(t, client)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if os.IsNotExist(err) {
		t.Skip("not run: there is no /proc here")
	} else if err != nil {
		t.Fatal(err)
	}
	peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if peak == nil {
		t.Fatalf("no peak in %s", status)
	}
	if kib, err := strconv.Atoi(string(peak[1])); err != nil || kib > most {
		t.Errorf("the server takes %d KiB, want at most %d", kib, most)
	} else {
		t.Logf("%d KiB", kib)
	}
}

// A mistake made in the configuration file during a turn does not affect the agent, because
// the daemon's configuration stays in force.
func TestBadConfigurationInATurn(t *testing.T) {
	dir := toolsProject(t)
	path := filepath.Join(dir, "claude-swarm.yaml")
	file, err := config.Load(path)
	if err == nil {
		if err = os.MkdirAll(file.Home(), 0o700); err == nil {
			err = file.KeepInForce(durable.Files{})
		}
	}
	if err == nil {
		err = os.WriteFile(path, []byte("bogus: 1\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	client := connect(t, t.TempDir(), "CLAUDE_SWARM_AGENT=coder", "CLAUDE_SWARM_DIR="+dir)
	if got := whoami(t, client)["name"]; got != "coder" {
		t.Errorf("in a turn, with a bad configuration, whoami says %v, want coder", got)
	}
}
