package provision

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// Examine checks everything that a swarm needs: the configuration, clients, folders, file
// system and daemon. It also looks for processes that earlier turns left behind. It removes
// every file that it creates. It spends most of its time getting the versions of all
// clients, opening a session with the slowest client, and making the round trip. It ends
// early when ctx is done.
func Examine(ctx context.Context, o DoctorOptions) []Finding {
	if o.ClientTimeout == 0 {
		o.ClientTimeout = versionTime
	}
	if o.ProbeTimeout == 0 {
		o.ProbeTimeout = probeTime
	}
	e := &checkup{DoctorOptions: o, home: journal.HomeOf(filepath.Dir(o.Config))}
	e.configuration()
	if e.file != nil {
		e.permissions()
		e.verifiers()
		e.login()
		e.hooks()
		e.shared()
		e.rereads()
		e.clients(ctx)
		e.mailboxes()
		e.fileSystem()
		e.watches()
		e.drift()
		e.bindings()
		e.irc()
		e.webhooks(ctx)
	}
	e.homeFolder()
	e.launcher()
	e.daemon(ctx)
	e.leftovers()
	e.git(ctx)
	e.trial(ctx)
	return e.findings
}

// Healthy reports whether there are no findings of grade Wrong; warnings do not count.
func Healthy(findings []Finding) bool {
	for _, f := range findings {
		if f.Grade == Wrong {
			return false
		}
	}
	return true
}

func (e *checkup) configuration() {
	const name = "configuration"
	file, err := config.Load(e.Config)
	if errors.Is(err, fs.ErrNotExist) && config.InForce(e.Config) != nil {
		e.wrong(name, CopyBack(e.Config), "%s is gone, but the daemon has a copy", e.Config)
		return
	}
	if err == nil {
		e.file = file
		err = file.CheckFolders()
	}
	switch errs, ok := errors.AsType[config.Errors](err); {
	case ok:
		for _, one := range errs {
			e.wrong(name, one.Try, "%v", one)
		}
	case err != nil:
		e.wrong(name, "", "%v", err)
	default:
		e.good(name, "%s, %s", e.Config, screen.Count(len(file.Agents), "agent"))
	}
}

// launcher reports a program that a script starts each time, because npm ran no install
// script.
func (e *checkup) launcher() {
	if e.InstallScript != "" {
		e.warn("program", "node "+shellWord(e.InstallScript),
			"npm ran no install script, so a script starts the program, and each command begins later")
	}
}

// CopyBack returns the command that restores a deleted configuration from the daemon's copy
// of it.
func CopyBack(path string) string {
	return "cp " + shellWord(config.InForcePath(path)) + " " + shellWord(path)
}

// permissions reports the agents that may do anything without asking.
func (e *checkup) permissions() {
	for _, a := range e.file.Agents {
		kind := backends.Kind(a.Backend)
		if kind != nil && kind.Bypass != "" && a.Client.PermissionMode == kind.Bypass {
			e.warn("permissions", fmt.Sprintf("permission_mode: %s, or allowed_tools, for %s", kind.Mode, a.Name),
				"agent %s has permission_mode %s: it may run any command as you", a.Name, kind.Bypass)
		}
	}
}

// verifiers reports the agents that may not run commands, but whose code a verifier runs.
func (e *checkup) verifiers() {
	for _, a := range e.file.Agents {
		bare := slices.DeleteFunc(slices.Clone(a.Verify), func(name string) bool { return len(e.file.Verifiers[name].RunIn) > 0 })
		if len(bare) > 0 && !runsCommands(a) {
			e.warn("verifiers", "run_in: [bwrap, …] for "+strings.Join(bare, " and "),
				"agent %s may not run commands, but the verifier %s runs its code as you", a.Name, strings.Join(bare, " and "))
		}
	}
}

// runsCommands reports whether an agent may run any command by itself. A rule for some commands,
// such as Bash(git diff:*), does not count.
func runsCommands(a config.Agent) bool {
	const shell, execute = "Bash", "execute"
	if list := a.ToolList(); list != nil && !slices.Contains(*list, shell) {
		return false
	}
	if no := a.Client.DisallowedTools; no != nil && slices.Contains(*no, shell) {
		return false
	}
	return !slices.Contains(a.Permissions.Deny, execute)
}

// rereads checks that the files listed under the key reread exist.
func (e *checkup) rereads() {
	for _, a := range e.file.Agents {
		for _, name := range a.Reread {
			path := name
			if !filepath.IsAbs(path) {
				path = filepath.Join(a.Client.Dir, name)
			}
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				e.warn("reread", "", "agent %s has to read %s, which is not in %s", a.Name, name, a.Client.Dir)
			}
		}
	}
}
