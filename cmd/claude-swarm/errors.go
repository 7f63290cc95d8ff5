package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/provision"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// The exit statuses (docs/command-line.md).
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2 // invalid command line
	exitUnknown     = 3 // no such agent, message or project
	exitNoDaemon    = 4 // the verb needs a daemon, but none is running
	exitTimeout     = 5
	exitRefused     = 6 // a rule forbids the action
	exitDenied      = 7 // the agent did nothing, because nothing that it tried was permitted
	exitConfig      = 78
	exitInterrupted = 130 // the status that shells report for a program ended by Ctrl-C
)

// A hintError is an error with a hint about what to do next and with an exit status.
type hintError struct {
	err  error
	hint string // a command line or a short sentence, or "" if there is no hint
	code int    // if 0, the kind of err determines the exit status
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

// hint returns err with a hint about what to type next.
func hint(err error, format string, args ...any) error {
	return &hintError{err: err, hint: fmt.Sprintf(format, args...)}
}

// fail returns an error with an exit status and a hint.
func fail(code int, next string, format string, args ...any) error {
	return &hintError{err: fmt.Errorf(format, args...), hint: next, code: code}
}

// usagef returns the error for an invalid command line, with exit status 2.
func usagef(next, format string, args ...any) error {
	return fail(exitUsage, next, format, args...)
}

// unknownAgent returns the error for a name that no agent has. The error suggests similar
// names or, if no name is similar, lists all names. next is the suggested command line, with %s in
// place of the correct name.
func unknownAgent(name string, near, all []string, next string) error {
	const most = 12 // more names would bury the error
	if len(near) == 0 && 0 < len(all) && len(all) <= most {
		return fail(exitUnknown, "claude-swarm status", "no agent named %q here, only %s", name, strings.Join(all, ", "))
	}
	if len(near) == 0 {
		return fail(exitUnknown, "claude-swarm status", "no agent named %q here", name)
	}
	return fail(exitUnknown, strings.Replace(next, "%s", near[0], 1),
		"no agent named %q here; did you mean %s?", name, strings.Join(near, " or "))
}

// unknownTag returns the error for a tag that no agent has. next is the suggested command
// line, with %s in place of the correct address.
func unknownTag(e *client.TagError, next string) error {
	switch {
	case len(e.Near) > 0:
		next = strings.Replace(next, "%s", e.Near[0], 1)
	case len(e.Tags) > 0:
		next = strings.Replace(next, "%s", client.TagMark+e.Tags[0], 1)
	default:
		next = "tags: [frontend] for an agent in " + config.Name + ", then claude-swarm reload"
	}
	return fail(exitUnknown, next, "%w", e)
}

// exitCode returns the explicit exit status of an error or, if it has none, the status for
// the error's kind.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	for e := err; ; {
		he, ok := errors.AsType[*hintError](e)
		if !ok {
			break
		}
		if he.code != 0 {
			return he.code
		}
		e = he.err
	}
	if code, ok := codeOf(err); ok {
		return code
	}
	return exitFailed
}

// codeOf returns the exit status for an error of a known kind.
func codeOf(err error) (int, bool) {
	for _, kind := range []struct {
		err  error
		code int
	}{
		{control.ErrNoDaemon, exitNoDaemon},
		{dropbox.ErrNoMailbox, exitUnknown}, {dropbox.ErrNotFound, exitUnknown}, {dropbox.ErrAmbiguous, exitUnknown},
		{dropbox.ErrTooLarge, exitRefused}, {dropbox.ErrHops, exitRefused}, {dropbox.ErrFull, exitRefused},
		{context.DeadlineExceeded, exitTimeout},
	} {
		if errors.Is(err, kind.err) {
			return kind.code, true
		}
	}
	if _, ok := errors.AsType[*swarm.UnknownAgentError](err); ok {
		return exitUnknown, true
	}
	if _, ok := errors.AsType[config.Errors](err); ok {
		return exitConfig, true
	}
	if e, ok := errors.AsType[*control.Error](err); ok && e.Code == control.CodeBadConfig {
		return exitConfig, true
	}
	return 0, false
}

// nextStep returns the outermost hint of an error. If the error has none, nextStep
// returns the hint for its kind, or "".
func nextStep(err error) string {
	if he, ok := errors.AsType[*hintError](err); ok {
		if he.hint != "" {
			return he.hint
		}
		return nextStep(he.err)
	}
	if e, ok := errors.AsType[*control.Error](err); ok {
		return e.Hint
	}
	if e, ok := errors.AsType[*discovery.PathError](err); ok {
		return e.Hint
	}
	if e, ok := errors.AsType[*durable.DamagedError](err); ok {
		return e.Next
	}
	if e, ok := errors.AsType[*provision.BrokenError](err); ok {
		return e.Hint
	}
	if _, ok := errors.AsType[*journal.TraceError](err); ok {
		return "unset " + runner.AgentVar + " " + runner.MarkVar
	}
	if errors.Is(err, dropbox.ErrVersion) {
		return "install the newer claude-swarm that made them; this is " + version
	}
	if next := machineStep(err); next != "" {
		return next
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Op != "write" && filepath.IsAbs(e.Path) {
		if errors.Is(err, fs.ErrPermission) {
			if dir, owner := otherOwner(e.Path); owner != "" {
				return fmt.Sprintf("sudo -u %s claude-swarm …   (%s belongs to %s)", owner, dir, owner)
			}
		}
		return "ls -ld " + shellWord(e.Path)
	}
	return ""
}

// otherOwner returns the nearest folder above a path that can be looked at, with its owner, if
// that is another user than the caller; else "".
func otherOwner(path string) (dir, owner string) {
	for dir = path; ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		if err != nil {
			if dir == filepath.Dir(dir) {
				return "", ""
			}
			continue
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok || int(st.Uid) == os.Geteuid() {
			return "", ""
		}
		id := strconv.Itoa(int(st.Uid))
		if u, err := user.LookupId(id); err == nil {
			return dir, u.Username
		}
		return dir, "'#" + id + "'" // as sudo takes a number
	}
}

// machineStep returns the hint for an error about a full, read-only or broken disk, or about
// too many open files. For other errors, it returns "".
func machineStep(err error) string {
	is := func(kinds ...syscall.Errno) bool {
		return slices.ContainsFunc(kinds, func(k syscall.Errno) bool { return errors.Is(err, k) })
	}
	switch {
	case is(syscall.ENOSPC, syscall.EDQUOT):
		return "df -h . && df -i .   (make room on the disk, then run the same command again)"
	case is(syscall.EROFS, syscall.EIO):
		return "mount; dmesg | tail   (they show the disk's errors; once it works, run the same command again)"
	case is(syscall.EMFILE, syscall.ENFILE):
		return "ulimit -n 4096   (then run the same command again)"
	}
	return ""
}

// report prints an error and its hint, and returns the exit status. No other function
// prints the errors that end the program.
func report(w io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(w, "claude-swarm: %s\n", screen.Visible(err.Error()))
	if next := nextStep(err); next != "" {
		fmt.Fprintf(w, "  try: %s\n", screen.Visible(next))
	}
	return exitCode(err)
}

func isConfigError(err error) bool {
	_, ok := errors.AsType[config.Errors](err)
	return ok
}

// isFileError reports whether err means that an agent is not allowed to send a file.
func isFileError(err error) bool {
	_, ok := errors.AsType[*client.FileError](err)
	return ok
}

// hintFile adds the exit status and the hint to the error for a file that must not be sent.
func hintFile(err error) error {
	return &hintError{err: err, code: exitRefused, hint: askLead}
}

// askLead is the command that an agent uses to ask the lead for a decision.
const askLead = `claude-swarm send lead "why" --type question`
