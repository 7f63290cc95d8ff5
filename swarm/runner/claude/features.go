package claude

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// The daemon detects the client's features with --help, because the client exits if it
// gets an unknown flag. It caches the answer for each program until the program's file
// changes. The program may be a wrapper script for the real client, or not a client at
// all. A program that does not answer is treated as having no features.

// A feature is a flag that only some supported versions have.
type feature string

// snapshotFlag controls whether the client uses the system prompt of a session's first turn
// for all later turns. Version 2.1.330 does so by default, so a changed system prompt would
// never reach the agent.
const snapshotFlag feature = "--system-prompt-snapshot"

// takesUp reports whether a turn continues a session, whose first turn may have had a
// different system prompt.
func takesUp(t runner.Turn) bool { return t.Session.How != runner.New }

// These are the limits for a run with --help.
const (
	helpTime  = 30 * time.Second // a real client needs less than 1 s on an idle machine
	helpBytes = 256 << 10        // a real client prints 20 KiB
	helpAgain = 10 * time.Minute // the time after which we retry a program that did not answer
)

// features caches the features of the programs. The zero value is ready to use. It is
// safe for concurrent use.
type features struct {
	time time.Duration // how long to wait for an answer; 0 means helpTime
	mu   sync.Mutex
	of   map[program]*answer
}

// A program is the command of a client and the file that the command runs.
type program struct {
	command  string
	file     string
	size     int64
	modified time.Time
}

// An answer is a program's output. The other fields can be read once done is closed.
type answer struct {
	done  chan struct{}
	help  string
	known bool      // the program answered
	cut   bool      // the turn that ran the program ended before the program's time was up
	at    time.Time // when the program answered or failed to answer
}

// has reports whether the client of a turn supports a flag. It runs the client with --help
// once, and waits for the answer until ctx is done.
func (f *features) has(ctx context.Context, t runner.Turn, flag feature) bool {
	p, path, ok := programOf(t)
	if !ok {
		return false // the program cannot be started; the turn reports that more clearly
	}
	f.mu.Lock()
	a := f.of[p]
	ask := a == nil || a.stale()
	if ask {
		if f.of == nil {
			f.of = make(map[program]*answer)
		}
		a = &answer{done: make(chan struct{})}
		f.of[p] = a
	}
	f.mu.Unlock()
	if ask {
		a.help, a.known = f.ask(ctx, t, path)
		a.at = time.Now()
		if ctx.Err() != nil {
			a.cut = true
			f.forget(p, a)
		}
		close(a.done)
	}
	select {
	case <-a.done:
		if a.cut && !a.known && ctx.Err() == nil { // the turn that ran the program is over, but this turn is not
			return f.has(ctx, t, flag)
		}
		return a.known && slices.Contains(strings.Fields(a.help), string(flag))
	case <-ctx.Done():
		return false
	}
}

func (f *features) forget(p program, a *answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of[p] == a {
		delete(f.of, p)
	}
}

// stale reports whether the program did not answer and it is time to try again.
func (a *answer) stale() bool {
	select {
	case <-a.done:
		return !a.known && time.Since(a.at) >= helpAgain
	default:
		return false
	}
}

// programOf returns the program of a turn's client. path is the file to execute.
func programOf(t runner.Turn) (p program, path string, ok bool) {
	words := command(t)
	path, err := runner.LookPath(words[0], t.Spec.Dir, t.Env)
	if err != nil {
		return p, "", false
	}
	file := path
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		file = resolved
	}
	info, err := os.Stat(file)
	if err != nil {
		return p, "", false
	}
	return program{fmt.Sprintf("%q", words), file, info.Size(), info.ModTime()}, path, true
}

// ask runs the program with --help and without input, in a separate process group that is
// killed if it takes too long or prints too much. A process that leaves the group carries
// the mark of the turn and is terminated when the turn ends.
func (f *features) ask(ctx context.Context, t runner.Turn, path string) (help string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(f.time, helpTime))
	defer cancel()
	out := &bounded{most: helpBytes, full: cancel}
	cmd := exec.CommandContext(ctx, path)
	cmd.Args = append(command(t), "--help")
	cmd.Dir, cmd.Env, cmd.Stdout = t.Spec.Dir, environment(t), out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // in case a process that has left the group keeps the output open
	err := cmd.Run()
	return out.text.String(), err == nil && out.text.Len() < out.most
}

// bounded keeps the bytes that are written to it, up to the limit most, and then calls
// full. It is not safe for concurrent use.
type bounded struct {
	text bytes.Buffer
	most int
	full func()
}

func (b *bounded) Write(p []byte) (int, error) {
	b.text.Write(p[:min(len(p), b.most-b.text.Len())])
	if b.text.Len() == b.most {
		b.full()
	}
	return len(p), nil
}
