package provision

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/rendezvous"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// RemoveOptions tune Remove. The zero value removes everything that was made and
// holds nothing of yours.
type RemoveOptions struct {
	// Agent, if set, is whose things alone are removed: its mailbox and what
	// [Attach] made for it.
	Agent string
	// Purge removes mail too, and the daemon's logs and books.
	Purge bool
	// Step is as in [Options].
	Step func(what string) error
}

// Remove takes away what [Init] and [Attach] made: afterwards every file of
// others is, to the byte and with its mode and time, what it was before. A file
// that was changed since it was made stays, and so does a mailbox with anything
// in it, unless Purge is set; the report says so. No daemon may be running. Cut
// off at any point, the next Remove finishes what is left.
func Remove(dir string, o RemoveOptions) (Report, error) {
	var r Report
	s, err := openSetup(dir, o.Step, &r)
	if err != nil {
		return r, err
	}
	if err := s.sweep(); err != nil {
		return r, err
	}
	if err := s.unlistAll(o.Agent); err != nil {
		return r, err
	}
	// What was made last goes first: files before the folders that they are in.
	for _, e := range slices.Backward(slices.Clone(s.rec.Entries)) {
		if o.Agent != "" && e.Agent != o.Agent {
			continue
		}
		if err := s.takeAway(e); err != nil {
			return r, err
		}
	}
	if err := s.takeMail(o); err != nil {
		return r, err
	}
	if o.Agent != "" {
		s.stillNamed(o.Agent)
		if _, ok := s.rec.Attached[o.Agent]; ok {
			delete(s.rec.Attached, o.Agent)
			return r, s.save()
		}
		return r, nil
	}
	// Folders that held what has now gone.
	return r, s.takeHome(o)
}

// stillNamed says that claude-swarm.yaml has the agent in the person's own words.
func (s *setup) stillNamed(agent string) {
	file, err := config.Load(s.r.Config)
	if err != nil {
		return // it may be gone, or broken; the verbs that need it say so
	}
	if _, known := file.Agent(agent); known {
		s.kept(s.r.Config, agent+" still stands in it, so the next start runs it again; take it out there")
	}
}

// unlistAll takes the lines of an agent out of claude-swarm.yaml, or for "" those of all;
// but a file that init made and nobody changed goes whole.
func (s *setup) unlistAll(agent string) error {
	if e := s.configEntry(); agent == "" && e != nil && e.Kind == kindFile {
		if changed, err := s.edited(s.r.Config); err != nil || !changed {
			return err
		}
	}
	return s.unlist(agent)
}

func (s *setup) takeAway(e entry) error {
	switch e.Kind {
	case kindFile:
		return s.takeFile(e)
	case kindLines:
		return s.takeLines(e)
	case kindFolder:
		return s.takeFolder(e)
	}
	return fmt.Errorf("%s: %q of %s is not known to this version", s.recordPath(), e.Kind, e.Path)
}

// takeMail removes the mailboxes that hold nothing, and then what they lay in. Mail behind
// a symbolic link lies in somebody else's folder: it stays there, and so does the link.
func (s *setup) takeMail(o RemoveOptions) error {
	if s.rec.Mail == "" {
		return nil
	}
	dir := s.abs(s.rec.Mail)
	if isLink(dir) {
		o.Purge = false
	}
	store, err := dropbox.Open(dir, dropbox.Options{})
	if errors.Is(err, dropbox.ErrNoStore) {
		if isFolder(dir) && o.Agent == "" { // cut off in the middle of being made
			return s.takeEmpty(dir)
		}
		return nil
	} else if err != nil {
		return err
	}
	boxes, err := store.Mailboxes()
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	if o.Agent != "" {
		boxes = slices.DeleteFunc(boxes, func(name string) bool { return name != o.Agent })
	}
	for _, name := range boxes {
		if err := s.takeMailbox(filepath.Join(dir, name), o); err != nil {
			return err
		}
	}
	if o.Agent != "" {
		return nil
	}
	return s.takeStore(dir, o)
}

func (s *setup) takeMailbox(path string, o RemoveOptions) error {
	n, err := count(path)
	if err != nil {
		return err
	}
	if n > 0 && !o.Purge {
		what := "--purge"
		if o.Agent != "" {
			what = o.Agent + " --purge"
		}
		s.kept(path, screen.Count(n, "file")+" in it, "+s.purgeable("it may be mail; init --remove "+what+" removes that too"))
		return nil
	}
	if err := s.does("remove " + path); err != nil {
		return err
	}
	// Nobody else hears of topics by these, and without the mailbox they mean nothing.
	err = gone(os.Remove(subscriptionsOf(filepath.Dir(path), filepath.Base(path))))
	switch {
	case err != nil:
	case o.Purge:
		err = os.RemoveAll(path)
	default:
		err = removeEmpty(path)
	}
	if err == nil {
		s.removed(path)
	}
	return err
}

// purgeable is how to remove mail, or why Remove does not.
func (s *setup) purgeable(how string) string {
	if to, err := filepath.EvalSymlinks(s.abs(s.rec.Mail)); err == nil && isLink(s.abs(s.rec.Mail)) {
		return "behind a link to " + to + ", which is never emptied; remove it there"
	}
	return how
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// takeStore removes the folder of the mailboxes, once they are gone.
func (s *setup) takeStore(dir string, o RemoveOptions) error {
	ours := []string{"version", ".gitignore", ".lock"}
	left := 0
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		n, err := count(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		if !slices.Contains(ours, e.Name()) {
			left += n
		}
	}
	if left > 0 && !o.Purge {
		if !slices.ContainsFunc(s.r.Items, func(i Item) bool { return i.State == Kept && strings.HasPrefix(s.abs(i.Path), dir) }) {
			s.kept(dir, screen.Count(left, "file")+" in it; "+s.purgeable("init --remove --purge removes that too"))
		}
		return nil
	}
	if err := s.does("remove " + dir); err != nil {
		return err
	}
	if o.Purge {
		err = os.RemoveAll(dir)
	} else {
		// The version goes last of the files: until then it is a store, and the
		// next run finds it.
		for _, name := range []string{".lock", ".gitignore"} {
			err = errors.Join(err, gone(os.Remove(filepath.Join(dir, name))))
		}
		for _, e := range entries {
			if e.IsDir() {
				err = errors.Join(err, removeEmpty(filepath.Join(dir, e.Name())))
			}
		}
		if err == nil {
			err = gone(os.Remove(filepath.Join(dir, "version")))
		}
		if err == nil && !isLink(dir) {
			err = gone(os.Remove(dir))
		}
	}
	if err != nil {
		return err
	}
	s.removed(dir)
	s.rec.Mail = ""
	return s.save()
}

// takeEmpty removes a store that was never finished.
func (s *setup) takeEmpty(dir string) error {
	if err := s.does("remove " + dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if gone(err) != nil {
		return err
	}
	for _, e := range entries {
		what, id, ok := strings.Cut(e.Name(), "-") // scratch of a store that was being made
		if e.Name() != ".gitignore" && !(ok && len(id) == 10 && (what == "gitignore" || what == "version")) {
			continue
		}
		if err := gone(os.Remove(filepath.Join(dir, e.Name()))); err != nil {
			return err
		}
	}
	if n, err := count(dir); err != nil || n > 0 {
		return err
	}
	if err := removeEmpty(dir); err != nil {
		return err
	}
	s.removed(dir)
	return nil
}

// takeHome removes the record, and the daemon's folder if nothing else is in it.
func (s *setup) takeHome(o RemoveOptions) error {
	if !isFolder(s.home()) {
		return nil
	}
	if s.rec.Mail != "" && isFolder(s.abs(s.rec.Mail)) && !o.Purge {
		// Mail has stayed: the record says where, for the next time.
		return s.keptHome()
	}
	if o.Purge {
		if err := s.does("remove " + s.home()); err != nil {
			return err
		}
		if err := os.RemoveAll(s.home()); err != nil {
			return err
		}
		s.removed(s.home())
		return nil
	}
	for _, path := range []string{half(s.recordPath()), s.recordPath()} {
		if err := s.does("remove " + path); err != nil {
			return err
		}
		if err := gone(os.Remove(path)); err != nil {
			return err
		}
	}
	n, err := count(s.home())
	if err != nil {
		return err
	}
	if ignore := filepath.Join(s.home(), rendezvous.IgnoreFile); n == 1 && rendezvous.IsIgnoreFile(ignore) {
		// With nothing to keep git from it goes, too.
		if err := s.does("remove " + ignore); err != nil {
			return err
		}
		if err := gone(os.Remove(ignore)); err != nil {
			return err
		}
		n = 0
	}
	if n > 0 {
		return s.keptHome()
	}
	if err := s.does("remove " + s.home()); err != nil {
		return err
	}
	if err := removeEmpty(s.home()); err != nil {
		return err
	}
	s.removed(s.home())
	return nil
}

func (s *setup) keptHome() error {
	why := "the daemon's logs and books; init --remove --purge removes them too"
	if n, err := count(s.home()); err != nil || n <= 2 && exists(s.recordPath()) && (n == 1 || exists(filepath.Join(s.home(), rendezvous.IgnoreFile))) {
		why = "it says what was made here and has stayed"
	}
	s.kept(s.home(), why)
	return nil
}

// count counts what is below a path and is no folder.
func count(path string) (n int, err error) {
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return gone(err)
	})
	return n, err
}

// removeEmpty removes folders that hold nothing but folders. What somebody puts
// there meanwhile is never lost: then the folder stays.
func removeEmpty(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return gone(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := removeEmpty(filepath.Join(path, e.Name())); err != nil {
				return err
			}
		}
	}
	return gone(os.Remove(path))
}

// Held is how many messages a mailbox has, finished ones too.
type Held struct {
	Mailbox  string
	Messages int
}

// MailToPurge is what [Remove] with Purge would remove for good: the messages of the mailboxes that
// hold any, sorted by name; with an agent its own alone.
func MailToPurge(dir, agent string) ([]Held, error) {
	var r Report
	s, err := openSetup(dir, nil, &r)
	if err != nil || s.rec.Mail == "" || isLink(s.abs(s.rec.Mail)) {
		return nil, err
	}
	store, err := dropbox.Open(s.abs(s.rec.Mail), dropbox.Options{})
	if errors.Is(err, dropbox.ErrNoStore) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	boxes, err := store.Mailboxes()
	if err = errors.Join(err, store.Close()); err != nil {
		return nil, err
	}
	slices.Sort(boxes)
	var all []Held
	for _, name := range boxes {
		if agent != "" && name != agent {
			continue
		}
		n := 0
		err := filepath.WalkDir(filepath.Join(store.Dir(), name), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(path) == ".md" {
				n++
			}
			return gone(err)
		})
		if err != nil {
			return nil, err
		}
		if n > 0 {
			all = append(all, Held{name, n})
		}
	}
	return all, nil
}
