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

// The daemon finds the client's features with --help, because an unknown flag ends the
// client. It keeps the answer for each program until the program's file changes. The
// program may be a script around the real client, or not a client at all. A program that
// does not answer is treated as having no features.

// A feature is a flag that not every supported version has.
type feature string

// snapshotFlag says whether the client keeps the system prompt of a session's first turn
// for the later turns. Version 2.1.330 does so by default, so a changed system prompt would
// never reach the agent.
const snapshotFlag feature = "--system-prompt-snapshot"

// takesUp reports whether a turn continues a session whose first turn may have had another
// system prompt.
func takesUp(t runner.Turn) bool { return t.Session.How != runner.New }

// These are the bounds of a run with --help.
const (
	helpTime  = 30 * time.Second // a real client needs less than 1 s on an idle machine
	helpBytes = 256 << 10        // a real one prints 20 KiB
	helpAgain = 10 * time.Minute // time after which a program that did not answer is asked again
)

// features keeps what the programs can do. The zero value is ready to use; it is safe for
// concurrent use.
type features struct {
	time time.Duration // how long to wait for an answer; 0: helpTime
	mu   sync.Mutex
	of   map[program]*answer
}

// A program is the command of a client, and the file that it names.
type program struct {
	command  string
	file     string
	size     int64
	modified time.Time
}

// An answer is what a program has printed. The other fields may be read once done is closed.
type answer struct {
	done  chan struct{}
	help  string
	known bool      // the program answered
	cut   bool      // the asking turn ended before the program had its full time
	at    time.Time // when the program answered or failed to answer
}

// has reports whether the client of a turn knows a flag. It asks the client once, and waits
// for the answer until ctx is done.
func (f *features) has(ctx context.Context, t runner.Turn, flag feature) bool {
	p, path, ok := programOf(t)
	if !ok {
		return false // it cannot be started; the turn reports that better
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
		if a.cut && !a.known && ctx.Err() == nil { // the turn that asked is over, but not this one
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

// stale reports whether the program did not answer, and it is time to ask it again.
func (a *answer) stale() bool {
	select {
	case <-a.done:
		return !a.known && time.Since(a.at) >= helpAgain
	default:
		return false
	}
}

// programOf finds the program of a turn's client. path is the file to run.
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

// ask runs the program with --help: without input, in a separate process group that is
// killed when it takes too long or prints too much. A process that has left the group
// carries the mark of the turn, and ends with the turn.
func (f *features) ask(ctx context.Context, t runner.Turn, path string) (help string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(f.time, helpTime))
	defer cancel()
	out := &bounded{most: helpBytes, full: cancel}
	cmd := exec.CommandContext(ctx, path)
	cmd.Args = append(command(t), "--help")
	cmd.Dir, cmd.Env, cmd.Stdout = t.Spec.Dir, environment(t), out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // for a process that has left the group and keeps the output open
	err := cmd.Run()
	return out.text.String(), err == nil && out.text.Len() < out.most
}

// bounded keeps the first bytes that are written to it, up to the number most, and then
// calls full. It belongs to the goroutine that writes.
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
