package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Binding identifies the process of the session that a person attached as an agent. A
// program belongs to the session if that process is one of its ancestors.
type Binding struct {
	V       int            `json:"v"`
	Agent   string         `json:"agent"`
	Process runner.Process `json:"process"`
	Session string         `json:"session"` // id of the client's session; it is never used as an address
	Since   time.Time      `json:"since"`

	// The mail that the session is working on, if any.
	Message string   `json:"message,omitempty"` // id
	Turn    string   `json:"turn,omitempty"`
	Notes   []string `json:"notes,omitempty"`  // ids of the notes in the same turn
	Asked   bool     `json:"asked,omitempty"`  // the person or the model asked for the mail
	Prompt  string   `json:"prompt,omitempty"` // id of the prompt whose turn is working on the mail
	Latest  string   `json:"latest,omitempty"` // id of the last prompt that the session received
	Blocks  int      `json:"blocks,omitempty"` // number of consecutive turns that the Stop hook started

	// The ids that the client assigned to the sub-agents working in the background.
	Tasks  []string `json:"tasks,omitempty"`  // those that were working when the last turn ended
	Before []string `json:"before,omitempty"` // those that were working before the session got the message
	Awaits bool     `json:"awaits,omitempty"` // the message's turn has ended, and the message is waiting for its sub-agents

	// List contains the newest tasks on the client's own task list, oldest first.
	List []ListedTask `json:"list,omitempty"`
}

// Helpers returns the sub-agents that are working on the message.
func (b *Binding) Helpers() []string {
	return slices.DeleteFunc(slices.Clone(b.Tasks), func(id string) bool { return slices.Contains(b.Before, id) })
}

// AwaitsTasks reports whether the message must wait for its sub-agents at the end of a
// turn. done says whether the turn that ended was the message's turn. If it was another
// turn, AwaitsTasks returns b.Awaits, because the session may not yet have noticed that
// sub-agents have ended.
func (b *Binding) AwaitsTasks(done bool) bool {
	if done {
		return len(b.Helpers()) > 0
	}
	return b.Awaits
}

// Forget records that the session is not working on a message.
func (b *Binding) Forget() {
	b.Message, b.Turn, b.Notes, b.Before, b.Awaits = "", "", nil, nil, false
}

// bindings returns the bindings folder. It contains one file for each attached agent.
func (h Home) bindings() string { return filepath.Join(h.dir, "attached") }

func (h Home) BindingFile(agent string) string { return filepath.Join(h.bindings(), agent+".json") }

// SessionGateFile is like [Home.GateFile], but for the mail of an attached session.
func (h Home) SessionGateFile(agent string) string { return filepath.Join(h.bindings(), agent+".gate") }

// BindingOf reads the binding of an agent. It returns nil if no session is bound, or if
// the session has ended.
func (h Home) BindingOf(agent string) (*Binding, error) {
	b, err := h.LastBinding(agent)
	if b == nil || err != nil || !b.Process.Alive() {
		return nil, err
	}
	return b, nil
}

// LastBinding is like BindingOf, but the session may have ended.
func (h Home) LastBinding(agent string) (*Binding, error) {
	data, err := os.ReadFile(h.BindingFile(agent))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	b := new(Binding)
	if err := json.Unmarshal(data, b); err != nil {
		return nil, fmt.Errorf("%s: %w", h.BindingFile(agent), err)
	}
	return b, nil
}

// allAncestors is larger than the number of ancestors that a process can have.
const allAncestors = 4096

// AttachedTo returns the attached session in which a process runs. The session is one of
// the ancestors of the process. It returns nil if the process does not run in an attached
// session.
func (h Home) AttachedTo(pid int) (*Binding, error) {
	files, err := os.ReadDir(h.bindings())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var above []runner.Process
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok {
			continue
		}
		b, err := h.LastBinding(name)
		if err != nil || b == nil {
			continue // the file is missing or cannot be read, so it does not count as a session
		}
		if above == nil {
			above = runner.Ancestors(pid, allAncestors)
		}
		if slices.Contains(above, b.Process) {
			return b, nil
		}
	}
	return nil, nil
}

// LockBinding locks an agent's binding. It waits while another program holds the lock.
// The caller calls the returned function to unlock.
func (h Home) LockBinding(agent string) (func() error, error) {
	if err := discovery.MakeHome(h.dir); err != nil {
		return nil, err
	}
	if err := discovery.MakeInHome(h.bindings()); err != nil {
		return nil, err
	}
	l := flock.New(filepath.Join(h.bindings(), agent+".lock"), flock.SetPermissions(0o600))
	if err := l.Lock(); err != nil {
		return nil, err
	}
	return l.Close, nil
}

func (b *Binding) Write(h Home) error {
	b.V = 1
	return h.files.WriteJSON(h.BindingFile(b.Agent), b)
}
