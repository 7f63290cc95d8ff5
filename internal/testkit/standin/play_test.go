package standin_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/fakeapi"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// TestCompactsWhenFull checks that the turn after the one that filled the context compacts
// first. The hook gets its payload on stdin, and its output appears between the lines of
// the compaction.
func TestCompactsWhenFull(t *testing.T) {
	p := newPlace(t)
	settings := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(settings, []byte(`{"autoCompactWindow":100000,"hooks":{"SessionStart":[
		{"matcher":"compact","hooks":[{"type":"command","command":"cat > payload.json; echo window; echo oops >&2"}]},
		{"matcher":"startup","hooks":[{"type":"command","command":"exit 3"}]}]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	lines, _ := p.turn("@context 66000\n@say a", "--session-id", sessA, "--settings", settings)
	if want := "system/hook_started system/hook_response system/init user/replay assistant result/success"; kinds(lines) != want {
		t.Fatalf("first turn %q, want %q", kinds(lines), want)
	}
	if lines[1].str("outcome") != "error" || lines[1].str("exit_code") != "3" {
		t.Errorf("failed hook: %v", lines[1])
	}
	lines, _ = p.turn("@context 67000\n@say a", "--resume", sessA, "--settings", settings)
	if strings.Contains(kinds(lines), "compact_boundary") {
		t.Errorf("compacted at 66,000 of 100,000: %q", kinds(lines))
	}
	lines, _ = p.turn("@say a", "--resume", sessA, "--settings", settings)
	want := "system/init user/replay system/status system/hook_started system/hook_response system/status system/compact_boundary user assistant result/success"
	if kinds(lines) != want {
		t.Fatalf("third turn\n%q, want\n%q", kinds(lines), want)
	}
	if h := lines[4]; h.str("stdout") != "window\n" || h.str("stderr") != "oops\n" || h.str("hook_name") != "SessionStart:compact" || h.str("outcome") != "success" {
		t.Errorf("hook_response %v", h)
	}
	if m := lines[6]["compact_metadata"].(map[string]any); m["trigger"] != "auto" || m["pre_tokens"].(float64) < 67000 {
		t.Errorf("compact_metadata %v", m)
	}
	payload, err := os.ReadFile(filepath.Join(p.dir, "payload.json"))
	if err != nil || !strings.Contains(string(payload), `"source":"compact"`) || !strings.Contains(string(payload), sessA) {
		t.Errorf("payload %s, %v", payload, err)
	}
	// After a compaction, a resumed session no longer recognizes earlier uuids.
	r := p.start(append(stream, "--resume", sessA)...)
	r.send(uuidA, "x")
	r.end()
	p.turn("@compact", "--resume", sessA)
	r = p.start(append(stream, "--resume", sessA)...)
	r.send(uuidA, "x")
	if lines, _ := r.end(); !strings.Contains(kinds(lines), "result") {
		t.Errorf("the uuid was still known after a compaction: %q", kinds(lines))
	}
}

func TestOrphanHoldsTheOutput(t *testing.T) {
	const mark = "orphan-holds-the-output"
	p := newPlace(t)
	p.env = []string{runner.MarkVar + "=" + mark}
	t.Cleanup(func() { runner.EndLeftovers(mark, 0) })
	r := p.start(stream...)
	r.send("", "@orphan 10m\n@say left it")
	r.until("result/success")
	r.stdin.Close()
	if err := r.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if !held(t, r.pipe) {
		t.Error("the output ended with the process")
	}
	if n := runner.EndLeftovers(mark, 0); n != 1 {
		t.Errorf("%d processes are left, want the orphan", n)
	}
	if held(t, r.pipe) {
		t.Error("another process holds the output")
	}
}

// held reads everything that is in a pipe, and then reports whether a process can write
// more to it.
func held(t *testing.T, pipe *os.File) bool {
	t.Helper()
	conn, err := pipe.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	var again error
	err = conn.Read(func(fd uintptr) bool {
		for buf := make([]byte, 4096); ; {
			if n, again = syscall.Read(int(fd), buf); n <= 0 {
				return true
			}
		}
	})
	if err != nil || again != nil && again != syscall.EAGAIN {
		t.Fatal(err, again)
	}
	return again == syscall.EAGAIN
}

func TestOtherFormats(t *testing.T) {
	p := newPlace(t)
	for name, c := range map[string]struct {
		args   []string
		stdin  string
		stdout string
		stderr string
		status int
	}{
		"version":     {[]string{"--version"}, "", "2.1.330 (claude-swarm stand-in)\n", "", 0},
		"text":        {[]string{"-p"}, "@say a\n@say b", "b\n", "", 0},
		"argument":    {[]string{"-p", "--model=sonnet", "Fix it"}, "", "Done: Fix it\n", "", 0},
		"both":        {[]string{"-p", "one", "--allowedTools", "Bash", "Edit"}, "two", "Done: two\n", "", 0},
		"bad result":  {[]string{"-p"}, "@fail no luck", "no luck\n", "", 1},
		"unknown":     {[]string{"-p", "--nosuch"}, "", "", "error: unknown option '--nosuch'\n", 1},
		"no verbose":  {[]string{"-p", "--output-format", "stream-json"}, "", "", "Error: When using --print, --output-format=stream-json requires --verbose\n", 1},
		"no output":   {[]string{"-p", "--input-format", "stream-json"}, "", "", "Error: --input-format=stream-json requires output-format=stream-json.\n", 1},
		"bad id":      {[]string{"-p", "--session-id", "x"}, "", "", "Error: Invalid session ID. Must be a valid UUID.\n", 1},
		"id and more": {[]string{"-p", "--session-id", sessA, "--continue"}, "", "", "Error: --session-id can only be used with --continue or --resume if --fork-session is also specified.\n", 1},
		"mode":        {[]string{"-p", "--permission-mode", "yolo"}, "", "", "error: option '--permission-mode <mode>' argument 'yolo' is invalid. Allowed choices are acceptEdits, auto, bypassPermissions, default, dontAsk, plan.\n", 1},
		"settings":    {[]string{"-p", "--settings", "/nope"}, "", "", "Error: Settings file not found: /nope\n", 1},
		"system file": {[]string{"-p", "--append-system-prompt-file", "/nope"}, "", "", "Error: Append system prompt file not found: /nope\n", 1},
		"mcp file":    {[]string{"-p", "--mcp-config", "/nope"}, "", "", "Error: Invalid MCP configuration:\nMCP config file not found: /nope\n", 1},
		"no prompt":   {[]string{"-p"}, "", "", "Error: Input must be provided either through stdin or as a prompt argument when using --print\n", 1},
		"no value":    {[]string{"-p", "--model"}, "", "", "error: option '--model <value>' argument missing\n", 1},
		"not JSON":    {stream, "nonsense\n", "", "Error parsing streaming input line: nonsense", 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := p.start(c.args...)
			r.stdin.Write([]byte(c.stdin))
			r.stdin.Close()
			var out strings.Builder
			if _, err := r.stdout.WriteTo(&out); err != nil {
				t.Fatal(err)
			}
			_, status := r.ended()
			if out.String() != c.stdout || !strings.HasPrefix(r.stderr.String(), c.stderr) || (c.stderr == "") != (r.stderr.Len() == 0) || status != c.status {
				t.Errorf("stdout %q, stderr %q, status %d; want %q, %q, %d", out.String(), r.stderr.String(), status, c.stdout, c.stderr, c.status)
			}
		})
	}
}

func TestPermissions(t *testing.T) {
	p := newPlace(t)
	for name, c := range map[string]struct {
		step   string
		args   []string
		denied bool
	}{
		"default":         {"@sh true", nil, false},
		"disallowed":      {"@sh true", []string{"--disallowedTools", "Bash"}, true},
		"dontAsk":         {"@write a b", []string{"--permission-mode", "dontAsk"}, true},
		"dontAsk, listed": {"@write a b", []string{"--permission-mode", "dontAsk", "--allowedTools", "Read,Write"}, false},
		"dontAsk, reads":  {"@read a", []string{"--permission-mode", "dontAsk"}, false},
		"old rule":        {"@sh git status", []string{"--permission-mode", "dontAsk", "--allowedTools", "Bash(git:*)"}, false},
		"new rule":        {"@sh git status", []string{"--permission-mode", "dontAsk", "--allowedTools", "Edit Bash(git *)"}, false},
		"longer word":     {"@sh gitk", []string{"--permission-mode", "dontAsk", "--allowedTools", "Bash(git:*)"}, true},
		"second command":  {"@sh git status; rm a", []string{"--permission-mode", "dontAsk", "--allowedTools", "Bash(git:*)"}, true},
		"exact rule":      {"@sh true", []string{"--permission-mode", "dontAsk", "--allowedTools", "Bash(true)"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			lines, _ := p.turn(c.step, c.args...)
			r := last(t, lines)
			denials, _ := r["permission_denials"].([]any)
			if got := len(denials) == 1; got != c.denied {
				t.Errorf("denied %t, want %t: %v", got, c.denied, r)
			}
		})
	}
}

// TestConverses plays a scenario as the real program does: an overload, two tools, one of
// which is not allowed, and a resumed session whose context is too long and is compacted.
func TestConverses(t *testing.T) {
	sc, err := fakeapi.Load(strings.NewReader(`{"replies":[
		{"name":"busy","status":529},
		{"name":"work","match":{"last_user_contains":"Fix the door","tool_offered":"Edit","system_contains":"You are coder"},"context_tokens":13000,
		 "content":[{"text":"I look."},
			{"tool_use":{"name":"Write","input":{"file_path":"door.txt","content":"open\n"}}},
			{"tool_use":{"name":"Bash","input":{"command":"rm -r ."}}}]},
		{"name":"end","match":{"last_is_tool_result":true},"text":"The door is open."},
		{"name":"long","match":{"last_user_contains":"Again"},"status":400,"error_message":"prompt is too long: 2 > 1"},
		{"name":"again","match":{"last_user_contains":"Again"},"text":"{{messages}} messages"}],
		"compact":{"text":"<summary>It was about a door.</summary>"}}`))
	if err != nil {
		t.Fatal(err)
	}
	api := fakeapi.New(sc, nil)
	srv := httptest.NewServer(api)
	defer srv.Close()
	p := newPlace(t)
	p.env = []string{"ANTHROPIC_BASE_URL=" + srv.URL, "ANTHROPIC_API_KEY=sk-ant-test", "CLAUDE_CODE_MAX_RETRIES=1"}
	lines, status := p.turn("Fix the door", "--session-id", sessA, "--permission-mode", "acceptEdits", "--append-system-prompt", "You are coder.")
	want := "system/init user/replay system/api_retry assistant assistant assistant user system/permission_denied user assistant result/success"
	if kinds(lines) != want || status != 0 {
		t.Fatalf("%q, %d; want %q", kinds(lines), status, want)
	}
	r := last(t, lines)
	if r.str("result") != "The door is open." || len(r["permission_denials"].([]any)) != 1 {
		t.Errorf("result %v", r)
	}
	if got, err := os.ReadFile(filepath.Join(p.dir, "door.txt")); err != nil || string(got) != "open\n" {
		t.Errorf("door.txt = %q, %v", got, err)
	}
	lines, status = p.turn("Again", "--resume", sessA)
	want = "system/init user/replay system/status system/status system/compact_boundary user assistant result/success"
	if kinds(lines) != want || status != 0 || !strings.Contains(lines[5].text(), "It was about a door.") {
		t.Errorf("%q, %d; want %q", kinds(lines), status, want)
	}
	if st := api.Stats(); st.Unused != 0 {
		t.Errorf("Stats() = %+v", st)
	}
}

func TestConverseReachesItsLimit(t *testing.T) {
	sc, err := fakeapi.Load(strings.NewReader(`{"replies":[{"times":-1,"content":[{"tool_use":{"name":"Read","input":{"file_path":"x"}}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(fakeapi.New(sc, nil))
	defer srv.Close()
	p := newPlace(t)
	p.env = []string{"ANTHROPIC_BASE_URL=" + srv.URL}
	lines, status := p.turn("Loop", "--max-turns", "2")
	if r := last(t, lines); r.kind() != "result/error_max_turns" || status != 1 || r.str("errors") != "[Reached maximum number of turns (2)]" {
		t.Errorf("%v, %d", r, status)
	}
}

func TestConverseWithoutAServer(t *testing.T) {
	srv := httptest.NewServer(nil)
	srv.Close() // the API's port is now closed
	p := newPlace(t)
	p.env = []string{"ANTHROPIC_BASE_URL=" + srv.URL, "CLAUDE_CODE_MAX_RETRIES=1"}
	lines, status := p.turn("x")
	r := last(t, lines)
	if kinds(lines) != "system/init user/replay system/api_retry assistant result/success" || status != 1 || r["api_error_status"] != nil ||
		r.str("api_error") != "connection_failed" || !strings.HasPrefix(r.str("result"), "API Error: Connection refused") {
		t.Errorf("%q, %d: %v", kinds(lines), status, r)
	}
}
