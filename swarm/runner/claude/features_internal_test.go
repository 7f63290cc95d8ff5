package claude

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/execfile"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// asked returns a turn whose client is a script that records each start in a file.
func asked(t *testing.T, lines string) (turn runner.Turn, write func(lines string), starts func() int) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "client")
	write = func(lines string) {
		t.Helper()
		if err := execfile.Write(file+".new", []byte("#!/bin/sh\necho \"$*\" >> "+dir+"/starts\n"+lines+"\n")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	write(lines)
	starts = func() int {
		data, _ := os.ReadFile(dir + "/starts")
		for line := range strings.Lines(string(data)) {
			if line != "--help\n" {
				t.Errorf("the client was started with %q", line)
			}
		}
		return strings.Count(string(data), "\n")
	}
	turn = runner.Turn{ID: "t", Spec: runner.Spec{Dir: dir, Command: []string{file}}, Env: []string{"PATH=" + os.Getenv("PATH")}}
	return turn, write, starts
}

const knows = `echo "Options:"; echo "  --system-prompt-snapshot <on|off>  Record it"`

func TestAProgramIsAskedOnce(t *testing.T) {
	turn, write, starts := asked(t, knows)
	var f features
	for range 3 {
		if !f.has(t.Context(), turn, snapshotFlag) {
			t.Error("the flag in the help is not known")
		}
	}
	if f.has(t.Context(), turn, "--system-prompt") || starts() != 1 {
		t.Errorf("part of a flag is known, or the program was asked %d times", starts())
	}
	write(`echo "another one"`)
	if f.has(t.Context(), turn, snapshotFlag) || starts() != 2 {
		t.Errorf("a program that was replaced was asked %d times in all, want 2, or has a feature", starts())
	}
}

// Programs without a useful answer have no features. They do not delay a turn for long,
// and they leave no process behind.
func TestProgramsThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, lines := range map[string]string{
		"it hangs":             "exec sleep 600",
		"it hangs in a child":  "sleep 600",
		"it is deaf":           `trap "" INT TERM; while :; do sleep 1; done`,
		"it prints for ever":   "exec yes --system-prompt-snapshot",
		"it reads its input":   "cat; exit 1",
		"it fails":             knows + "; exit 1",
		"it says it elsewhere": "(" + knows + ") >&2",
		"nothing":              "exit 0",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn, _, starts := asked(t, lines)
			f := features{time: 300 * time.Millisecond}
			for range 2 {
				if f.has(t.Context(), turn, snapshotFlag) {
					t.Error("it has a feature")
				}
			}
			if starts() > 1 {
				t.Errorf("it was asked %d times", starts())
			}
		})
	}
	var f features
	if f.has(t.Context(), runner.Turn{Spec: runner.Spec{Command: []string{"/no/such/client"}}}, snapshotFlag) {
		t.Error("a program that is not there has a feature")
	}
}

// A turn that is stopped while it runs its client with --help does not wait for the
// answer, and the next turn runs the client again.
func TestAQuestionThatIsStopped(t *testing.T) {
	turn, _, starts := asked(t, "[ -e go ] || exec sleep 600; "+knows)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var f features
	answer := make(chan bool)
	go func() { answer <- f.has(ctx, turn, snapshotFlag) }()
	for starts() == 0 {
		time.Sleep(time.Millisecond) // the interval between checks; the test's own deadline limits their number
	}
	stop()
	if <-answer {
		t.Error("it has a feature")
	}
	if err := os.WriteFile(filepath.Join(turn.Spec.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !f.has(t.Context(), turn, snapshotFlag) || starts() != 2 {
		t.Errorf("the next turn does not ask again: asked %d times", starts())
	}
}

// A waiter is a context that reports when a goroutine begins to wait for its end.
type waiter struct {
	context.Context
	waits chan struct{}
}

func (w waiter) Done() <-chan struct{} {
	select {
	case w.waits <- struct{}{}:
	default:
	}
	return w.Context.Done()
}

// If a turn is waiting for another turn's run with --help and that other turn is stopped,
// the first turn runs the client itself.
func TestAQuestionWhoseTurnIsStopped(t *testing.T) {
	t.Parallel()
	turn, write, starts := asked(t, "exec sleep 600")
	var f features
	first, stop := context.WithCancel(t.Context())
	answers := make(chan bool, 2)
	go func() { answers <- f.has(first, turn, snapshotFlag) }()
	for starts() == 0 {
		time.Sleep(time.Millisecond) // the interval between checks; the test's own deadline limits their number
	}
	second := waiter{t.Context(), make(chan struct{}, 1)}
	go func() { answers <- f.has(second, turn, snapshotFlag) }()
	<-second.waits
	write(knows)
	stop()
	if one, two := <-answers, <-answers; one == two {
		t.Errorf("the stopped turn and the other one both got %t", one)
	}
}
