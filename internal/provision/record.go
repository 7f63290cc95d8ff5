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

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/rendezvous"
)

// recordName is the file, in the daemon's folder, that says what was made.
const recordName = "setup.json"

// A record says what init and attach made in a project, so that it can be told
// from what others made, and taken away to the byte. An entry is written down
// before the thing is made: after a crash there may be entries of things that are
// not there, but nothing of ours without an entry.
type record struct {
	V       int     `json:"v"`
	Mail    string  `json:"mail,omitempty"` // the folder of the mailboxes
	Entries []entry `json:"made"`
	// Attached says in which way the session of an agent was set up.
	Attached map[string]Way `json:"attached,omitempty"`
}

// The kinds of an entry.
const (
	kindFile   = "file"   // made whole
	kindFolder = "folder" // made, for a file in it
	kindLines  = "lines"  // put into a file that was there
)

// An entry is one thing that was made.
type entry struct {
	Path   string `json:"path"` // as seen from the project's folder, if it is in it
	Kind   string `json:"kind"`
	Agent  string `json:"agent,omitempty"`  // for which attached session
	SHA256 string `json:"sha256,omitempty"` // of a file's content when it was written
	Also   string `json:"also,omitempty"`   // of the content that is about to replace it
	Plain  bool   `json:"plain,omitempty"`  // a claude-swarm.yaml that is the template

	Inserts []insert `json:"inserts,omitempty"`
	Before  *before  `json:"before,omitempty"`

	Lines []ownLines `json:"lines,omitempty"` // of attached agents, in claude-swarm.yaml
}

// ownLines are the lines of an attached agent in claude-swarm.yaml, with their fence.
type ownLines struct {
	Agent string `json:"agent"`
	Text  string `json:"text"`
}

// An insert is a text that was put into a file at an offset, in bytes.
type insert struct {
	At   int    `json:"at"`
	Text string `json:"text"`
}

// before is what a file was like before something was put into it.
type before struct {
	SHA256 string    `json:"sha256"`
	Time   time.Time `json:"time"`
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// setup is one run of init, check, remove or attach over a project. It belongs to
// one goroutine.
type setup struct {
	dir  string // the project's folder, absolute
	rec  record
	step func(string) error
	r    *Report
}

// openSetup reads the record of a project; without one it is empty. What a crash
// left half-written is taken away.
func openSetup(dir string, step func(string) error, r *Report) (*setup, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r.Config = filepath.Join(dir, config.Name)
	s := &setup{dir: dir, step: step, r: r}
	data, err := os.ReadFile(s.recordPath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.rec.V = 1
		return s, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(data, &s.rec); err != nil {
		return nil, &BrokenError{Path: s.recordPath(), Problem: "is broken: " + err.Error(),
			Hint: "restore it, or mv it elsewhere: init --remove then leaves what stood in it"}
	}
	if s.rec.V != 1 {
		return nil, &BrokenError{Path: s.recordPath(), Problem: fmt.Sprintf("is of a newer version (%d)", s.rec.V),
			Hint: "install the newer claude-swarm that made it"}
	}
	s.rec.adopt(short(s.dir, real(r.Config)))
	return s, nil
}

// adopt reads what an earlier version noted of claude-swarm.yaml: the lines of one agent,
// the last that was attached. It forgot those of the agents before.
func (r *record) adopt(config string) {
	for i, e := range r.Entries {
		if e.Path == config && e.Kind == kindLines && len(e.Inserts) == 1 {
			r.Entries[i].Lines, r.Entries[i].Inserts, r.Entries[i].Agent = []ownLines{{e.Agent, e.Inserts[0].Text}}, nil, ""
		}
	}
}

// A BrokenError is a file that cannot be used as it is. Nothing was changed.
type BrokenError struct {
	Path    string
	Problem string // goes on with the sentence that the path begins
	Hint    string // what to do
}

func (e *BrokenError) Error() string { return e.Path + " " + e.Problem }

// sweep takes away what a crash left half-written. Looking alone does not.
func (s *setup) sweep() error {
	for _, e := range s.rec.Entries {
		if e.Kind != kindFolder {
			if err := gone(os.Remove(half(real(s.abs(e.Path))))); err != nil {
				return err
			}
		}
	}
	return nil
}

// half is where the content of a file lies until it is whole.
func half(path string) string {
	dir, name := filepath.Split(path)
	return filepath.Join(dir, "."+name+".claude-swarm-new")
}

// real is the file itself where path is a symbolic link.
func real(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

// gone is an error of a removal, but not that there was nothing.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (s *setup) home() string       { return filepath.Join(s.dir, ignoredDir) }
func (s *setup) recordPath() string { return filepath.Join(s.home(), recordName) }

// abs is the path of an entry.
func (s *setup) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.dir, path)
}

// does asks before a change on disk.
func (s *setup) does(what string) error {
	if s.step == nil {
		return nil
	}
	return s.step(what)
}

// save writes the record. It makes the daemon's folder, which is ours by its name.
func (s *setup) save() error {
	data, err := json.MarshalIndent(s.rec, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if have, err := os.ReadFile(s.recordPath()); err == nil && bytes.Equal(have, data) {
		return nil
	}
	if err := s.does("make " + ignoredDir); err != nil {
		return err
	}
	if err := rendezvous.MakeHome(s.home()); err != nil {
		return err
	}
	return s.write(s.recordPath(), data, 0o600, time.Time{}, true)
}

// write writes a file by a separate name first, so that nobody sees a half. With
// replace a file that is there is replaced, else the error is [fs.ErrExist]. A
// time that is not zero becomes the file's.
func (s *setup) write(path string, data []byte, mode fs.FileMode, at time.Time, replace bool) error {
	tmp := half(path)
	files := durable.Files{Step: func(st durable.Step) error {
		switch st.Op {
		case durable.Create:
			return s.does("write " + tmp)
		case durable.Rename, durable.Link:
			return s.does("write " + path)
		case durable.Remove:
			return s.does("remove " + tmp)
		}
		return nil
	}}
	return files.Write(path, durable.Options{Perm: mode, Time: at, Temp: filepath.Base(tmp), Keep: !replace}, data)
}

// find is the entry of a path, or nil.
func (s *setup) find(path string) *entry {
	path = short(s.dir, path)
	for i := range s.rec.Entries {
		if s.rec.Entries[i].Path == path {
			return &s.rec.Entries[i]
		}
	}
	return nil
}

// enter writes an entry down, in place of what was noted of that path.
func (s *setup) enter(e entry) error {
	e.Path = short(s.dir, e.Path)
	if have := s.find(e.Path); have != nil {
		*have = e
	} else {
		s.rec.Entries = append(s.rec.Entries, e)
	}
	return s.save()
}

// strike takes an entry out of the record.
func (s *setup) strike(path string) error {
	path = short(s.dir, path)
	s.rec.Entries = slices.DeleteFunc(s.rec.Entries, func(e entry) bool { return e.Path == path })
	return s.save()
}
