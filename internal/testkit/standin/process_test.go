package standin_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	uuidA = "0d2f9a52-6a0e-5d0f-9d53-00000000000a"
	uuidB = "0d2f9a52-6a0e-5d0f-9d53-00000000000b"
	sessA = "11111111-1111-4111-8111-11111111111a"
)

func TestSessions(t *testing.T) {
	p := newPlace(t)
	if lines, status := p.turn("x", "--resume", sessA); status != 1 || kinds(lines) != "result/error_during_execution" ||
		lines[0].str("errors") != "[No conversation found with session ID: "+sessA+"]" {
		t.Fatalf("resume of nothing: %v, %d", lines, status)
	}
	r := p.start(append(stream, "--session-id", sessA)...)
	r.send(uuidA, "@say one")
	lines, status := r.end()
	if status != 0 || last(t, lines).str("session_id") != sessA {
		t.Fatalf("first turn: %v, %d", lines, status)
	}

	r = p.start(append(stream, "--session-id", sessA)...)
	if lines, status := r.end(); status != 1 || len(lines) != 0 || r.stderr.String() != "Error: Session ID "+sessA+" is already in use.\n" {
		t.Errorf("in use: %v, %d, %q", lines, status, r.stderr.String())
	}

	r = p.start(append(stream, "--resume", sessA)...)
	r.send(uuidA, "@say one")
	r.send(uuidB, "@say two")
	if lines, status := r.end(); status != 0 || kinds(lines) != "user/replay system/init user/replay assistant result/success" ||
		lines[0].str("uuid") != uuidA || lines[2].str("uuid") != uuidB {
		t.Errorf("known uuid: %q, %d", kinds(lines), status)
	}
	if lines, _ := p.turn("x", "--continue"); last(t, lines).str("session_id") != sessA {
		t.Errorf("--continue ran in %s", last(t, lines).str("session_id"))
	}

	other := &place{t: t, home: p.home, dir: t.TempDir()}
	if _, status := other.turn("x", "--resume", sessA); status != 1 {
		t.Errorf("resume from another folder: exit %d", status)
	}
}

// TestKilledTurnKeepsItsSession checks that as soon as a turn has begun, its session can
// be resumed and contains the uuid.
func TestKilledTurnKeepsItsSession(t *testing.T) {
	p := newPlace(t)
	r := p.start(append(stream, "--session-id", sessA)...)
	r.send(uuidA, "@say on\n@die")
	if lines, status := r.ended(); status != -int(syscall.SIGKILL) || kinds(lines) != "system/init user/replay assistant" {
		t.Fatalf("%q, %d", kinds(lines), status)
	}
	r = p.start(append(stream, "--resume", sessA)...)
	r.send(uuidA, "again")
	if lines, status := r.end(); status != 0 || kinds(lines) != "user/replay" {
		t.Errorf("%q, %d", kinds(lines), status)
	}
}

func TestInterrupt(t *testing.T) {
	for name, c := range map[string]struct {
		prompt, kinds, terminal string
	}{
		"tool":    {"@sh sleep 60", "assistant control_response user user result/error_during_execution", "aborted_tools"},
		"silence": {"@say on\n@sleep 60", "assistant control_response user result/error_during_execution", "aborted_streaming"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			r := p.start(stream...)
			r.send(uuidA, c.prompt)
			lines := r.until("assistant")[2:]
			fmt.Fprintln(r.stdin, `{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}`)
			lines = append(lines, r.until("result/error_during_execution")...)
			if kinds(lines) != c.kinds {
				t.Errorf("lines %q, want %q", kinds(lines), c.kinds)
			}
			if got := last(t, lines).str("terminal_reason"); got != c.terminal {
				t.Errorf("terminal_reason %q, want %q", got, c.terminal)
			}
			r.send(uuidB, "@say still here")
			r.until("result/success")
			if _, status := r.end(); status != 0 {
				t.Errorf("status %d", status)
			}
		})
	}
}

// TestInterruptBeforeTheTurn checks that an interrupt directly after the prompt is not
// lost.
func TestInterruptBeforeTheTurn(t *testing.T) {
	r := newPlace(t).start(stream...)
	fmt.Fprintln(r.stdin, `{"type":"user","message":{"role":"user","content":"@sleep 60"}}`+"\n"+
		`{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}`)
	if _, status := r.end(); status != 1 {
		t.Errorf("status %d, want 1 after an interrupted turn", status)
	}
}

func TestSignals(t *testing.T) {
	for name, c := range map[string]struct {
		prompt string
		signal syscall.Signal
		status int
		last   string
	}{
		"SIGINT in a tool":  {"@sh sleep 60", syscall.SIGINT, 0, "result/error_during_execution"},
		"SIGTERM in a tool": {"@sh sleep 0.2", syscall.SIGTERM, 143, "assistant"},
		"SIGHUP in silence": {"@say a\n@sleep 60", syscall.SIGHUP, 129, "assistant"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newPlace(t).start(stream...)
			r.send(uuidA, c.prompt)
			lines := r.until("assistant")
			r.cmd.Process.Signal(c.signal)
			rest, status := r.ended()
			if got := last(t, append(lines, rest...)).kind(); got != c.last || status != c.status {
				t.Errorf("last line %s, status %d; want %s, %d", got, status, c.last, c.status)
			}
		})
	}
}

func TestIdleSIGINT(t *testing.T) {
	r := newPlace(t).start(stream...)
	r.send("", "hello")
	r.until("result/success")
	r.cmd.Process.Signal(syscall.SIGINT)
	if _, status := r.ended(); status != 0 {
		t.Errorf("status %d", status)
	}
}

// TestSteering checks that a prompt that arrives while a tool is running becomes part of
// the turn.
func TestSteering(t *testing.T) {
	p := newPlace(t)
	flag := filepath.Join(p.dir, "go-on")
	r := p.start(stream...)
	r.send(uuidA, "@sh while ! test -e go-on; do sleep 0.01; done\n@say first")
	r.until("assistant")
	r.send(uuidB, "@say steered")
	// The answer to a control request proves that the line before it has been read.
	fmt.Fprintln(r.stdin, `{"type":"control_request","request_id":"r1","request":{"subtype":"initialize"}}`)
	r.until("control_response")
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lines, status := r.end()
	if want := "user user/replay assistant assistant result/success"; kinds(lines) != want || status != 0 {
		t.Errorf("%q, %d; want %q", kinds(lines), status, want)
	}
	if got := last(t, lines).str("result"); got != "steered" {
		t.Errorf("result %q", got)
	}
}

// TestQueuedPromptsAreOneTurn checks that prompts that arrive during the assistant's text
// are combined into one separate turn.
func TestQueuedPromptsAreOneTurn(t *testing.T) {
	var r *run
	inTime := false
	for d := 100 * time.Millisecond; !inTime; d *= 2 { // a busy machine needs more time to send two prompts
		r = newPlace(t).start(stream...)
		r.send("", fmt.Sprintf("@say a\n@tick %v 20ms", d))
		r.until("assistant")
		r.send(uuidA, "first")
		r.send(uuidB, "second")
		// The answer to a control request proves that the lines before it have been read.
		fmt.Fprintln(r.stdin, `{"type":"control_request","request_id":"r1","request":{"subtype":"initialize"}}`)
		inTime = !strings.Contains(kinds(r.until("control_response")), "result/success")
	}
	r.until("result/success")
	lines, status := r.end()
	if want := "user/replay system/init user/replay assistant result/success"; kinds(lines) != want || status != 0 {
		t.Fatalf("%q, %d; want %q", kinds(lines), status, want)
	}
	if got := lines[2].str("message", "content"); lines[2].str("uuid") != uuidB || got != "first\nsecond" {
		t.Errorf("replayed as %q %q", lines[2].str("uuid"), got)
	}
}

func TestEnds(t *testing.T) {
	for prompt, want := range map[string]struct {
		status int
		last   string
	}{
		"@fail no luck":             {1, "result/success"},
		"@status 401":               {1, "result/success"},
		"@status 429 retry-after 9": {1, "result/success"},
		"@exit 7":                   {7, "user/replay"},
		"@noresult":                 {0, "user/replay"},
		"@linger 100ms\n@say x":     {0, "result/success"},
		"@sleep soon":               {2, "user/replay"},
		"@closeout":                 {1, "user/replay"},
	} {
		t.Run(prompt, func(t *testing.T) {
			r := newPlace(t).start(stream...)
			r.send("", prompt)
			lines := r.until("user/replay")
			if prompt == "@closeout" {
				if rest, err := r.stdout.ReadByte(); err == nil {
					t.Errorf("more output: %q", rest)
				}
				fmt.Fprintln(r.stdin, `{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}`)
			}
			rest, status := r.end()
			if got := last(t, append(lines, rest...)).kind(); got != want.last || status != want.status {
				t.Errorf("last line %s, status %d; want %s, %d", got, status, want.last, want.status)
			}
		})
	}
}

// TestMisbehaviours checks that each misbehavior prints the right lines and ends
// correctly at the end of its input.
func TestMisbehaviours(t *testing.T) {
	for prompt, want := range map[string]struct {
		kinds  string
		status int
	}{
		"@unborn":                            {"", 1},
		"@say one\n@again two\n@again three": {"system/init user/replay assistant result/success system/init assistant result/success system/init assistant result/success", 0},
		"@noise 100000\n@say ready":          {"system/init user/replay assistant result/success", 0},
		"@limited 1h":                        {"system/init user/replay rate_limit_event assistant result/success", 1},
		"@first exit 3\n@say ready":          {"system/init user/replay", 3},
		"@first exit 3\n@say ready\nThis was begun before and cut off at noon.": {"system/init user/replay assistant result/success", 0},
	} {
		t.Run(prompt, func(t *testing.T) {
			p := newPlace(t)
			lines, status := p.turn(prompt)
			if kinds(lines) != want.kinds || status != want.status {
				t.Errorf("%q, %d; want %q, %d", kinds(lines), status, want.kinds, want.status)
			}
		})
	}
	for prompt, want := range map[string]string{
		"@pending Bash sleep": "user/replay assistant user result/error_during_execution",
		"@flood":              "user/replay assistant assistant",
	} {
		t.Run(prompt, func(t *testing.T) {
			r := newPlace(t).start(stream...)
			r.send("", prompt)
			lines := r.until("assistant")
			if prompt == "@flood" {
				lines = append(lines, r.until("assistant")...)
			}
			fmt.Fprintln(r.stdin, `{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}`)
			rest, _ := r.end()
			if got := kinds(append(lines, rest...)); !strings.Contains(strings.ReplaceAll(got, "control_response ", ""), want) {
				t.Errorf("%.300q, want …%s…", got, want)
			}
		})
	}
}

func TestDeaf(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, prompt := range []string{"@hang", "@spin", "@deaf\n@sleep 10m"} {
		t.Run(prompt, func(t *testing.T) {
			p := newPlace(t)
			log := filepath.Join(t.TempDir(), "log")
			p.env = []string{"STANDIN_LOG=" + log}
			r := p.start(stream...)
			r.send("", prompt)
			waitFor(t, "the log to say that it is deaf", func() bool {
				data, err := os.ReadFile(log)
				return err == nil && strings.Contains(string(data), "\ndeaf - ")
			})
			fmt.Fprintln(r.stdin, `{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}`)
			r.stdin.Close()
			r.cmd.Process.Signal(syscall.SIGINT)
			r.cmd.Process.Signal(syscall.SIGTERM)
			kill := time.AfterFunc(200*time.Millisecond, func() { r.cmd.Process.Kill() })
			defer kill.Stop()
			if lines, status := r.ended(); status != -int(syscall.SIGKILL) || kinds(lines) != "system/init user/replay" {
				t.Errorf("%q, %d", kinds(lines), status)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	p := newPlace(t)
	log := filepath.Join(t.TempDir(), "log")
	p.env = []string{"STANDIN_LOG=" + log, "CLAUDE_SWARM_AGENT=coder", "STANDIN_NOREPLAY=1", "STANDIN_DELAY=10ms"}
	r := p.start(stream...)
	r.send(uuidA, "--- aaaaaaaaaaaaaaaa ---\nFix it\n--- aaaaaaaaaaaaaaaa ---\nDo this.")
	lines, _ := r.end()
	if want := "system/init assistant result/success"; kinds(lines) != want {
		t.Errorf("%q, want %q", kinds(lines), want)
	}
	got, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("begin coder %[1]s %[2]d Fix it\nend coder %[1]s %[2]d Fix it\n", uuidA, r.cmd.Process.Pid)
	if string(got) != want {
		t.Errorf("log %q, want %q", got, want)
	}

	p.env = []string{"STANDIN_UNBORN=1"}
	r = p.start(stream...)
	if lines, status := r.end(); len(lines) != 0 || status != 1 || r.stderr.Len() == 0 {
		t.Errorf("unborn: %v, %d, %q", lines, status, r.stderr.String())
	}
	p.env = []string{"STANDIN_SILENT=1"}
	if lines, status := p.turn("@write done.txt yes"); len(lines) != 0 || status != 0 {
		t.Errorf("silent: %v, %d", lines, status)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "done.txt")); err != nil {
		t.Error(err)
	}
}
