package follow

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// start opens the files and starts the client.
func (r *Run) start(args, env []string) (*runner.Child, error) {
	const fresh = os.O_CREATE | os.O_TRUNC | os.O_APPEND | os.O_WRONLY
	stdout, err := os.OpenFile(r.turn.Stdout, fresh, 0o600)
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	stderr, err := os.OpenFile(r.turn.Stderr, fresh, 0o600)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	if r.output.file, err = os.Open(r.turn.Stdout); err != nil {
		return nil, err
	}
	child, err := runner.Start(runner.Command{Args: args, Dir: r.turn.Spec.Dir, Env: env, Stdout: stdout, Stderr: stderr})
	if err != nil {
		return nil, &startFailure{err}
	}
	return child, nil
}

// openAt opens a file for reading, starting at offset.
func openAt(path string, offset int64) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// A startFailure is an error that occurred while the client was being started, not while
// our files were being opened.
type startFailure struct{ err error }

func (e *startFailure) Error() string { return e.err.Error() }
func (e *startFailure) Unwrap() error { return e.err }

// startError returns the verdict on a program that could not be started.
func startError(t runner.Turn, kind *runner.Kind, program string, err error) Verdict {
	if _, ok := errors.AsType[*startFailure](err); !ok {
		return Verdict{End: runner.NoResources, Reason: err.Error(), Hint: HintDisk}
	}
	if info, serr := os.Stat(t.Spec.Dir); serr != nil || !info.IsDir() {
		return Verdict{End: runner.BadSetup, Reason: "the working folder " + t.Spec.Dir + " does not exist", Hint: "create it, or change cwd: for agent " + t.Agent}
	}
	switch {
	case isTransient(err):
		return Verdict{End: runner.NoResources, Reason: "the system could not start " + program + ": " + err.Error(),
			Hint: "the machine is out of processes or memory; lower max_running"}
	case isMissing(err):
		hint := "set command: for agent " + t.Agent
		if kind.Install != "" {
			hint = kind.Install + ", or " + hint
		}
		return Verdict{End: runner.BadSetup, Reason: program + " is not installed: " + err.Error(), Hint: hint}
	}
	return Verdict{End: runner.BadSetup, Reason: program + " cannot be run: " + err.Error(), Hint: "check command: for agent " + t.Agent}
}

// isTransient reports whether the system may be able to start the client later.
func isTransient(err error) bool {
	for _, e := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETXTBSY} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func isMissing(err error) bool {
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist)
}
