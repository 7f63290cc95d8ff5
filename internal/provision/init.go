package provision

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/rendezvous"
)

// Options tune Init. The zero value is ready to use.
type Options struct {
	// Config is the text of the claude-swarm.yaml to write where there is none;
	// empty means [config.Template].
	Config string

	// Subscribe says of agents which topics they are to hear of, as patterns.
	Subscribe map[string][]string

	// Skill makes the skill that teaches a session of Claude Code the verbs.
	Skill bool

	// Upgrade makes again what an older version made and nobody changed since.
	Upgrade bool
	// Reset makes everything of ours again, also what somebody changed; but never
	// a claude-swarm.yaml, which is the person's own.
	Reset bool

	// Step, if set, is asked before every change on disk outside the mailboxes.
	// An error ends the run there, as a crash would; the next run goes on.
	Step func(what string) error
}

// A State says what a run found or did.
type State string

// The states of an [Item].
const (
	Made   State = "made"   // it was not there
	There  State = "there"  // it was there and was left alone
	Added  State = "added"  // a file that was there got our lines
	Remade State = "remade" // ours, and recreated

	Current State = "current" // ours, as this version makes it
	Present State = "present" // there, and yours
	Drifted State = "drifted" // ours, but of an older version, or changed since
	Missing State = "missing"

	Removed State = "removed"
	Taken   State = "taken" // out of a file that stays; Why says what
	Kept    State = "kept"  // Why says why
)

// An Item is one file or folder of a project.
type Item struct {
	Path  string `json:"path"` // as seen from the project's folder, if it is in it
	State State  `json:"state"`
	Why   string `json:"why,omitempty"`
	Try   string `json:"try,omitempty"`
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
		if i.State != There && i.State != Kept {
			return true
		}
	}
	return false
}

// Init makes the folder dir, which must be there, into a project: its
// claude-swarm.yaml, the mailboxes of the agents that are named in it, what they
// are to subscribe to, and, if git looks at this folder, the line of .gitignore
// that keeps the daemon's own files out of it. What it makes it notes in
// .claude-swarm, for [Check] and [Remove]. Nothing of others is overwritten. A
// claude-swarm.yaml that is there and bad gives its [config.Errors], and nothing
// is made. After an error the report has what was done before it.
func Init(dir string, o Options) (Report, error) {
	var r Report
	s, err := openSetup(dir, o.Step, &r)
	if err != nil {
		return r, err
	}
	if above, err := rendezvous.Find(filepath.Dir(s.dir)); err == nil && above != r.Config {
		r.Above = above
	}
	plain := o.Config == ""
	if plain {
		o.Config = config.Template()
	}
	file, err := config.Load(r.Config)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(s.dir); err != nil {
			return r, err
		}
		file, err = config.Parse(r.Config, []byte(o.Config))
	}
	if err != nil {
		return r, err
	}
	if err := s.skillFits(o); err != nil {
		return r, err
	}
	if err := s.sweep(); err != nil {
		return r, err
	}
	if err := s.configuration(o, plain); err != nil {
		return r, err
	}
	if err := s.mailboxes(file); err != nil {
		return r, err
	}
	if err := s.subscribe(file, o.Subscribe); err != nil {
		return r, err
	}
	if err := s.ignore(); err != nil {
		return r, err
	}
	if err := s.skill(o); err != nil {
		return r, err
	}
	return r, s.attachments(file, o)
}

// configuration writes claude-swarm.yaml where there is none.
func (s *setup) configuration(o Options, plain bool) error {
	made, err := s.makeFile(entry{Plain: plain}, s.r.Config, o.Config, 0o644)
	if err != nil || made || !o.Upgrade && !o.Reset {
		if err == nil {
			s.note(s.r.Config, made)
		}
		return err
	}
	e := s.find(s.r.Config)
	changed, err := s.edited(s.r.Config)
	if err != nil || e == nil || changed || !e.Plain || e.SHA256 == hashOf([]byte(config.Template())) {
		s.note(s.r.Config, false)
		return err
	}
	return s.remake(*e, config.Template())
}

// remake gives a file of ours another content.
func (s *setup) remake(e entry, text string) error {
	if err := s.renew(e, []byte(text)); err != nil {
		return err
	}
	s.r.Items = append(s.r.Items, Item{Path: e.Path, State: Remade})
	return nil
}

// renew replaces the content of a file of ours. Both contents are ours until the
// new one is there for sure.
func (s *setup) renew(e entry, text []byte) error {
	path := s.abs(e.Path)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	e.Also = hashOf(text)
	if err := s.enter(e); err != nil {
		return err
	}
	if err := s.write(path, text, info.Mode().Perm(), time.Time{}, true); err != nil {
		return err
	}
	e.SHA256, e.Also = e.Also, ""
	return s.enter(e)
}

// note adds an item that was made, or was there.
func (s *setup) note(path string, made bool) {
	state := There
	if made {
		state = Made
	}
	s.r.Items = append(s.r.Items, Item{Path: short(s.dir, path), State: state})
}

// short is the path as seen from dir, if it is in dir.
func short(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// mailboxes makes the folder of the mailboxes and a mailbox for each agent.
func (s *setup) mailboxes(file *config.File) error {
	there := isFolder(file.DeadDropDir)
	names := append(file.Names(), dropbox.Lead)
	had := make(map[string]bool)
	for _, name := range names {
		had[name] = isFolder(filepath.Join(file.DeadDropDir, name))
	}
	// The folders above it may be ours; itself is ours by what lies in it.
	if err := s.makeFolders(filepath.Dir(file.DeadDropDir), ""); err != nil {
		return err
	}
	s.rec.Mail = short(s.dir, file.DeadDropDir)
	if err := s.save(); err != nil {
		return err
	}
	if !there {
		if err := s.does("make " + file.DeadDropDir); err != nil {
			return err
		}
	}
	// Both are harmless to repeat, and make again what was deleted inside.
	if err := dropbox.Create(file.DeadDropDir); err != nil {
		return err
	}
	s.note(file.DeadDropDir, !there)
	store, err := dropbox.Open(file.DeadDropDir, dropbox.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	for _, name := range names {
		if !had[name] {
			if err := s.does("make the mailbox " + name); err != nil {
				return err
			}
		}
		if err := store.MakeMailbox(name); err != nil {
			return err
		}
		s.note(filepath.Join(file.DeadDropDir, name), !had[name])
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// ignoredDir is the folder of the daemon's own files, with logs and tokens.
const ignoredDir = ".claude-swarm"

// Our lines in a file of somebody else stand between these.
const (
	fenceBegin = "# >>> claude-swarm >>>"
	fenceEnd   = "# <<< claude-swarm <<<"
)

// ignore adds the daemon's folder to .gitignore, where there is one or dir is in
// the work tree of a git repository. The mailboxes are not added: they have a
// .gitignore of their own, and what is finished there is worth keeping.
func (s *setup) ignore() error {
	path := s.ignorePath()
	need, missing, err := s.ignoreNeeded()
	switch {
	case err != nil:
		return err
	case missing && need:
		made, err := s.makeFile(entry{}, path, ignoredDir+"/\n", 0o644)
		if err == nil {
			s.note(path, made)
		}
		return err
	case missing:
		return nil
	case !need:
		s.note(path, false)
		return nil
	}
	if err := s.addLines(path, "", placeIgnore); err != nil {
		return fmt.Errorf("add %s/ to .gitignore: %w", ignoredDir, err)
	}
	s.r.Items = append(s.r.Items, Item{Path: ".gitignore", State: Added})
	return nil
}

func (s *setup) ignorePath() string { return filepath.Join(s.dir, ".gitignore") }

// ignoreNeeded says whether .gitignore lacks our line, and whether there is no
// such file.
func (s *setup) ignoreNeeded() (need, missing bool, err error) {
	text, err := os.ReadFile(s.ignorePath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return inWorkTree(s.dir), true, nil
	case err != nil:
		return false, false, err
	}
	for line := range strings.Lines(string(text)) {
		// A rule may be written in several ways; a later one that takes it back
		// is the person's wish too.
		if rule := strings.Trim(strings.TrimSpace(line), "/"); rule == ignoredDir {
			return false, false, nil
		}
	}
	return true, false, nil
}

// placeIgnore puts our line, fenced, at the end of a .gitignore.
func placeIgnore(text []byte) ([]insert, error) {
	end := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		end = "\r\n"
	}
	add := fenceBegin + end + ignoredDir + "/" + end + fenceEnd + end
	if len(text) > 0 && text[len(text)-1] != '\n' {
		add = end + add
	}
	return []insert{{len(text), add}}, nil
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
