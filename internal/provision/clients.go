package provision

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// versionTime is the default time within which a client must print its version. The first
// start after an installation reads more than 200 MB from the disk: with Claude Code, on a
// busy machine with two cores, it once took more than 10 s.
const versionTime = 30 * time.Second

// reports is the web page for reporting problems.
const reports = "https://github.com/claude-swarm/claude-swarm/issues"

// clients gets the version of each client program once, and then probes the clients that
// can be probed without a model.
func (e *checkup) clients(ctx context.Context) {
	all := usedClients(e.file.Agents)
	for _, u := range all {
		u.sound = e.client(ctx, u.kind, u.agents[0].Client.Command, u.agents[0].Client.Dir)
	}
	for _, t := range UnsortedTools(e.home, e.file.Agents) {
		e.warn("tools", t.Next, "%s", t.Why)
	}
	e.judge(ctx, all)
	e.probes(ctx, all)
}

// judge checks the program that runs the supervisor's model.
func (e *checkup) judge(ctx context.Context, all []*used) {
	s := e.file.Supervisor
	kind := backends.Kind(s.Backend)
	if s.Model == "" || kind == nil {
		return
	}
	command := s.Command
	if len(command) == 0 {
		command = kind.Command
	}
	i := slices.IndexFunc(all, func(u *used) bool { return u.kind == kind && slices.Equal(u.agents[0].Client.Command, command) })
	if i >= 0 && all[i].sound || i < 0 && e.client(ctx, kind, command, e.file.Dir) {
		e.good("supervisor", "%s judges, run by %s", s.Model, strings.Join(command, " "))
		return
	}
	e.wrong("supervisor", "command: under supervisor: in "+e.Config, "%s cannot judge, because %s does not work; only the rules judge", s.Model, strings.Join(command, " "))
}

// client checks that a program exists and is a client of this kind.
func (e *checkup) client(ctx context.Context, kind *runner.Kind, command []string, dir string) (sound bool) {
	const name = "client"
	program := strings.Join(command, " ")
	path, err := exec.LookPath(command[0])
	switch {
	case errors.Is(err, exec.ErrNotFound):
		e.wrong(name, kind.Install+", or command: in "+e.Config, "%s is not on the PATH", command[0])
		return false
	case err != nil:
		e.wrong(name, "command: in "+e.Config, "%s cannot be run: %v", command[0], err)
		return false
	case kind.Program() == "": // not every program accepts --version; the probe identifies the client
		e.good(name, "%s", path)
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, e.ClientTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(slices.Clone(command[1:]), "--version")...)
	cmd.Dir = dir
	// The client runs in a separate process group, so that a client that hangs can be
	// killed together with the processes that it started.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		e.wrong(name, program+" --version", "%s did not print its version within %v", program, e.ClientTimeout)
		return false
	case err != nil:
		said := ""
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			said = firstLine(string(exit.Stderr))
		}
		e.wrong(name, program+" --version", "%s --version failed: %v %s", program, err, said)
		return false
	}
	said := firstLine(string(out))
	version, fit := kind.Version.Read(said)
	switch fit {
	case runner.Foreign:
		e.wrong(name, "command: in "+e.Config, "%s is not %s: it reports %q", program, kind.Title, said)
	case runner.TooOld:
		e.wrong(name, kind.Version.Install, "%s is version %s, which is too old; supported: %s", program, version, kind.Version.Supported)
	case runner.Untested:
		try := kind.Version.Install + "; or continue, and report what does not work, with both versions (claude-swarm version): " + reports
		words, holds := "which has not been tested", false
		if kind.Name == "claude" {
			try = "claude-swarm compat; or " + try
			if e.Tested != nil {
				if tested, all := e.Tested(command, version); tested != "" {
					words, holds = tested, all
				}
			}
		}
		if holds {
			e.good(name, "%s, %s; %s", path, said, words)
			break
		}
		e.warn(name, try, "%s is version %s, %s; tested: %s", program, version, words, kind.Version.Supported)
	default:
		e.good(name, "%s, %s", path, said)
	}
	return fit == runner.Tested || fit == runner.Untested
}
