package provision

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/git"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// daemon checks whether a daemon is running, and looks for a lock or a socket that an
// earlier daemon left behind.
func (e *checkup) daemon(ctx context.Context) {
	const name = "daemon"
	dir := filepath.Dir(e.Config)
	client, err := control.Dial(ctx, dir, e.Version, e.Getenv, e.Socket)
	switch {
	case err == nil:
		e.ask(ctx, client)
		return
	case !errors.Is(err, control.ErrNoDaemon):
		try := ""
		if pe, ok := errors.AsType[*discovery.PathError](err); ok {
			try = pe.Hint
		}
		e.wrong(name, try, "%v", err)
		return
	case e.LockedBy > 0:
		e.wrong(name, fmt.Sprintf("kill %d", e.LockedBy), "pid %d holds the project's lock and does not answer", e.LockedBy)
		return
	case e.LockedBy < 0:
		e.wrong(name, "fuser "+shellWord(e.home.LockFile()), "something holds %s and does not answer", e.home.LockFile())
		return
	}
	stale := ""
	if paths, err := discovery.Paths(dir, e.Getenv); err == nil {
		if pe, ok := errors.AsType[*discovery.PathError](discovery.CheckFolder(filepath.Dir(paths[0]))); ok {
			e.wrong(name, pe.Hint, "none is running, and none can start: %v", pe)
			return
		}
		for _, path := range paths {
			if _, err := os.Lstat(path); err == nil {
				stale = path
			}
		}
	}
	if stale != "" {
		e.warn(name, "claude-swarm start", "none is running; %s was left by a crash, and the next start removes it", stale)
		return
	}
	if main := discovery.DaemonFor(dir); main != "" {
		e.good(name, "none is running in this worktree, and that of %s works for it", filepath.Dir(main))
		return
	}
	e.good(name, "none is running")
}

func (e *checkup) ask(ctx context.Context, client *control.Client) {
	const name = "daemon"
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	st, err := client.Status(ctx)
	switch {
	case err != nil:
		e.wrong(name, "claude-swarm restart", "it does not answer: %v", err)
		return
	case client.Warning() != "":
		e.warn(name, "claude-swarm restart", "%s", client.Warning())
	default:
		e.good(name, "pid %d, version %s", st.Daemon.PID, st.Daemon.Version)
	}
	e.status = &st
	for _, t := range st.Trouble {
		e.warn(name, t.Next, "%s", firstLine(t.Why))
	}
	for _, a := range st.Agents {
		if a.CircuitOpen {
			e.wrong("agent "+a.Name, "claude-swarm start "+a.Name, "stopped after failures: %s", firstLine(a.Why))
		}
	}
}

// leftovers finds processes that carry the mark of a turn on which no client of the
// daemon is working anymore.
func (e *checkup) leftovers() {
	const name = "processes"
	marked := map[string][]string{}                                     // process ids, by mark
	alive := map[string]bool{os.Getenv(runner.MarkVar): true, "": true} // doctor may run inside a turn
	processesWith(runner.DirVar+"="+filepath.Dir(e.home.Dir()), func(pid int, environ []string) {
		mark := envValue(environ, runner.MarkVar)
		marked[mark] = append(marked[mark], fmt.Sprint(pid))
		alive[mark] = alive[mark] || e.isClient(pid) || e.runs(mark)
	})
	var orphans []string
	for _, mark := range slices.Sorted(maps.Keys(marked)) {
		if !alive[mark] {
			orphans = append(orphans, marked[mark]...)
		}
	}
	switch {
	case len(orphans) == 0:
		e.good(name, "no process of an earlier turn remains")
	case e.status == nil:
		e.warn(name, "claude-swarm start", "%s of earlier turns (pid %s) without a daemon; the next daemon adopts or ends them",
			screen.Several(len(orphans), "process", "processes"), strings.Join(orphans, " "))
	default:
		e.wrong(name, "kill "+strings.Join(orphans, " "), "left by turns that have ended: pid %s", strings.Join(orphans, " "))
	}
}

// Working lists the ids of the processes that belong to turns of the project in dir,
// sorted. The list includes processes that a killed daemon left behind. It does not
// include the calling process.
func Working(dir string) []int {
	names := []string{dir}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		names = append(names, real)
	}
	var pids []int
	for _, name := range names {
		processesWith(runner.DirVar+"="+name, func(pid int, environ []string) {
			if envValue(environ, runner.MarkVar) != "" {
				pids = append(pids, pid)
			}
		})
	}
	slices.Sort(pids)
	return slices.Compact(pids)
}

// isClient reports whether a process is a client of the daemon, either working or
// waiting.
func (e *checkup) isClient(pid int) bool {
	return e.status != nil && slices.ContainsFunc(e.status.Agents, func(a swarm.AgentStatus) bool {
		return a.PID != nil && *a.PID == pid || a.Warm != nil && a.Warm.PID == pid
	})
}

// runs reports whether the daemon is running the turn. A turn's id begins with the id of
// its message.
func (e *checkup) runs(turn string) bool {
	return e.status != nil && slices.ContainsFunc(e.status.Agents, func(a swarm.AgentStatus) bool {
		return a.Message != nil && strings.HasPrefix(turn, a.Message.ID+"-")
	})
}

func envValue(environ []string, name string) string {
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// git checks that the daemon's own files, such as the tokens, cannot become part of a
// commit.
func (e *checkup) git(ctx context.Context) {
	const name = "git"
	dir, home, environ := filepath.Dir(e.Config), filepath.Base(e.home.Dir()), os.Environ()
	audited := e.file != nil && e.file.Audit.Git
	err := git.InWorkTree(ctx, environ, dir)
	owner, refused := errors.AsType[*git.OwnerError](err)
	switch {
	case refused && audited:
		e.wrong(name, owner.Next(), "%v; audit.git is on", owner)
	case refused:
		e.warn(name, owner.Next(), "%v", owner)
	case errors.Is(err, git.ErrNoGit) && audited:
		e.wrong(name, "install git, or audit: {git: false}", "audit.git is on, but git is not on the PATH")
	case errors.Is(err, git.ErrNoRepository) && audited:
		e.wrong(name, "git init", "audit.git is on, but %s is not in a git work tree", dir)
	case errors.Is(err, git.ErrNoGit), errors.Is(err, git.ErrNoRepository):
	case err != nil:
		e.warn(name, "git -C "+shellWord(dir)+" status", "%v", err)
	}
	if err != nil {
		return
	}
	if tracked, err := git.Tracked(ctx, environ, e.home.Dir()); err == nil && len(tracked) > 0 {
		e.wrong(name, "git rm -r --cached "+home+", then git commit", "%s is tracked by git, with its tokens; start will refuse", home)
		return
	}
	if ignored, err := git.Ignores(ctx, environ, dir, home+"/tokens"); err != nil || !ignored {
		e.warn(name, "echo /"+home+"/ >> "+shellWord(filepath.Join(dir, ".gitignore")), "%s is not ignored, so git add . would add its tokens", home)
		return
	}
	e.good(name, "%s is ignored", home)
}
