package backends_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/acptest"
	"github.com/claude-swarm/claude-swarm/internal/testkit/models"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// live is a backend with its real client and a new home folder.
type live struct {
	t       *testing.T
	backend runner.Backend
	home    *acptest.Home
	model   *models.Server
	files   string // the folder that contains the turns' files
	turns   int
	allow   bool // the answer to every permission request from the client

	mu    sync.Mutex
	asked []runner.PermissionRequest
}

func newLive(t *testing.T, c acptest.Client) *live {
	t.Helper()
	dir, err := os.MkdirTemp("", "live")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the files are in %s", dir)
			return
		}
		os.RemoveAll(dir)
	})
	l := &live{t: t, backend: backends.New()[c.Name], model: &models.Server{}, files: filepath.Join(dir, "files"), allow: true}
	if l.backend == nil {
		t.Fatalf("no backend is called %s", c.Name)
	}
	web := httptest.NewServer(l.model)
	t.Cleanup(web.Close)
	if l.home, err = acptest.Prepare(c, repository, dir, web.URL); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(l.files, 0o700); err != nil {
		t.Fatal(err)
	}
	makeProject := exec.Command(program, "init", "--agent", "coder")
	makeProject.Dir, makeProject.Env = l.home.Work, l.home.Env
	if out, err := makeProject.CombinedOutput(); err != nil {
		t.Fatalf("claude-swarm init: %v\n%s", err, out)
	}
	if err := os.MkdirAll(filepath.Dir(journal.HomeOf(l.home.Work).TurnFile("x", ".json")), 0o700); err != nil {
		t.Fatal(err)
	}
	return l
}

// turn returns a turn whose prompt is a script for the model.
func (l *live) turn(script string, s runner.Session) runner.Turn {
	l.turns++
	id := journal.TurnID(dropbox.NewID(), 0, 1)
	file := func(name string) string { return filepath.Join(l.files, fmt.Sprintf("%d-%s", l.turns, name)) }
	base := slices.Concat(l.home.Env, []string{"PATH=" + filepath.Dir(l.home.Program) + ":" + os.Getenv("PATH")})
	// Our tools accept calls only from a turn that is recorded in the project.
	record := journal.Record{Turn: id, Agent: "coder", Backend: l.home.Client.Name, Tools: true, Begun: time.Now()}
	if err := record.WriteVolatile(journal.HomeOf(l.home.Work)); err != nil {
		l.t.Fatal(err)
	}
	l.mu.Lock()
	l.asked = nil
	l.mu.Unlock()
	return runner.Turn{
		ID: id, Agent: "coder", UUID: runnertest.NewUUID(), Prompt: script, Session: s,
		Spec:  runner.Spec{Dir: l.home.Work, Model: l.home.Model, PermissionMode: l.backend.Kind().Mode, Timeout: 4 * time.Minute},
		Env:   runner.Environ(base, runner.EnvOptions{Agent: "coder", Dir: l.home.Work, TurnID: id}),
		Tools: &runner.Server{Command: program, Args: []string{"mcp"}},
		Files: runner.Files{
			Stdout: file("stdout"), Stderr: file("stderr"), Settings: file("settings"), System: file("system"),
			Servers: file("servers"), Ready: file("ready"),
		},
		Permit: l.permit,
	}
}

func (l *live) permit(_ context.Context, r runner.PermissionRequest) runner.Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, r)
	return runner.Decision{Request: r, Allowed: l.allow, Rule: "test", At: time.Now()}
}

// run runs a script until it ends. It returns an error if a process is still running
// afterwards.
func (l *live) run(script string, s runner.Session) (runner.Outcome, error) {
	return l.runUntil(l.t.Context(), l.turn(script, s))
}

func (l *live) runUntil(ctx context.Context, turn runner.Turn) (runner.Outcome, error) {
	out := l.backend.Run(ctx, turn)
	if left := runner.Leftovers(turn.Mark()); len(left) > 0 {
		return out, fmt.Errorf("the turn left %v", left)
	}
	return out, nil
}

// good runs a script and fails the test unless the turn succeeds.
func (l *live) good(script string, s runner.Session) (runner.Outcome, error) {
	out, err := l.run(script, s)
	if err == nil && out.End != runner.Done {
		err = fmt.Errorf("%q ended %s: %s (%s)", script, out.End, out.Reason, out.Text)
	}
	return out, err
}

// ends runs a script and fails the test unless the turn ends with want.
func (l *live) ends(script string, s runner.Session, want runner.End) (runner.Outcome, error) {
	out, err := l.run(script, s)
	if err == nil && out.End != want {
		err = fmt.Errorf("%q ended %s (%s, %q), want %s", script, out.End, out.Reason, out.Text, want)
	}
	return out, err
}

func newSession() runner.Session { return runner.Session{ID: runnertest.NewUUID(), How: runner.New} }

func resumed(out runner.Outcome) runner.Session {
	return runner.Session{ID: out.Session, How: runner.Resume}
}

// sent reports whether the newest request with tools contains the given text.
func (l *live) sent(text string) bool {
	for _, r := range slices.Backward(l.model.Requests()) {
		if !r.Side {
			return strings.Contains(string(r.Body), text)
		}
	}
	return false
}

// until waits for the client to make a condition true. The limit is so long that it ends
// only a client that makes no progress at all.
func (l *live) until(what string, ok func() bool) error {
	for range 12_000 {
		if ok() {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New(what + " did not come within 10 minutes")
}
