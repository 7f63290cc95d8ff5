package provision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A Grade says how bad a finding is.
type Grade string

// The grades.
const (
	Good  Grade = "ok"
	Warn  Grade = "warn"  // it works, but somebody should know
	Wrong Grade = "wrong" // it does not work
)

// A Finding is what an examination found out about one thing.
type Finding struct {
	Grade Grade  `json:"grade"`
	Name  string `json:"name"`          // of the thing, such as "client" or "socket"
	Text  string `json:"text"`          // one line
	Try   string `json:"try,omitempty"` // what to do; empty when it is good
	// Fixable says that Fix does it, without harm to anything.
	Fixable bool `json:"fixable,omitempty"`

	fix func() error
}

// Fix does what is safe to do about a finding that is Fixable: modes, folders and
// files of our own. Nothing of others is touched, and no process ended.
func (f Finding) Fix() error { return f.fix() }

// DoctorOptions say what is examined. Config and Getenv are required.
type DoctorOptions struct {
	Config  string // claude-swarm.yaml, absolute
	Version string // of this program
	Getenv  func(string) string

	// Socket is where a daemon said that it listens, if it did.
	Socket string
	// LockedBy is the process that holds the daemon's lock, 0 when nobody does
	// and -1 when it is not known who.
	LockedBy int

	// Program is claude-swarm itself, for a round trip in a scratch project; "" does
	// without that.
	Program string

	// ClientTimeout is how long a client may take to tell its version; 0 means
	// 10 s.
	ClientTimeout time.Duration
}

// exam is one examination. It belongs to one goroutine.
type exam struct {
	DoctorOptions
	file     *config.File
	home     swarm.Home
	status   *swarm.Status // of the running daemon, if any
	findings []Finding
}

// Examine looks at everything that a swarm needs: configuration, clients,
// folders, file system, daemon, and what earlier turns left behind. It changes
// nothing that stays. It takes as long as the slowest client takes to tell its
// version, and ends early when ctx is done.
func Examine(ctx context.Context, o DoctorOptions) []Finding {
	if o.ClientTimeout == 0 {
		o.ClientTimeout = 10 * time.Second
	}
	e := &exam{DoctorOptions: o, home: swarm.HomeOf(filepath.Dir(o.Config))}
	e.configuration()
	if e.file != nil {
		e.permissions()
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
	}
	e.homeFolder()
	e.daemon(ctx)
	e.leftovers()
	e.git(ctx)
	e.trial(ctx)
	return e.findings
}

// Healthy tells whether nothing is wrong; warnings do not count.
func Healthy(findings []Finding) bool {
	for _, f := range findings {
		if f.Grade == Wrong {
			return false
		}
	}
	return true
}

func (e *exam) good(name, format string, args ...any) {
	e.findings = append(e.findings, Finding{Grade: Good, Name: name, Text: shown(fmt.Sprintf(format, args...))})
}

func (e *exam) warn(name, try, format string, args ...any) { e.bad(Warn, name, try, format, args) }

func (e *exam) wrong(name, try, format string, args ...any) { e.bad(Wrong, name, try, format, args) }

// bad says what is not as it should be, and what to do.
func (e *exam) bad(g Grade, name, try, format string, args []any) {
	e.findings = append(e.findings, Finding{Grade: g, Name: name, Text: shown(fmt.Sprintf(format, args...)), Try: shown(cmp.Or(try, e.next(name)))})
}

// fixBy says how the last finding is fixed.
func (e *exam) fixBy(fix func() error) {
	f := &e.findings[len(e.findings)-1]
	f.Fixable, f.fix = true, fix
}

// next is what to do about a thing where the error alone says what is wrong.
func (e *exam) next(name string) string {
	switch name {
	case "configuration":
		return "claude-swarm config check"
	case "reread":
		return "write it, or take it out of reread: in " + e.Config
	case "mailboxes":
		return "ls -ld " + typed(e.file.DeadDropDir) + ", then claude-swarm init"
	case "daemon's folder":
		return "ls -ld " + typed(e.home.Dir())
	case "watches":
		return "sysctl fs.inotify"
	}
	return "claude-swarm status"
}

func (e *exam) configuration() {
	const name = "configuration"
	file, err := config.Load(e.Config)
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

// permissions names the agents that may do everything without being asked.
func (e *exam) permissions() {
	for _, a := range e.file.Agents {
		if a.PermissionMode == "bypassPermissions" {
			e.warn("permissions", fmt.Sprintf("permission_mode: acceptEdits, or allowed_tools, for %s", a.Name),
				"agent %s has permission_mode bypassPermissions: it may run any command as you", a.Name)
		}
	}
}

// rereads looks for the files that an agent is told to read first.
func (e *exam) rereads() {
	for _, a := range e.file.Agents {
		for _, name := range a.Reread {
			path := name
			if !filepath.IsAbs(path) {
				path = filepath.Join(a.Cwd, name)
			}
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				e.warn("reread", "", "agent %s is told to read %s, which is not in %s", a.Name, name, a.Cwd)
			}
		}
	}
}

// homeFolder looks at the daemon's own files: nobody else may read them.
func (e *exam) homeFolder() {
	const name = "daemon's folder"
	for _, path := range []string{e.home.Dir(), filepath.Join(e.home.Dir(), "tokens"), e.home.Turns()} {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if path == e.home.Dir() {
				e.good(name, "not there yet; start makes it")
				return
			}
			continue
		case err != nil:
			e.wrong(name, "", "%v", err)
			return
		case info.Mode().Perm()&0o077 != 0:
			e.wrong(name, "chmod go-rwx "+typed(path), "%s can be read by others (mode %04o)", path, info.Mode().Perm())
			mode := fs.FileMode(0o600)
			if info.IsDir() {
				mode = 0o700
			}
			e.fixMode(path, mode)
			return
		}
	}
	if err := writable(e.home.Dir()); err != nil {
		e.wrong(name, diskStep(err), "%v", err)
		if errors.Is(err, fs.ErrPermission) {
			e.fixMode(e.home.Dir(), 0o700)
		}
		return
	}
	if damaged := e.home.Damaged(); len(damaged) > 0 {
		for _, d := range damaged {
			e.wrong(name, d.Next, "%v", d)
		}
		return
	}
	e.good(name, "%s", e.home.Dir())
}

// writable makes a file in dir and takes it away.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return fmt.Errorf("nothing can be written: %w", err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// diskStep is what to do about an error that is the disk's and not a matter of rights, or "".
func diskStep(err error) string {
	switch {
	case errors.Is(err, unix.EROFS):
		return "mount, which says which disk is read-only, and dmesg, which says why"
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return "make room (df -h . and df -i . show it)"
	case errors.Is(err, unix.EIO):
		return "dmesg, which says what the disk reports"
	}
	return ""
}

// shown makes text fit for one line of a terminal: what would steer the terminal, such as an
// escape in the name of a file, stands there as a backslash and its number.
func shown(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// firstLine is the first line of what a program printed.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return screen.Short(line, 200)
}
