package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/rendezvous"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
)

// A Home is the folder .claude-swarm of one project: the daemon's own files.
// Nothing there is mail, and nothing there belongs in git.
type Home struct {
	dir   string
	files durable.Files // by which everything in it is written
}

// HomeOf names the home of a project; nothing is made.
func HomeOf(project string) Home { return Home{dir: filepath.Join(project, ".claude-swarm")} }

// With is the same home, with another way to write its files.
func (h Home) With(files durable.Files) Home {
	h.files = files
	return h
}

// Files is how everything in the home is written.
func (h Home) Files() durable.Files { return h.files }

// Make makes the folders, readable by their owner alone, and keeps git away from them.
// It is harmless to repeat.
func (h Home) Make() error {
	if err := rendezvous.MakeHome(h.dir); err != nil {
		return err
	}
	for _, d := range []string{"logs", "turns", "clients", "pids", "window"} {
		if err := os.MkdirAll(filepath.Join(h.dir, d), 0o700); err != nil {
			return fmt.Errorf("make the daemon's folder: %w", err)
		}
	}
	return nil
}

// Dir is the folder itself.
func (h Home) Dir() string { return h.dir }

// LockFile is held by the one daemon of the project.
func (h Home) LockFile() string { return filepath.Join(h.dir, "daemon.lock") }

// DaemonLog is the daemon's own log, JSON lines.
func (h Home) DaemonLog() string { return filepath.Join(h.dir, "daemon.log") }

// AgentLog is the readable log of one agent.
func (h Home) AgentLog(agent string) string { return filepath.Join(h.dir, "logs", agent+".log") }

// PIDFile holds the process that works for an agent, or waits for its next message.
func (h Home) PIDFile(agent string) string { return filepath.Join(h.dir, "pids", agent+".pid") }

// Ledger has one line for every attempt that ended.
func (h Home) Ledger() string { return filepath.Join(h.dir, "ledger.jsonl") }

// Turns is the folder of the turns' own files.
func (h Home) Turns() string { return filepath.Join(h.dir, "turns") }

// Stream is the standard output of the client that a turn has started. A later turn
// of the same client has none of its own.
func (h Home) Stream(turn string) string { return h.TurnFile(turn, ".jsonl") }

func (h Home) TurnFile(turn, ending string) string {
	return filepath.Join(h.dir, "turns", turn+ending)
}

// Recorded lists the turns that have a record.
func (h Home) Recorded() ([]string, error) { return filesWith(h.Turns(), ".json") }

// withPIDFile lists the agents that have a pid file.
func (h Home) withPIDFile() ([]string, error) { return filesWith(filepath.Join(h.dir, "pids"), ".pid") }

// filesWith lists the files in a folder whose names have that ending, without it. There is no
// pattern in this: the path of a project may have any signs in it.
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

// ClientFile is what an agent's client is told by file. It is the same in every
// turn, until the configuration changes.
func (h Home) ClientFile(agent, ending string) string {
	return filepath.Join(h.dir, "clients", agent+ending)
}

func (h Home) WindowFile(agent string) string { return filepath.Join(h.dir, "window", agent) }

// PendingFile holds what a compaction took and the next prompt gives back.
func (h Home) PendingFile(agent string) string {
	return filepath.Join(h.dir, "window", agent+".pending")
}

func (h Home) sessionsFile() string { return filepath.Join(h.dir, "sessions.json") }

// GateFile holds what was said lately, as far as the gate needs it.
func (h Home) GateFile() string { return filepath.Join(h.dir, "gate.json") }

// Events is the list of what happened.
func (h Home) Events() *Events { return Open(h.dir, h.files, h.Secrets().Hidden) }

// Secrets takes the tokens of the project out of what is written.
func (h Home) Secrets() *tokens.Source { return tokens.NewSource(h.dir) }

// MirrorFile says how far the lead's mail was shown.
func (h Home) MirrorFile() string { return filepath.Join(h.dir, "mirror.json") }

func (h Home) stateFile() string { return filepath.Join(h.dir, "state.json") }

// ReadJSON fills v from path. A missing file leaves v as it is.
func ReadJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return &DamagedError{Path: path, Err: err}
	}
	return nil
}

func (h Home) HandbackFile(turn string) string { return h.TurnFile(turn, ".hook.json") }
