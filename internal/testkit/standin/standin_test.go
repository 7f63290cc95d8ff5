package standin_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/standin"
)

// TestMain runs the test binary as the stand-in if a test has started it for this
// purpose.
func TestMain(m *testing.M) {
	if os.Getenv("CLAUDE_SWARM_STANDIN") == "1" {
		os.Exit(standin.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// patience is the longest that a test waits for a process; no step takes that long.
const patience = 2 * time.Minute

// stream contains the flags that the daemon uses for a turn.
var stream = []string{
	"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--replay-user-messages",
}

// A place is a project with a separate home folder.
type place struct {
	t    *testing.T
	home string
	dir  string
	env  []string // added to the environment of every process
}

func newPlace(t *testing.T) *place {
	t.Helper()
	return &place{t: t, home: t.TempDir(), dir: t.TempDir()}
}

// A run is one process of the stand-in.
type run struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr bytes.Buffer
	pipe   *os.File // what stdout reads from
	whole  bool     // lines also include those about the state of a prompt
}

// start starts the stand-in. If the process is still running at the end of the test, it
// is killed.
func (p *place) start(args ...string) *run {
	p.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	r := &run{t: p.t, cmd: exec.Command(exe, args...)}
	r.cmd.Dir = p.dir
	r.cmd.Env = append([]string{
		"CLAUDE_SWARM_STANDIN=1", "HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"GORACE=atexit_sleep_ms=0", // otherwise, each process of a race build waits one second before it exits
	}, p.env...)
	r.cmd.Stderr = &r.stderr
	if r.stdin, err = r.cmd.StdinPipe(); err != nil {
		p.t.Fatal(err)
	}
	// The test makes this pipe, because Wait would close the pipe of os/exec before it is
	// read.
	out, in, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	r.cmd.Stdout, r.stdout, r.pipe = in, bufio.NewReader(out), out
	if err := r.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	in.Close()
	stuck := time.AfterFunc(patience, func() { r.cmd.Process.Kill() })
	p.t.Cleanup(func() {
		stuck.Stop()
		r.stdin.Close()
		if r.cmd.ProcessState == nil {
			r.cmd.Process.Kill()
			r.cmd.Wait()
		}
		out.Close()
	})
	return r
}

// userLine returns a line with a prompt and the uuid, or without one if it is "".
func userLine(t *testing.T, uuid, text string) []byte {
	t.Helper()
	line, err := json.Marshal(map[string]any{
		"type": "user", "uuid": uuid, "message": map[string]any{"role": "user", "content": text},
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(line, '\n')
}

// send writes a user line with the uuid, or without one if it is "".
func (r *run) send(uuid, text string) {
	r.t.Helper()
	if _, err := r.stdin.Write(userLine(r.t, uuid, text)); err != nil && !errors.Is(err, syscall.EPIPE) { // EPIPE means that the process has ended, which the test itself checks
		r.t.Fatal(err)
	}
}

type line map[string]any

// kind returns the type and the subtype of a line, with a mark if the line echoes a
// prompt.
func (l line) kind() string {
	k, _ := l["type"].(string)
	if sub, ok := l["subtype"].(string); ok {
		k += "/" + sub
	}
	if replay, _ := l["isReplay"].(bool); replay {
		k += "/replay"
	}
	return k
}

func (l line) str(path ...string) string {
	var at any = map[string]any(l)
	for _, key := range path {
		m, _ := at.(map[string]any)
		at = m[key]
	}
	if at == nil {
		return ""
	}
	return fmt.Sprint(at)
}

// text returns the text of the first block of a message.
func (l line) text() string {
	m, _ := l["message"].(map[string]any)
	blocks, _ := m["content"].([]any)
	if len(blocks) == 0 {
		return ""
	}
	b, _ := blocks[0].(map[string]any)
	for _, key := range []string{"text", "content", "thinking"} {
		if s, ok := b[key].(string); ok {
			return s
		}
	}
	return ""
}

// until reads lines up to and including one of the given kind, and returns all of them.
func (r *run) until(kind string) []line {
	r.t.Helper()
	var all []line
	for {
		raw, err := r.stdout.ReadBytes('\n')
		if err != nil {
			r.t.Fatalf("no %s line: %v after %d lines; stderr %q", kind, err, len(all), r.stderr.String())
		}
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			l = line{"type": "rubbish"}
		}
		if r.shows(l) {
			all = append(all, l)
		}
		if l.kind() == kind {
			return all
		}
	}
}

// shows reports whether a line is relevant to the test.
func (r *run) shows(l line) bool { return r.whole || !l.state() }

// state reports whether a line is about the state of a prompt.
func (l line) state() bool { return l.kind() == "command_lifecycle" }

func linesOf(output []byte) (lines []line) {
	for raw := range bytes.Lines(output) {
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			l = line{"type": "rubbish"}
		}
		lines = append(lines, l)
	}
	return lines
}

// end closes stdin, reads the remaining lines and returns the exit status. After a signal,
// the status is the negated signal number.
func (r *run) end() (rest []line, status int) {
	r.t.Helper()
	r.stdin.Close()
	return r.ended()
}

func (r *run) ended() (rest []line, status int) {
	r.t.Helper()
	data, err := io.ReadAll(r.stdout)
	if err != nil {
		r.t.Fatal(err)
	}
	rest = slices.DeleteFunc(linesOf(data), func(l line) bool { return !r.shows(l) })
	err = r.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if ws := exit.Sys().(syscall.WaitStatus); ws.Signaled() {
			return rest, -int(ws.Signal())
		}
		return rest, exit.ExitCode()
	} else if err != nil {
		r.t.Fatal(err)
	}
	return rest, 0
}

// here runs the stand-in in the process of the test, which takes a tenth of the time that
// a process takes. It returns everything that the stand-in prints to stdout. The test must
// neither send signals nor leave a command running.
func (p *place) here(stdin io.Reader, stderr io.Writer, args ...string) (output []byte, status int) {
	p.t.Helper()
	back, err := os.Getwd()
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Chdir(p.dir)
	defer p.t.Chdir(back)
	env := append([]string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}, p.env...)
	out, in := io.Pipe()
	go func() { // ends when the stand-in returns; until then, the test reads its output
		status = standin.Main(args, env, stdin, in, stderr)
		in.Close()
	}()
	if output, err = io.ReadAll(out); err != nil {
		p.t.Fatal(err)
	}
	return output, status
}

// turn runs the stand-in with one prompt until it ends.
func (p *place) turn(prompt string, args ...string) (lines []line, status int) {
	p.t.Helper()
	output, status := p.here(bytes.NewReader(userLine(p.t, "", prompt)), io.Discard, slices.Concat(stream, args)...)
	return slices.DeleteFunc(linesOf(output), line.state), status
}

// output returns what the stand-in prints if it gets no input.
func (p *place) output(args ...string) string {
	p.t.Helper()
	var refusal bytes.Buffer
	out, _ := p.here(strings.NewReader(""), &refusal, args...) // the status is ignored, because the test also checks refusals
	return string(out) + refusal.String()
}

func kinds(lines []line) string {
	var ks []string
	for _, l := range lines {
		ks = append(ks, l.kind())
	}
	return strings.Join(ks, " ")
}

func last(t *testing.T, lines []line) line {
	t.Helper()
	if len(lines) == 0 {
		t.Fatal("no line at all")
	}
	return lines[len(lines)-1]
}

// waitFor waits until ok returns true.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", patience, what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

func TestPlainTurn(t *testing.T) {
	p := newPlace(t)
	lines, status := p.turn("claude-swarm: turn for coder\n\n--- abcdefghijklmnop ---\nFix the\ndoor\n--- abcdefghijklmnop ---\n\nDo this one task.")
	if want := "system/init user/replay assistant result/success"; kinds(lines) != want || status != 0 {
		t.Fatalf("lines %q, status %d; want %q, 0", kinds(lines), status, want)
	}
	if got := last(t, lines).str("result"); got != "Done: Fix the" {
		t.Errorf("result = %q", got)
	}
}

func TestScript(t *testing.T) {
	p := newPlace(t)
	lines, status := p.turn(strings.Join([]string{
		"@think hm", "@say one\\ntwo", "@sh echo out; echo err >&2", "@sh exit 3", "@write sub/a.txt hello world",
		"@edit sub/a.txt hello => bye", "@read sub/a.txt", "@deny Write b.txt", "@unknown", "@rubbish", "@model sonnet", "@context 5000",
		"@cost 0.05", "@big 5000", "@nobody is a verb", "@say end",
	}, "\n"))
	want := "system/init user/replay system/thinking_tokens assistant assistant assistant user assistant user assistant user " +
		"assistant user assistant user assistant system/permission_denied user weather_report rubbish assistant assistant result/success"
	if kinds(lines) != want || status != 0 {
		t.Fatalf("status %d, lines\n%s\nwant\n%s", status, kinds(lines), want)
	}
	for i, want := range map[int]string{
		3: "hm", 4: "one\ntwo", 6: "out\nerr", 8: "Exit code 3", 14: "1\tbye world",
		17: "Claude requested permissions to write to " + filepath.Join(real(t, p.dir), "b.txt") + ", but you haven't granted it yet.",
	} {
		if got := strings.TrimRight(lines[i].text(), "\n2\t"); got != want {
			t.Errorf("line %d: text %q, want %q", i, got, want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(p.dir, "sub/a.txt")); err != nil || string(got) != "bye world\n" {
		t.Errorf("a.txt = %q, %v", got, err)
	}
	r := last(t, lines)
	if r.str("result") != "end" || r.str("total_cost_usd") != "0.05" {
		t.Errorf("result %q cost %s", r.str("result"), r.str("total_cost_usd"))
	}
	if n := len(r["permission_denials"].([]any)); n != 1 {
		t.Errorf("%d denials", n)
	}
	said := lines[len(lines)-2]
	if said.str("message", "model") != "claude-sonnet-5-5" || said.str("message", "usage", "cache_read_input_tokens") != "4990" {
		t.Errorf("last assistant line: %v", said)
	}
}

// real returns dir with symbolic links resolved, as in the working directory that a
// process reports.
func real(t *testing.T, dir string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
