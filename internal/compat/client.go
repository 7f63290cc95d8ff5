package compat

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/fakeapi"
)

// patience is the maximum duration of each wait in an experiment. On an idle machine, a
// wait takes a second or two.
const patience = 60 * time.Second

// A lab is the environment of one experiment: a home folder, a project folder and a
// scripted API. A lab is used by only one goroutine.
type lab struct {
	ctx     context.Context // ends every wait; a lab lives for one call of Run
	version string
	command []string // the client's program and the arguments that come before all others
	server  []string // the command of an MCP server that calls [ServeEcho]
	base    string
	dir     string // the client's working folder
	home    string
	env     []string // additional variables, which override earlier ones with the same name
	noKey   bool     // do not set an API key, as if the person had logged in instead
	api     *fakeapi.Server
	url     string
	running []*client
	shape   strings.Builder // see [lab.sees] and [lab.told]
	end     func()
}

// newLab creates the folders and starts the API with a scenario that answers "Done." to
// everything. The caller must close the lab.
func newLab(ctx context.Context, version string, o Options) (*lab, error) {
	base, err := os.MkdirTemp(folder(), "compat")
	if err != nil {
		return nil, err
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return nil, err
	}
	l := &lab{
		ctx: ctx, version: version, command: o.Command, server: o.Server,
		base: base, dir: filepath.Join(base, "project"), home: filepath.Join(base, "home"),
	}
	for _, d := range []string{l.dir, l.home, filepath.Join(base, "run")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, errors.Join(err, os.RemoveAll(base))
		}
	}
	l.api = fakeapi.New(&fakeapi.Scenario{}, nil)
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	url, wait, err := fakeapi.Listen(serving, "127.0.0.1:0", l.api)
	if err != nil {
		cancel()
		return nil, errors.Join(err, os.RemoveAll(base))
	}
	l.url = url
	l.end = func() {
		cancel()
		wait()
	}
	return l, l.script(rest)
}

// folder returns the folder for the labs. The clients create sockets below it, whose paths
// must be short.
func folder() string {
	if _, err := os.Stat("/tmp"); err == nil {
		return "/tmp"
	}
	return os.TempDir()
}

// close terminates the running programs, shuts down the API, and removes the folders. The
// commands of the experiments end by themselves when the folders are gone.
func (l *lab) close() error {
	for _, c := range l.running {
		syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) // it leads a process group
		<-c.ended
	}
	l.end()
	// A command that was killed just now may still create a file.
	err := os.RemoveAll(l.base)
	for range 20 {
		if err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
		err = os.RemoveAll(l.base)
	}
	return err
}

// run runs the client's program with only the given arguments, and returns its output.
func (l *lab) run(args ...string) (out []byte, err error) {
	cmd := exec.CommandContext(l.ctx, l.command[0], append(slices.Clone(l.command[1:]), args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = l.dir, l.environ(), time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd.Output()
}

// script replaces the API's replies, which are JSON objects; see internal/fakeapi.
func (l *lab) script(replies ...string) error {
	sc, err := fakeapi.Load(strings.NewReader(`{"replies":[` + strings.Join(replies, ",") + `],"compact":{"name":"summary","text":"<summary>They worked.</summary>"}}`))
	if err == nil {
		l.api.SetScenario(sc)
	}
	return err
}

// asked returns the main requests that the model has received so far. It leaves out the
// small requests that the client makes for its own purposes.
func (l *lab) asked() []fakeapi.Request {
	var all []fakeapi.Request
	for _, r := range l.api.Requests() {
		if r.Kind == fakeapi.Main {
			all = append(all, r)
		}
	}
	return all
}

// write writes a file below the lab's folder and returns its path.
func (l *lab) write(name, text string) (string, error) {
	path := filepath.Join(l.base, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, []byte(text), 0o755)
}

func (l *lab) environ() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + l.home, "XDG_RUNTIME_DIR=" + filepath.Join(l.base, "run"), "TMPDIR=" + l.base,
		"LANG=C.UTF-8", "TZ=UTC", "IS_SANDBOX=1", "ANTHROPIC_BASE_URL=" + l.url,
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"CLAUDE_CODE_MAX_RETRIES=0",
	}
	if !l.noKey {
		env = append(env, "ANTHROPIC_API_KEY=sk-ant-test-0000")
	}
	return append(env, l.env...)
}

// model is the model that the clients are told to use.
const model = "claude-sonnet-4-6"

// A line is one line of the client's output.
type line map[string]any

func (n line) is(kind, subtype string) bool {
	return n["type"] == kind && (subtype == "" || n["subtype"] == subtype)
}

func (n line) text(key string) string { s, _ := n[key].(string); return s }

// A client is a Claude Code process.
type client struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	ctx   context.Context // the lab's
	ended chan struct{}
	err   error // how the client ended

	mu     sync.Mutex
	lines  []line
	stderr bytes.Buffer
}

// start starts a client the way claude-swarm does, with additional flags. The client's
// standard input stays open.
func (l *lab) start(flags ...string) (*client, error) {
	if err := l.ctx.Err(); err != nil {
		return nil, err
	}
	c := &client{ended: make(chan struct{}), ctx: l.ctx}
	c.cmd = exec.Command(l.command[0], append(append(slices.Clone(l.command[1:]),
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--replay-user-messages",
		"--strict-mcp-config", "--model", model,
	), flags...)...)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches this program alone
	c.cmd.Dir, c.cmd.Env, c.cmd.Stderr = l.dir, l.environ(), &c.stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	c.in = in
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	l.running = append(l.running, c)
	go func() { // this goroutine ends when the client's output ends; close waits for it
		defer close(c.ended)
		r := bufio.NewReader(out)
		for {
			data, err := r.ReadBytes('\n')
			var n line
			if json.Unmarshal(data, &n) == nil {
				c.mu.Lock()
				c.lines = append(c.lines, n)
				c.mu.Unlock()
			}
			if err != nil {
				break
			}
		}
		c.err = c.cmd.Wait()
	}()
	return c, nil
}

// say sends the client a prompt.
func (c *client) say(uuid, text string) error {
	return c.put(map[string]any{"type": "user", "uuid": uuid, "message": map[string]any{"role": "user", "content": text}})
}

// control sends the client a control request.
func (c *client) control(id string, request map[string]any) error {
	return c.put(map[string]any{"type": "control_request", "request_id": id, "request": request})
}

func (c *client) put(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err = c.in.Write(append(data, '\n')); err == nil {
		return nil
	}
	// The cause is that the client has closed its input, and most likely that it has ended.
	select {
	case <-c.ended:
		return fmt.Errorf("the client ended before it had read its input: %s", c.complaint())
	case <-c.ctx.Done():
		return c.ctx.Err()
	case <-time.After(5 * time.Second): // a client that has ended is reaped at once
		return err
	}
}

// all returns the lines received so far that have the given type and subtype; subtype ""
// means any subtype.
func (c *client) all(kind, subtype string) []line {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []line
	for _, n := range c.lines {
		if n.is(kind, subtype) {
			found = append(found, n)
		}
	}
	return found
}

// await waits for the nth line, counted from 1, with the given type and subtype.
func (c *client) await(n int, kind, subtype string) (line, error) {
	var found []line
	err := until(c.ctx, fmt.Sprintf("line %d of type %s %s", n, kind, subtype), func() bool {
		found = c.all(kind, subtype)
		return len(found) >= n
	}, c.ended)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, c.complaint())
	}
	return found[n-1], nil
}

// finish closes the client's input and waits for the client to end. code is its exit
// status.
func (c *client) finish() (code int, err error) {
	c.in.Close()
	select {
	case <-c.ended:
		return c.cmd.ProcessState.ExitCode(), nil
	case <-c.ctx.Done():
		return 0, c.ctx.Err()
	case <-time.After(patience):
		return 0, errors.New("the client did not end")
	}
}

// complaint returns the standard error of a client that has ended.
func (c *client) complaint() string {
	select {
	case <-c.ended:
		return strings.TrimSpace(c.stderr.String())
	default:
		return "it is still running"
	}
}

// turn runs a complete turn with one prompt in a separate client, and returns its result.
func (l *lab) turn(uuid, text string, flags ...string) (line, error) {
	c, err := l.start(flags...)
	if err != nil {
		return nil, err
	}
	if err := c.say(uuid, text); err != nil {
		return nil, err
	}
	c.in.Close()
	r, err := c.await(1, "result", "")
	if err != nil {
		return nil, err
	}
	_, err = c.finish()
	return r, err
}

// until waits for a condition to become true. If gone is not nil, closing it ends the
// wait early.
func until(ctx context.Context, what string, ok func() bool, gone <-chan struct{}) error {
	deadline := time.Now().Add(patience)
	for !ok() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-gone:
			if ok() {
				return nil
			}
			return fmt.Errorf("the client ended without %s", what)
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not within %v: %s", patience, what)
		}
	}
	return nil
}
