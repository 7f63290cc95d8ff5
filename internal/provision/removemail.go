package provision

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// removeMail removes the empty mailboxes, or, with Purge, all mailboxes, and then their
// folder. Mail behind a symbolic link is foreign, so the mail and the link remain.
func (s *setup) removeMail(o RemoveOptions) error {
	if s.m.Mail == "" {
		return nil
	}
	dir := s.m.abs(s.m.Mail)
	if isLink(dir) {
		o.Purge = false
	}
	boxes, err := s.mailboxNames(o.Agent)
	if errors.Is(err, dropbox.ErrNoStore) {
		if isFolder(dir) && o.Agent == "" { // the creation of the store was interrupted
			return s.removeUnfinished(dir)
		}
		return nil
	} else if err != nil {
		return err
	}
	for _, name := range boxes {
		if err := s.removeMailbox(filepath.Join(dir, name), o); err != nil {
			return err
		}
	}
	if o.Agent != "" {
		return nil
	}
	return s.removeMailFolder(dir, o)
}

// mailboxNames lists the project's mailboxes, sorted. If agent is not "", it lists only that
// agent's mailbox. The error is [dropbox.ErrNoStore] if the store is missing or its creation was
// interrupted.
func (s *setup) mailboxNames(agent string) ([]string, error) {
	store, err := dropbox.Open(s.m.abs(s.m.Mail), dropbox.Options{})
	if err != nil {
		return nil, err
	}
	boxes, err := store.Mailboxes()
	slices.Sort(boxes)
	boxes = slices.DeleteFunc(boxes, func(name string) bool { return agent != "" && name != agent })
	return boxes, errors.Join(err, store.Close())
}

// removeMailbox removes a mailbox if it is empty or Purge is set.
func (s *setup) removeMailbox(path string, o RemoveOptions) error {
	n, err := count(path)
	if err != nil {
		return err
	}
	if n > 0 && !o.Purge {
		what := "--purge"
		if o.Agent != "" {
			what = o.Agent + " --purge"
		}
		s.r.kept(path, screen.Count(n, "file")+" in it, "+s.purgeable("it may be mail; init --remove "+what+" removes that too"))
		return nil
	}
	return s.removeBy(path, func(path string) error {
		// Subscriptions are useless without a mailbox.
		if err := ignoreMissing(os.Remove(subscriptionsOf(filepath.Dir(path), filepath.Base(path)))); err != nil {
			return err
		}
		if o.Purge {
			return os.RemoveAll(path)
		}
		return removeEmpty(path)
	})
}

// purgeable returns a message that says how to remove the mail, or why Remove does not
// remove it.
func (s *setup) purgeable(how string) string {
	if to, err := filepath.EvalSymlinks(s.m.abs(s.m.Mail)); err == nil && isLink(s.m.abs(s.m.Mail)) {
		return "behind a link to " + to + ", which is never emptied; remove it there"
	}
	return how
}

// removeMailFolder removes the mailboxes' folder once the mailboxes have been removed.
func (s *setup) removeMailFolder(dir string, o RemoveOptions) error {
	left := 0
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if slices.Contains([]string{"version", ".gitignore", ".lock"}, e.Name()) {
			continue
		}
		n, err := count(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		left += n
	}
	if left > 0 && !o.Purge {
		if !slices.ContainsFunc(s.r.Items, func(i Item) bool { return i.State == Kept && strings.HasPrefix(s.m.abs(i.Path), dir) }) {
			s.r.kept(dir, screen.Count(left, "file")+" in it; "+s.purgeable("init --remove --purge removes that too"))
		}
		return nil
	}
	by := os.RemoveAll
	if !o.Purge {
		by = func(dir string) error { return removeStore(dir, entries) }
	}
	if err := s.removeBy(dir, by); err != nil {
		return err
	}
	s.m.Mail = ""
	return s.m.save()
}

// removeStore removes a store that contains no mail: the store's own files and its empty
// folders. If dir is a link, the link and its target remain.
func removeStore(dir string, entries []fs.DirEntry) (err error) {
	// The version file is removed last: until then, the folder is recognized as a store,
	// so the next run finds it.
	for _, name := range []string{".lock", ".gitignore"} {
		err = errors.Join(err, ignoreMissing(os.Remove(filepath.Join(dir, name))))
	}
	for _, e := range entries {
		if e.IsDir() {
			err = errors.Join(err, removeEmpty(filepath.Join(dir, e.Name())))
		}
	}
	if err == nil {
		err = ignoreMissing(os.Remove(filepath.Join(dir, "version")))
	}
	if err == nil && !isLink(dir) {
		err = ignoreMissing(os.Remove(dir))
	}
	return err
}

// removeUnfinished removes a store whose creation was never finished.
func (s *setup) removeUnfinished(dir string) error {
	if err := s.m.disk.asks("remove " + dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if ignoreMissing(err) != nil {
		return err
	}
	for _, e := range entries {
		what, id, ok := strings.Cut(e.Name(), "-") // the name of a temporary file of an unfinished store
		if e.Name() != ".gitignore" && !(ok && len(id) == 10 && (what == "gitignore" || what == "version")) {
			continue
		}
		if err := ignoreMissing(os.Remove(filepath.Join(dir, e.Name()))); err != nil {
			return err
		}
	}
	if n, err := count(dir); err != nil || n > 0 {
		return err
	}
	if err := removeEmpty(dir); err != nil {
		return err
	}
	s.r.add(dir, Removed, "", "")
	return nil
}

// Held is the number of messages in a mailbox, including finished ones.
type Held struct {
	Mailbox  string
	Messages int
}

// MailToPurge returns what [Remove] with Purge would delete: the number of messages in each
// mailbox that contains any, sorted by name. If agent is not "", it returns only that
// agent's mailbox.
func MailToPurge(dir, agent string) ([]Held, error) {
	var r Report
	s, err := openSetup(dir, nil, &r)
	if err != nil || s.m.Mail == "" || isLink(s.m.abs(s.m.Mail)) {
		return nil, err
	}
	boxes, err := s.mailboxNames(agent)
	if errors.Is(err, dropbox.ErrNoStore) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var all []Held
	for _, name := range boxes {
		n := 0
		err := filepath.WalkDir(filepath.Join(s.m.abs(s.m.Mail), name), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(path) == ".md" {
				n++
			}
			return ignoreMissing(err)
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
