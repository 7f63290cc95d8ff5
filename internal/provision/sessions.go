package provision

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// login checks that the agents' clients have a login. It does not call the API, so the
// login may have expired.
func (e *checkup) login() {
	const name = "login"
	type line struct {
		grade    Grade
		say, try string
		agents   []string
	}
	var lines []*line // each line with all agents to which it applies
	tell := func(a config.Agent, grade Grade, try, format string, args ...any) {
		say := fmt.Sprintf(format, args...)
		i := slices.IndexFunc(lines, func(l *line) bool { return l.say == say && l.try == try })
		if i < 0 {
			i = len(lines)
			lines = append(lines, &line{grade: grade, say: say, try: try})
		}
		lines[i].agents = append(lines[i].agents, a.Name)
	}
	for _, a := range e.file.Agents {
		kind := backends.Kind(a.Backend)
		if kind == nil || filepath.Base(a.Client.Command[0]) != kind.Program() || a.Attached {
			continue // nothing is known about the logins of other programs
		}
		login := kind.Login
		env := func(name string) string { return cmp.Or(a.Env[name], e.Getenv(name)) }
		if i := slices.IndexFunc(login.Keys, func(name string) bool { return env(name) != "" }); i >= 0 {
			tell(a, Good, "", "by %s", login.Keys[i])
			continue
		}
		if login.File == "" {
			continue
		}
		dir := env(login.Folder)
		if dir == "" {
			dir = filepath.Join(env("HOME"), login.Home)
		}
		path := filepath.Join(dir, login.File)
		switch _, err := os.Stat(path); {
		case err == nil:
			tell(a, Good, "", "%s", path)
		case runtime.GOOS == "darwin":
			tell(a, Good, "", "it may be in the keychain, which is not checked")
		default:
			tell(a, Warn, login.Try, "neither %s nor a key in the environment", path)
		}
	}
	for _, l := range lines {
		word := "agent "
		if len(l.agents) > 1 {
			word = "agents "
		}
		text := word + screen.Cut(strings.Join(l.agents, ", "), 120) + ": " + l.say
		if l.grade == Good {
			e.good(name, "%s", text)
		} else {
			e.warn(name, l.try, "%s", text)
		}
	}
}

// hooksBlocked returns the reason why an agent's client does not run our hooks, or "" if
// its settings allow them.
func hooksBlocked(a config.Agent, home string) string {
	kind := backends.Kind(a.Backend)
	if kind == nil || kind.Hooks == nil {
		return ""
	}
	return kind.Hooks.Blocked(home, a.Client.Dir)
}

// hooks checks that the clients run our hooks. After a compaction, the hooks restore the
// window in the same turn; they also deliver mail to attached sessions.
func (e *checkup) hooks() {
	const name = "hooks"
	told := make(map[string]bool)
	for _, a := range e.file.Agents {
		why := hooksBlocked(a, e.Getenv("HOME"))
		if why != "" && !told[why] {
			told[why] = true
			e.warn(name, "remove it, or do without hooks: attached sessions fetch mail with /inbox, and after a compaction the window comes back a turn later",
				"%s, so none of our hooks run", why)
		}
	}
	if len(told) == 0 {
		e.good(name, "no client setting forbids them")
	}
}

// shared reports agents that work in the same folder.
func (e *checkup) shared() {
	const name = "folders"
	by := make(map[string][]string)
	for _, a := range e.file.Agents {
		by[followLinks(a.Client.Dir)] = append(by[followLinks(a.Client.Dir)], a.Name)
	}
	for _, dir := range slices.Sorted(maps.Keys(by)) {
		if names := by[dir]; len(names) > 1 {
			e.good(name, "%s share %s; each has a separate session. Separate work trees (cwd) would keep their changes apart", strings.Join(names, ", "), dir)
		}
	}
}

// drift reports which of the parts that init and attach created are missing or have
// changed.
func (e *checkup) drift() {
	const name = "set-up"
	r, err := Check(filepath.Dir(e.Config))
	if err != nil {
		e.wrong(name, "claude-swarm init --check", "%v", err)
		return
	}
	good := true
	for _, i := range r.Items {
		if i.State != Missing && i.State != Drifted || i.Path == short(filepath.Dir(e.Config), e.file.DeadDropDir) {
			continue // checkup.mailboxes reports missing mailboxes
		}
		good = false
		e.warn(name, i.Try, "%s is %s", i.Path, i.State)
		if i.State == Missing && i.Try == "claude-swarm init" {
			e.fixBy(e.init)
		}
	}
	if good {
		e.good(name, "everything that init and attach created is up to date")
	}
}

// bindings reports the state of each attached session, and warns about sessions that have
// died.
func (e *checkup) bindings() {
	const name = "attached"
	for _, a := range e.file.Agents {
		if !a.Attached {
			continue
		}
		b, err := e.home.BindingOf(a.Name)
		switch {
		case errors.Is(err, fs.ErrPermission):
			e.warn(name, "claude-swarm doctor, as the user whose project it is", "%s: %v", a.Name, err)
		case err != nil:
			e.warn(name, "rm "+shellWord(filepath.Join(e.home.Dir(), "attached", a.Name+".json")), "%v", err)
		case b != nil:
			e.good(name, "%s: pid %d", a.Name, b.Process.PID)
		case exists(filepath.Join(e.home.Dir(), "attached", a.Name+".json")):
			e.warn(name, "claude-swarm attach "+a.Name, "%s's session has died; its mail, including what it was working on, waits for the next session", a.Name)
		default:
			e.good(name, "%s: no session is running; its mail waits", a.Name)
		}
	}
}
