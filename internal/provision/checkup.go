package provision

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A Grade is the severity of a finding.
type Grade string

// The grades.
const (
	Good  Grade = "ok"
	Warn  Grade = "warn"  // it works, but a person should know about it
	Wrong Grade = "wrong" // it does not work
)

// A Finding is the result of one check.
type Finding struct {
	Grade Grade  `json:"grade"`
	Name  string `json:"name"`          // what was checked, such as "client" or "socket"
	Text  string `json:"text"`          // one line
	Try   string `json:"try,omitempty"` // what to do; empty if nothing has to be done
	// Fixable reports whether Fix can safely resolve the finding.
	Fixable bool `json:"fixable,omitempty"`

	fix func() error
}

// Fix resolves a Fixable finding: it recreates what [Init] creates, or removes other
// users' permissions on claude-swarm's files and on files with passwords. It never
// terminates a process. It returns an error if the finding is not Fixable.
func (f Finding) Fix() error {
	if f.fix == nil {
		return fmt.Errorf("%s: this cannot be repaired automatically", f.Name)
	}
	return f.fix()
}

// DoctorOptions determine which checks are run. Config and Getenv are required.
type DoctorOptions struct {
	Config  string // absolute path of claude-swarm.yaml
	Version string // this program's version
	Getenv  func(string) string

	// Socket is the path of the socket that a daemon has recorded, or "".
	Socket string
	// LockedBy is the id of the process that holds the daemon's lock; 0 means no process,
	// and -1 an unknown one.
	LockedBy int

	// Program is the path of claude-swarm itself, for a round trip in a scratch project;
	// "" skips the round trip.
	Program string

	// InstallScript is the path of the script of npm's package that replaces its launcher
	// by the program; "" unless that launcher started this program.
	InstallScript string

	// ClientTimeout is the time within which a client must print its version; 0 means 30
	// s.
	ClientTimeout time.Duration
	// SpecOf returns the settings with which the daemon runs an agent's turns. Unless both
	// Program and SpecOf are set, clients are not probed, and only their versions are read.
	SpecOf func(*config.File, config.Agent) swarm.Spec
	// Tested returns in a few words what was found out on this machine about a version of
	// Claude Code, and whether claude-swarm works with all of it; "" means that nothing is
	// known. It may be nil.
	Tested func(command []string, version string) (words string, holds bool)
	// ProbeTimeout is the time within which a client must open a session; 0 means one
	// minute.
	ProbeTimeout time.Duration
}

// A checkup is a run of all checks. It must be used by one goroutine only.
type checkup struct {
	DoctorOptions
	file     *config.File
	home     journal.Home
	status   *swarm.Status // the status of the running daemon, if any
	findings []Finding
}

func (e *checkup) good(name, format string, args ...any) {
	e.findings = append(e.findings, Finding{Grade: Good, Name: name, Text: printable(fmt.Sprintf(format, args...))})
}

func (e *checkup) warn(name, try, format string, args ...any) { e.bad(Warn, name, try, format, args) }

func (e *checkup) wrong(name, try, format string, args ...any) { e.bad(Wrong, name, try, format, args) }

// bad adds a warning or an error, with advice on what to do about it.
func (e *checkup) bad(g Grade, name, try, format string, args []any) {
	e.findings = append(e.findings, Finding{Grade: g, Name: name, Text: printable(fmt.Sprintf(format, args...)), Try: printable(cmp.Or(try, e.next(name)))})
}

// fixBy makes the last finding fixable; fix is the function that resolves it.
func (e *checkup) fixBy(fix func() error) {
	f := &e.findings[len(e.findings)-1]
	f.Fixable, f.fix = true, fix
}

// next returns the default next step for a finding.
func (e *checkup) next(name string) string {
	switch name {
	case "configuration":
		return "claude-swarm config check"
	case "reread":
		return "write it, or remove it from reread: in " + e.Config
	case "mailboxes":
		return "ls -ld " + shellWord(e.file.DeadDropDir) + ", then claude-swarm init"
	case "daemon's folder":
		return "ls -ld " + shellWord(e.home.Dir())
	case "watches":
		return "sysctl fs.inotify"
	}
	return "claude-swarm status"
}

// fixMode makes the last finding fixable if the file or folder belongs to this user: Fix
// sets its mode.
func (e *checkup) fixMode(path string, mode fs.FileMode) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFLNK && int(st.Uid) == os.Geteuid() {
		e.fixBy(func() error { return os.Chmod(path, mode) })
	}
}

// init calls Init, which creates the missing parts.
func (e *checkup) init() error {
	_, err := Init(filepath.Dir(e.Config), Options{})
	return err
}

// firstLine returns the first line of a program's output.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return screen.Short(line, 200)
}
