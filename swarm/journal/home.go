package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
)

// A Home is the .claude-swarm folder of one project, which contains the daemon's own
// files. It contains no mail, and none of its files belong in git.
type Home struct {
	dir   string
	files durable.Files // writes the durable files of the home
	check func() error  // called before Make creates anything; may be nil
}

// HomeOf returns the home of a project. It does not create any files.
func HomeOf(project string) Home { return Home{dir: filepath.Join(project, ".claude-swarm")} }

// With returns a copy of the home that uses files to write its durable files.
func (h Home) With(files durable.Files) Home {
	h.files = files
	return h
}

// Checked returns a copy of the home that creates its folders only if check returns nil. A daemon
// checks that its project was not moved: another folder may be at the old path.
func (h Home) Checked(check func() error) Home {
	h.check = check
	return h
}

// Files returns the writer of the durable files in the home.
func (h Home) Files() durable.Files { return h.files }

// Make creates the folders, readable only by their owner, and makes git ignore them. It
// can be called repeatedly.
func (h Home) Make() error {
	if h.check != nil {
		if err := h.check(); err != nil {
			return err
		}
	}
	if err := discovery.MakeHome(h.dir); err != nil {
		return err
	}
	for _, d := range homeFolders {
		if err := discovery.MakeInHome(filepath.Join(h.dir, d)); err != nil {
			return fmt.Errorf("create the daemon's folder: %w", err)
		}
	}
	return nil
}

// MakeInHome creates a folder in the home; see [discovery.MakeInHome].
func (h Home) MakeInHome(dir string) error { return discovery.MakeInHome(dir) }

// Dir returns the folder itself.
func (h Home) Dir() string { return h.dir }

// LockFile returns the file that the project's daemon keeps locked, so that no second
// daemon starts.
func (h Home) LockFile() string { return filepath.Join(h.dir, "daemon.lock") }

// DaemonLog returns the daemon's own log file, which consists of JSON lines.
func (h Home) DaemonLog() string { return filepath.Join(h.dir, "daemon.log") }

// AgentLog returns the log file of one agent. The log is for people.
func (h Home) AgentLog(agent string) string { return filepath.Join(h.dir, "logs", agent+".log") }

// PIDFile returns the file that names the process that is working for an agent, or
// waiting for its next message.
func (h Home) PIDFile(agent string) string { return filepath.Join(h.dir, "pids", agent+".pid") }

// Ledger returns the file that contains one line for each attempt that ended.
func (h Home) Ledger() string { return filepath.Join(h.dir, "ledger.jsonl") }

// Turns returns the folder that contains the turns' files.
func (h Home) Turns() string { return filepath.Join(h.dir, "turns") }

// Stream returns the file with the standard output of the client that a turn started.
// Later turns of the same client do not have separate files.
func (h Home) Stream(turn string) string { return h.TurnFile(turn, ".jsonl") }

func (h Home) TurnFile(turn, ending string) string {
	return filepath.Join(h.dir, "turns", turn+ending)
}

// Recorded lists the turns that have a record.
func (h Home) Recorded() ([]string, error) { return filesWith(h.Turns(), ".json") }

// withPIDFile lists the agents that have a pid file.
func (h Home) withPIDFile() ([]string, error) { return filesWith(filepath.Join(h.dir, "pids"), ".pid") }

// filesWith lists the files in a folder whose names end with the given ending, and
// returns the names without that ending. It does not use a glob pattern, because the path
// of a project may contain any characters.
func filesWith(dir, ending string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ending); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// ClientFile returns a file that an agent's client reads. The file stays the same in
// every turn until the configuration changes.
func (h Home) ClientFile(agent, ending string) string {
	return filepath.Join(h.dir, "clients", agent+ending)
}

func (h Home) WindowFile(agent string) string { return filepath.Join(h.dir, "window", agent) }

// PendingFile returns the file with the text that a compaction removed. The next prompt
// returns this text to the client.
func (h Home) PendingFile(agent string) string {
	return filepath.Join(h.dir, "window", agent+".pending")
}

// MergeDir returns the folder of the merge queue.
func (h Home) MergeDir() string { return filepath.Join(h.dir, "merge") }

// WorktreesFile returns the path of the list of the agents' working trees.
func (h Home) WorktreesFile() string { return filepath.Join(h.dir, "worktrees.json") }

func (h Home) sessionsFile() string { return filepath.Join(h.dir, "sessions.json") }

func (h Home) unsortedFile() string { return filepath.Join(h.dir, "unsorted-tools.json") }

// GateFile returns the file with the recent messages that the gate needs.
func (h Home) GateFile() string { return filepath.Join(h.dir, "gate.json") }

// Events returns the event list.
func (h Home) Events() *Events { return Open(h.dir, h.files, h.Secrets().Hidden) }

// Secrets returns a source of the project's tokens that also removes them from text.
func (h Home) Secrets() *tokens.Source { return tokens.NewSource(h.dir) }

// VerifiedFile returns the file with the trees for which a verifier was green.
func (h Home) VerifiedFile() string { return filepath.Join(h.dir, "verified.json") }

// MirrorFile returns the file with the time up to which the lead's mail was shown.
func (h Home) MirrorFile() string { return filepath.Join(h.dir, "mirror.json") }

func (h Home) stateFile() string { return filepath.Join(h.dir, "state.json") }

// BudgetFile returns the file that records how caps were raised, and the questions about
// caps with their answers.
func (h Home) BudgetFile() string { return filepath.Join(h.dir, "budget.json") }

func (h Home) HandbackFile(turn string) string { return h.TurnFile(turn, ".hook.json") }
