package provision

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
)

// homeName is the name of the daemon's folder, which contains its own files, such as logs
// and tokens.
const homeName = ".claude-swarm"

// manifestName is the name of the manifest file in the daemon's folder.
const manifestName = "setup.json"

// A manifest lists what init and attach created in a project, with a hash of each file.
// It makes it possible to distinguish our files and lines from those of others, and to
// remove only ours. An entry is recorded before its file, folder or lines are created:
// after a crash, some of them may be missing, but everything that we created has an
// entry.
//
// A manifest belongs to one run and therefore to one goroutine.
type manifest struct {
	V       int     `json:"v"`
	Mail    string  `json:"mail,omitempty"` // the mailboxes' folder
	Entries []entry `json:"made"`
	// Attached contains, for each attached agent, the way in which its session was set
	// up.
	Attached map[string]Way `json:"attached,omitempty"`

	dir  string // absolute path of the project's folder
	disk disk
}

// These are the kinds of entries.
const (
	kindFile   = "file"   // a whole file
	kindFolder = "folder" // a folder, created for a file in it
	kindLines  = "lines"  // lines inserted into an existing file
)

// An entry describes a file, folder or lines that init or attach created.
type entry struct {
	Path   string `json:"path"` // relative to the project's folder if the path is inside it
	Kind   string `json:"kind"`
	Agent  string `json:"agent,omitempty"`  // the attached session that needs it
	SHA256 string `json:"sha256,omitempty"` // hash of a file's content when it was written
	Also   string `json:"also,omitempty"`   // hash of the content that is about to replace it
	Plain  bool   `json:"plain,omitempty"`  // for a claude-swarm.yaml: its content is the template

	Inserts []insert `json:"inserts,omitempty"`
	Before  *before  `json:"before,omitempty"`

	Lines []agentLines `json:"lines,omitempty"` // lines of attached agents in claude-swarm.yaml
}

// agentLines are the lines of an attached agent in claude-swarm.yaml, including their
// fence.
type agentLines struct {
	Agent string `json:"agent"`
	Text  string `json:"text"`
}

// An insert is text that was inserted into a file at an offset, in bytes.
type insert struct {
	At   int    `json:"at"`
	Text string `json:"text"`
}

// before is the state of a file before anything was inserted.
type before struct {
	SHA256 string    `json:"sha256"`
	Time   time.Time `json:"time"`
}

// oldTime returns the modification time that a file had before anything was inserted. It
// returns the zero time unless text is the file's content at that time.
func (e entry) oldTime(text []byte) time.Time {
	if e.Before != nil && hashOf(text) == e.Before.SHA256 {
		return e.Before.Time
	}
	return time.Time{}
}

// A Way is how an attached session gets its hooks and tools.
type Way string

// These are the ways, best first.
const (
	// ByPlugin creates a plugin in the daemon's folder, and the session is started with
	// that plugin. No other files change.
	ByPlugin Way = "plugin"
	// BySettings adds entries to .claude/settings.json and .mcp.json in the agent's folder,
	// and adds the command /inbox there.
	BySettings Way = "settings"
	// ByTools provides only the tools and /inbox, so it works even where hooks are not
	// allowed.
	ByTools Way = "tools"
)

// Ways lists all ways, best first.
var Ways = []Way{ByPlugin, BySettings, ByTools}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// openManifest reads the manifest of the project in dir, an absolute path; if there is no
// file, the manifest is empty. config is the path of the project's claude-swarm.yaml.
func openManifest(dir, config string, step func(string) error) (*manifest, error) {
	m := &manifest{V: 1, dir: dir, disk: disk{step}}
	data, err := os.ReadFile(m.path())
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	} else if err != nil {
		return nil, err
	}
	m.V = 0
	if err := json.Unmarshal(data, m); err != nil {
		return nil, &BrokenError{Path: m.path(), Problem: "is broken: " + err.Error(),
			Hint: "restore it, or mv it elsewhere: init --remove then leaves what it listed"}
	}
	if m.V != 1 {
		return nil, &BrokenError{Path: m.path(), Problem: fmt.Sprintf("was written by a newer version (%d)", m.V),
			Hint: "install the newer claude-swarm that made it"}
	}
	m.adopt(short(dir, followLinks(config)))
	return m, nil
}

// adopt converts an earlier version's entry for claude-swarm.yaml. The entry has only the
// lines of the agent that was attached last, because that version did not keep the lines
// of earlier agents.
func (m *manifest) adopt(config string) {
	for i, e := range m.Entries {
		if e.Path == config && e.Kind == kindLines && len(e.Inserts) == 1 {
			m.Entries[i].Lines, m.Entries[i].Inserts, m.Entries[i].Agent = []agentLines{{e.Agent, e.Inserts[0].Text}}, nil, ""
		}
	}
}

// A BrokenError reports that a file cannot be used as it is. Nothing has been changed.
type BrokenError struct {
	Path    string
	Problem string // completes a sentence that begins with the path
	Hint    string // what to do
}

func (e *BrokenError) Error() string { return e.Path + " " + e.Problem }

// sweep removes half-written files that a crash left behind.
func (m *manifest) sweep() error {
	for _, e := range m.Entries {
		if e.Kind != kindFolder {
			if err := ignoreMissing(os.Remove(tempPath(followLinks(m.abs(e.Path))))); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *manifest) home() string { return filepath.Join(m.dir, homeName) }
func (m *manifest) path() string { return filepath.Join(m.home(), manifestName) }

// abs returns the absolute path of an entry.
func (m *manifest) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(m.dir, path)
}

// save writes the manifest. If necessary, it creates the daemon's folder. That folder
// needs no entry, because its name shows that it is ours.
func (m *manifest) save() error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if have, err := os.ReadFile(m.path()); err == nil && bytes.Equal(have, data) {
		return nil
	}
	if err := m.disk.asks("make " + homeName); err != nil {
		return err
	}
	if err := discovery.MakeHome(m.home()); err != nil {
		return err
	}
	return m.disk.write(m.path(), data, 0o600, time.Time{}, true)
}

// find returns the entry for a path or, if there is none, for the file to which the path
// links. It returns nil if neither exists.
func (m *manifest) find(path string) *entry {
	for _, path := range []string{short(m.dir, path), short(m.dir, followLinks(path))} {
		if i := slices.IndexFunc(m.Entries, func(e entry) bool { return e.Path == path }); i >= 0 {
			return &m.Entries[i]
		}
	}
	return nil
}

// put saves an entry, replacing any earlier entry for the same path.
func (m *manifest) put(e entry) error {
	e.Path = short(m.dir, e.Path)
	if i := slices.IndexFunc(m.Entries, func(have entry) bool { return have.Path == e.Path }); i >= 0 {
		m.Entries[i] = e
	} else {
		m.Entries = append(m.Entries, e)
	}
	return m.save()
}

// forget removes an entry from the manifest.
func (m *manifest) forget(path string) error {
	path = short(m.dir, path)
	m.Entries = slices.DeleteFunc(m.Entries, func(e entry) bool { return e.Path == path })
	return m.save()
}
