package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
	"github.com/claude-swarm/claude-swarm/swarm/worktree"
)

// write writes a configuration into a new folder and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, config.Name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, path string) *config.File {
	t.Helper()
	f, err := config.Load(path)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return f
}

var unexported = cmpopts.IgnoreUnexported(config.File{})

// strict is the policy of a file that does not set one.
var strict = config.Policy{
	AllowedTypes: []string{"task", "question", "result", "status", "handoff", "note"},
	MaxBodyBytes: 8192, SenderPerMin: 60, ThreadPerMin: 30, MaxHops: 8, MaxReturns: 1, MaxEchoes: 2, TurnsPerHour: 120,
	StopSentinel: "<<<HALT>>>", Unproven: "allow",
}

// minded is the oversight of a file that sets none of the oversight keys.
var minded = config.Oversight{Budget: budget.Settings{Warn: 0.8}, Supervisor: config.Supervisor{
	Backend: "claude", Thinking: "medium", Settings: supervisor.Settings{
		Window: 20, Interval: 5, Threshold: 3, InterruptAfter: 10, Rules: supervisor.Rules{SameCall: 3, SameError: 3, StepsWithoutChange: 30},
	},
}}

func TestNothingWrittenIsTheDefault(t *testing.T) {
	path := write(t, "agents: {coder: }\n")
	dir := filepath.Dir(path)
	got := load(t, path)
	want := &config.File{
		Path: path, Dir: dir, DeadDropDir: filepath.Join(dir, ".dead-drop"), ProjectDir: dir,
		Debounce: time.Second, MaxWarm: 4, MaxWaiting: 10_000,
		Agents: []config.Agent{{
			Name: "coder",
			AgentSettings: swarm.AgentSettings{
				Settings: turn.Settings{
					Backend: "claude", Session: turn.SessionResume, WindowTokens: 100_000, Tools: true,
					Client: runner.Spec{
						Command: []string{"claude"}, Dir: dir, PermissionMode: "acceptEdits", CompactWindow: 200_000,
						Stall: 10 * time.Minute, Timeout: 2 * time.Hour,
					},
				},
				Worktree: worktree.Settings{Mode: worktree.None}, RetryDelay: 30 * time.Second, MaxFailures: 3,
			},
			Permissions: config.Permissions{Timeout: 10 * time.Minute}, AttachedMail: "continue",
		}},
		Policy: strict,
		IRC:    noIRC(dir),
		Records: config.Records{
			Topics:    swarm.TopicPolicy{ClaimTimeout: 2 * time.Minute},
			Log:       journal.LogPolicy{MaxSizeMB: 20, MaxBackups: 5, MaxAgeDays: 30},
			Retention: swarm.Retention{RefusedDays: 30, RefusedMB: 100},
		},
		Oversight: minded,
	}
	if diff := cmp.Diff(want, got, unexported); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got.Running() < 1 {
		t.Errorf("Running() = %d, want at least 1", got.Running())
	}
}

func TestEveryKey(t *testing.T) {
	path := write(t, `
agents:
  coder:
    role: coder
    zone: "Zone A: the parser"
    system: |
      You are coder.
      Be brief.
    backend: claude
    command: 'bin/claude --flag "two words"'
    permission_mode: plan
    window_tokens: 50_000
    compact_window: 150000
    stall_timeout: 90s
    turn_timeout: 1h30m
    retry_delay: 500ms
    max_failures: 5
    session: fresh
    linger: 10m
    background: true
    attached: true
    attached_mail: notify
    allowed_tools: "Read, Bash(git diff:*, git log:*),mcp__dead-drop__*"
    disallowed_tools: [WebFetch, "WebSearch,Task"]
    model: opus
    thinking: high
    cwd: sub
    reread: [BACKLOG.md, docs/protocol.md]
    env: {PORT: 8080, DEBUG: true, EMPTY: "", OCTAL: 010}
    env_drop: [AWS_*, EDITOR]
    mcp: false
    mcp_servers:
      files: {command: npx, args: [-y, "a b", 7, ""], env: {ROOT: /srv, N: 1}}
      ours: {type: stdio, command: bin/tools}
      far: {type: http, url: "https://example.com/mcp?a=b", headers: {Authorization: "Bearer x"}}
      old: {type: sse, url: "http://127.0.0.1:9/sse"}
    allowed_dirs: [../other, /srv/shared]
dead_drop_dir: mail
project_dir: project
debounce: 2s
max_running: 3
max_warm: 2
max_waiting: 50
log: {max_size_mb: 1, max_backups: 2, max_age_days: 3}
audit: {git: true}
retention: {done_days: 7, done_mb: 9, refused_days: 5, refused_mb: 0}
supervisor: {backend: codex, command: 'bin/judge -v', model: small, thinking: null, window_size: 9, eval_interval: 4, escalation_threshold: 2, interrupt_after: 6, rules: {same_call: 9, same_error: 0, steps_without_change: 2}}
`)
	dir := filepath.Dir(path)
	allowed := []string{"Read", "Bash(git diff:*, git log:*)", "mcp__dead-drop__*"}
	disallowed := []string{"WebFetch", "WebSearch", "Task"}
	want := &config.File{
		Path: path, Dir: dir, DeadDropDir: filepath.Join(dir, "mail"), ProjectDir: filepath.Join(dir, "project"),
		Debounce: 2 * time.Second, MaxRunning: 3, MaxWarm: 2, MaxWaiting: 50,
		Agents: []config.Agent{{
			Name: "coder",
			AgentSettings: swarm.AgentSettings{
				Role: "coder", Zone: "Zone A: the parser", Attached: true, Reread: []string{"BACKLOG.md", "docs/protocol.md"},
				Worktree: worktree.Settings{Mode: worktree.None}, RetryDelay: 500 * time.Millisecond, MaxFailures: 5,
				Settings: turn.Settings{
					Backend: "claude", Session: turn.SessionFresh, Linger: 10 * time.Minute, WindowTokens: 50_000,
					Env:     map[string]string{"PORT": "8080", "DEBUG": "true", "EMPTY": "", "OCTAL": "010"},
					EnvDrop: []string{"AWS_*", "EDITOR"},
					Client: runner.Spec{
						Command: []string{filepath.Join(dir, "bin/claude"), "--flag", "two words"}, Dir: filepath.Join(dir, "project/sub"),
						System: "You are coder.\nBe brief.\n", Model: "opus", Thinking: "high", PermissionMode: "plan", CompactWindow: 150_000,
						Background: true, Stall: 90 * time.Second, Timeout: 90 * time.Minute, AllowedTools: &allowed, DisallowedTools: &disallowed,
						Servers: map[string]runner.Server{
							"files": {Type: "stdio", Command: "npx", Args: []string{"-y", "a b", "7", ""}, Env: map[string]string{"ROOT": "/srv", "N": "1"}},
							"ours":  {Type: "stdio", Command: filepath.Join(dir, "bin/tools")},
							"far":   {Type: "http", URL: "https://example.com/mcp?a=b", Headers: map[string]string{"Authorization": "Bearer x"}},
							"old":   {Type: "sse", URL: "http://127.0.0.1:9/sse"},
						},
					},
				},
			},
			Permissions: config.Permissions{Timeout: 10 * time.Minute}, AttachedMail: "notify",
			AllowedDirs: []string{filepath.Join(filepath.Dir(dir), "other"), "/srv/shared"},
		}},
		Policy: strict,
		IRC:    noIRC(dir),
		Records: config.Records{
			Topics:    swarm.TopicPolicy{ClaimTimeout: 2 * time.Minute},
			Log:       journal.LogPolicy{MaxSizeMB: 1, MaxBackups: 2, MaxAgeDays: 3},
			Audit:     config.Audit{Git: true},
			Retention: swarm.Retention{DoneDays: 7, DoneMB: 9, RefusedDays: 5},
		},
		Oversight: config.Oversight{Supervisor: config.Supervisor{
			Backend: "codex", Command: []string{filepath.Join(dir, "bin/judge"), "-v"}, Model: "small",
			Settings: supervisor.Settings{Window: 9, Interval: 4, Threshold: 2, InterruptAfter: 6, Rules: supervisor.Rules{SameCall: 9, StepsWithoutChange: 2}},
		}, Budget: budget.Settings{Warn: 0.8}},
	}
	if diff := cmp.Diff(want, load(t, path), unexported); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAnAgentsOwnKeyWins(t *testing.T) {
	f := load(t, write(t, `
agents:
  plain:
  own:
    model: null
    allowed_tools: null
    reread: []
    env: {B: own, C: c}
    retry_delay: 1s
    command: [claude, "a b"]
    mcp_servers: {a: {command: own}, b: null, c: {command: c}}
  none:
    allowed_tools: []
defaults:                 # below the agents, and still read first
  model: opus
  allowed_tools: Read
  reread: [A.md, B.md]
  env: {A: a, B: b}
  mcp_servers: {a: {command: a}, b: {command: b}}
  retry_delay: 5s
  cwd: sub
`))
	if got, want := f.Names(), []string{"plain", "own", "none"}; !slices.Equal(got, want) {
		t.Fatalf("Names() = %q, want the order of the file, %q", got, want)
	}
	plain, _ := f.Agent("plain")
	own, _ := f.Agent("own")
	none, _ := f.Agent("none")
	if plain.Client.Model != "opus" || plain.Client.AllowedTools == nil || len(plain.Reread) != 2 || plain.RetryDelay != 5*time.Second || filepath.Base(plain.Client.Dir) != "sub" {
		t.Errorf("plain = %+v, want the values of defaults", plain)
	}
	if own.Client.Model != "" || own.Client.AllowedTools != nil || len(own.Reread) != 0 || own.RetryDelay != time.Second || own.Client.Command[1] != "a b" {
		t.Errorf("own = %+v, want its own keys", own)
	}
	if none.Client.AllowedTools == nil || len(*none.Client.AllowedTools) != 0 {
		t.Errorf("none.AllowedTools = %v, want a list without entries, which allows none", none.Client.AllowedTools)
	}
	if diff := cmp.Diff(map[string]string{"A": "a", "B": "own", "C": "c"}, own.Env); diff != "" {
		t.Errorf("env of own, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"A": "a", "B": "b"}, plain.Env); diff != "" {
		t.Errorf("env of plain was changed by own, -want +got:\n%s", diff)
	}
	for agent, want := range map[string]map[string]runner.Server{
		"own":   {"a": {Type: "stdio", Command: "own"}, "c": {Type: "stdio", Command: "c"}},
		"plain": {"a": {Type: "stdio", Command: "a"}, "b": {Type: "stdio", Command: "b"}},
	} {
		a, _ := f.Agent(agent)
		if diff := cmp.Diff(want, a.Client.Servers); diff != "" {
			t.Errorf("mcp_servers of %s, -want +got:\n%s", agent, diff)
		}
	}
	if _, ok := f.Agent("nobody"); ok {
		t.Error(`Agent("nobody") finds an agent`)
	}
}

// The example in the first design document of this project must load unchanged, except
// for its project_dir, which exists only on another machine.
func TestTheFirstDocumentsExample(t *testing.T) {
	text, err := os.ReadFile("testdata/first-document.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, string(text))
	f := load(t, path)
	if got, want := f.Names(), []string{"opus-engineer", "opus-q1", "codex"}; !slices.Equal(got, want) {
		t.Errorf("Names() = %q, want %q", got, want)
	}
	if f.ProjectDir != "/Users/hung/projects/TTS.cpp" {
		t.Errorf("ProjectDir = %q", f.ProjectDir)
	}
	if want := filepath.Join(filepath.Dir(path), ".dead-drop"); f.DeadDropDir != want {
		t.Errorf("DeadDropDir = %q, want %q", f.DeadDropDir, want)
	}
	reviewer, _ := f.Agent("codex")
	if reviewer.Client.AllowedTools == nil || !slices.Equal(*reviewer.Client.AllowedTools, []string{"Read", "Glob", "Grep", "mcp__dead-drop__*"}) {
		t.Errorf("tools of codex = %v", reviewer.Client.AllowedTools)
	}
	engineer, _ := f.Agent("opus-engineer")
	if engineer.Client.AllowedTools != nil || engineer.Client.Model != "" || engineer.Role != "coder" ||
		engineer.Zone != "Zone A: Metal backend (ggml-metal.m, ggml-metal.metal)" ||
		!strings.HasSuffix(engineer.Client.System, "Send ONE summary when done.\n") {
		t.Errorf("opus-engineer = %+v", engineer)
	}

	// The file loads even if the folder does not exist, so that mail can be sent. Agents
	// need the folder only when they start.
	err = f.CheckFolders()
	if e, ok := errors.AsType[*config.Error](err); !ok || e.Line != 3 || !strings.Contains(e.Problem, "/Users/hung/projects/TTS.cpp does not exist") {
		t.Errorf("CheckFolders() = %v, want the missing project_dir at line 3", err)
	}
	here := filepath.Dir(path)
	f, err = config.Parse(path, []byte(strings.Replace(string(text), "/Users/hung/projects/TTS.cpp", here, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.CheckFolders(); err != nil {
		t.Errorf("CheckFolders() with an existing project_dir = %v", err)
	}
}

func TestCheckFolders(t *testing.T) {
	path := write(t, "agents:\n  a: {cwd: gone}\n  b: {cwd: file}\n  c: {}\n")
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := load(t, path).CheckFolders()
	errs, _ := errors.AsType[config.Errors](err)
	if len(errs) != 2 || errs[0].Line != 2 || errs[0].Column != 12 || errs[1].Line != 3 ||
		!strings.Contains(errs[0].Problem, "does not exist") || !strings.Contains(errs[1].Problem, "not a folder") {
		t.Errorf("CheckFolders() = %v, want a missing folder at 2:12 and a file at line 3", err)
	}
}

func TestLoadWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := config.Load(filepath.Join(dir, "gone.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Load of a missing file: %v, want os.ErrNotExist", err)
	}
	if _, err := config.Load(dir); err == nil {
		t.Error("Load of a folder: no error")
	}
	fifo := filepath.Join(dir, "fifo.yaml")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(fifo); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("Load of a fifo: %v, want that it is not a regular file", err)
	}
	big := filepath.Join(dir, "big.yaml")
	if err := os.WriteFile(big, make([]byte, 2<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(big); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Errorf("Load of 2 MiB: %v, want that it is too large", err)
	}
}

func TestReadingIsForgivingWhereNothingIsLost(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		text string
		good func(*config.File) bool
	}{
		"byte order mark":          {"\ufeffagents: {coder: }\n", func(f *config.File) bool { return f.Names()[0] == "coder" }},
		"carriage returns":         {"agents:\r\n  coder:\r\n    role: a\r\n", func(f *config.File) bool { return f.Agents[0].Role == "a" }},
		"alias":                    {"agents:\n  a: &a {role: x}\n  b: *a\n", func(f *config.File) bool { return f.Agents[1].Role == "x" }},
		"home":                     {"project_dir: ~/p\nagents: {a: }\n", func(f *config.File) bool { return f.ProjectDir == filepath.Join(home, "p") }},
		"home itself as cwd":       {"agents: {a: {cwd: '~'}}\n", func(f *config.File) bool { return f.Agents[0].Client.Dir == home }},
		"program in the home":      {"agents: {a: {command: ~/bin/claude -x}}\n", func(f *config.File) bool { return f.Agents[0].Client.Command[0] == filepath.Join(home, "bin/claude") }},
		"sections without entries": {"defaults:\nlog:\naudit:\nretention:\nagents: {a: {env: , reread: , env_drop: }}\n", func(f *config.File) bool { return f.Log.MaxBackups == 5 }},
		"max_running auto":         {"max_running: auto\nagents: {a: }\n", func(f *config.File) bool { return f.MaxRunning == 0 && f.Running() >= 1 }},
		"continue alone":           {"agents: {a: {session: continue, cwd: x}, b: {cwd: y}}\n", func(f *config.File) bool { return f.Agents[0].Session == turn.SessionContinue }},
		"a name of digits":         {"agents: {123: }\n", func(f *config.File) bool { return f.Names()[0] == "123" }},
		// The quotes are doubled as YAML requires: the command is x "a $b\"c" 'd e' f\ g
		// "".
		"quotes in a command": {`agents: {a: {command: 'x "a $b\"c" ''d e'' f\ g ""'}}` + "\n", func(f *config.File) bool {
			return slices.Equal(f.Agents[0].Client.Command, []string{"x", `a $b"c`, "d e", "f g", ""})
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := load(t, write(t, c.text))
			if !c.good(f) {
				t.Errorf("Load(%q) = %+v", c.text, f)
			}
		})
	}
}
