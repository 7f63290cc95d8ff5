package provision

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
)

// Options tune Init. The zero value is ready to use.
type Options struct {
	// Config is the text of the claude-swarm.yaml to write where there is none;
	// empty means [config.Template].
	Config string
}

// A State says what Init did to a file or folder.
type State string

// The states of an [Item].
const (
	Made  State = "made"  // it was not there
	There State = "there" // it was there and was left alone
	Added State = "added" // a file that was there got a line
)

// An Item is one file or folder of a project.
type Item struct {
	Path  string `json:"path"` // as seen from the project's folder, if it is in it
	State State  `json:"state"`
}

// A Report says what Init found and did, in the order in which it did it.
type Report struct {
	Config string `json:"config"`          // claude-swarm.yaml, absolute
	Items  []Item `json:"items"`           // at least claude-swarm.yaml and the mailboxes
	Above  string `json:"above,omitempty"` // the claude-swarm.yaml of a project that this one lies in, if any
}

// Changed says whether anything was made.
func (r Report) Changed() bool {
	for _, i := range r.Items {
		if i.State != There {
			return true
		}
	}
	return false
}

// Init makes the folder dir, which must be there, into a project: its
// claude-swarm.yaml, the mailboxes of the agents that are named in it, and, if
// git looks at this folder, the line of .gitignore that keeps the daemon's own
// files out of it. Nothing is overwritten. A claude-swarm.yaml that is there and
// bad gives its [config.Errors], and nothing is made. After an error the report
// has what was done before it.
func Init(dir string, o Options) (Report, error) {
	var r Report
	dir, err := filepath.Abs(dir)
	if err != nil {
		return r, err
	}
	r.Config = filepath.Join(dir, config.Name)
	if above, err := config.Find(filepath.Dir(dir)); err == nil && above != r.Config {
		r.Above = above
	}
	if o.Config == "" {
		o.Config = config.Template()
	}
	made, err := writeNew(r.Config, o.Config)
	if err != nil {
		return r, err
	}
	file, err := config.Load(r.Config)
	if err != nil {
		if made {
			// Options.Config was bad: take it back, or the next Init would trip over it.
			err = errors.Join(err, os.Remove(r.Config))
		}
		return r, err
	}
	r.note(dir, r.Config, made)
	if err := r.mailboxes(dir, file); err != nil {
		return r, err
	}
	return r, r.ignore(dir)
}

// note adds an item that was made, or was there.
func (r *Report) note(dir, path string, made bool) {
	state := There
	if made {
		state = Made
	}
	r.Items = append(r.Items, Item{Path: short(dir, path), State: state})
}

// short is the path as seen from dir, if it is in dir.
func short(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// writeNew writes a file that is not there yet, and leaves one that is.
func writeNew(path, text string) (made bool, err error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	_, err = out.WriteString(text)
	if err = errors.Join(err, out.Close()); err != nil {
		return false, errors.Join(err, os.Remove(path)) // half a file would be taken for the person's own
	}
	return true, nil
}

// mailboxes makes the folder of the mailboxes and a mailbox for each agent.
func (r *Report) mailboxes(dir string, file *config.File) error {
	there := isFolder(file.DeadDropDir)
	names := append(file.Names(), dropbox.Lead)
	had := make(map[string]bool)
	for _, name := range names {
		had[name] = isFolder(filepath.Join(file.DeadDropDir, name))
	}
	// Both are harmless to repeat, and make again what was deleted inside.
	if err := dropbox.Create(file.DeadDropDir); err != nil {
		return err
	}
	r.note(dir, file.DeadDropDir, !there)
	store, err := dropbox.Open(file.DeadDropDir, dropbox.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	for _, name := range names {
		if err := store.MakeMailbox(name); err != nil {
			return err
		}
		r.note(dir, filepath.Join(file.DeadDropDir, name), !had[name])
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// ignoredDir is the folder of the daemon's own files, with logs and tokens.
const ignoredDir = ".claude-swarm"

// ignore adds the daemon's folder to .gitignore, where there is one or dir is in
// the work tree of a git repository. The mailboxes are not added: they have a
// .gitignore of their own, and what is finished there is worth keeping.
func (r *Report) ignore(dir string) error {
	path := filepath.Join(dir, ".gitignore")
	text, err := os.ReadFile(path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return err
	case missing && !inWorkTree(dir):
		return nil
	}
	for line := range strings.Lines(string(text)) {
		// A rule may be written in several ways; a later one that takes it back
		// is the person's wish too.
		if rule := strings.Trim(strings.TrimSpace(line), "/"); rule == ignoredDir {
			r.note(dir, path, false)
			return nil
		}
	}
	end := "\n"
	if strings.Contains(string(text), "\r\n") {
		end = "\r\n"
	}
	add := ignoredDir + "/" + end
	if len(text) > 0 && text[len(text)-1] != '\n' {
		add = end + add
	}
	// Appended, not replaced: .gitignore may be a link, and its other lines are
	// not ours.
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = out.WriteString(add)
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("add %s/ to .gitignore: %w", ignoredDir, err)
	}
	state := Added
	if missing {
		state = Made
	}
	r.Items = append(r.Items, Item{Path: ".gitignore", State: state})
	return nil
}

// inWorkTree says whether dir is in a git work tree. In a linked work tree and
// in a submodule .git is a file.
func inWorkTree(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		above := filepath.Dir(dir)
		if above == dir {
			return false
		}
		dir = above
	}
}
