package dropbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
)

// maxScratch is the age at which a file in tmp/ is considered to have been left behind by
// a crash.
const maxScratch = time.Hour

// Clean removes files that crashes left behind in tmp/ at least an hour ago, and keys older
// than 7 days. A message that did not reach new/ was never accepted, so Clean removes it
// together with its key. It is safe to call Clean again. It returns the number of files that
// it removed.
func (b *Mailbox) Clean(now time.Time) (removed int, err error) {
	n, err := cleaner{b}.tmp(now)
	if err == nil {
		var keys int
		keys, err = cleaner{b}.keys(now)
		n += keys
	}
	return n, b.wrap("clean", err)
}

// A cleaner removes files that crashes left behind in a mailbox.
type cleaner struct{ box *Mailbox }

func (c cleaner) tmp(now time.Time) (removed int, err error) {
	names, err := c.box.disk.names(c.box.dir(tmpFolder))
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		path := c.box.at(tmpFolder, name)
		st, err := c.box.disk.stat(path)
		if err != nil || now.Sub(modTime(&st)) < maxScratch || kindOf(st.Mode) == KindFolder {
			continue // missing, too new, or not a file of the store
		}
		if _, ok := parseName(name); ok && kindOf(st.Mode) == KindFile {
			// Rename the file first, because a sender with that key may be about to
			// complete the delivery, and only one of the two renames succeeds.
			aside := c.box.at(tmpFolder, oldPrefix+NewID())
			if err := c.box.disk.move(path, aside); errors.Is(err, fs.ErrNotExist) {
				continue
			} else if err != nil {
				return removed, err
			}
			if err := c.dropKey(aside); err != nil {
				return removed, err
			}
			path = aside
		}
		if err := ignoreMissing(c.box.disk.remove(path)); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// dropKey removes the key file of a message that is about to be removed, unless the
// message also exists elsewhere.
func (c cleaner) dropKey(path string) error {
	data, err := c.box.disk.readFile(path, c.box.store.maxFile())
	if errors.Is(err, ErrInvalid) || errors.Is(err, ErrTooLarge) {
		return nil // not a message
	} else if err != nil {
		return ignoreMissing(err)
	}
	m, err := Parse(data)
	if err != nil || m.Key == "" {
		return nil // the message is incomplete or has no key, so it never had a key file
	}
	if there, err := c.box.store.keys().has(c.box.name, m.entry()); there || err != nil {
		return err // the file is a second name for a delivered message
	}
	link := keyFile(c.box.name, m.Key)
	if purged, err := c.box.disk.exists(purgedFile(c.box.name, m)); purged || err != nil {
		return err // the message was delivered and then purged
	}
	g, _, ino, err := c.box.store.keys().read(c.box.name, m.Key)
	if err == nil && g.ID == m.ID {
		err = c.box.store.keys().forget(c.box.name, link, ino)
	}
	if errors.Is(err, errForgotten) {
		return nil
	}
	return err
}

func (c cleaner) keys(now time.Time) (removed int, err error) {
	names, err := c.box.disk.names(c.box.dir(keysFolder))
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		path := c.box.at(keysFolder, name)
		st, err := c.box.disk.stat(path)
		if err != nil || now.Sub(modTime(&st)) <= keyLife {
			continue
		}
		if kind := kindOf(st.Mode); kind != KindFile {
			_, err := c.box.setAside(keysFolder, name, fmt.Sprintf("it was in keys/, but is a %s, not a file", kind))
			if ignoreMissing(err) != nil {
				return removed, err
			}
			continue
		}
		if err := c.box.store.keys().forget(c.box.name, path, st.Ino); !errors.Is(err, errForgotten) {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// Clean removes unfinished files that crashes left behind outside the mailboxes at least
// an hour ago. It is safe to call Clean again. It returns the number of files that it
// removed.
func (s *Store) Clean(now time.Time) (removed int, err error) {
	if removed, err = s.clean(now); err != nil {
		return removed, fmt.Errorf("clean: %w", err)
	}
	return removed, nil
}

func (s *Store) clean(now time.Time) (removed int, err error) {
	for _, folder := range []string{".", attachDir, haltedDir} {
		names, err := s.disk.names(folder)
		if err != nil {
			return removed, err
		}
		for _, name := range names {
			path := path.Join(folder, name)
			if !strings.HasPrefix(name, scratchPrefix) {
				continue
			}
			st, err := s.disk.stat(path)
			if err != nil || now.Sub(modTime(&st)) < maxScratch {
				continue
			}
			if kindOf(st.Mode) == KindFolder { // left by ProbeFileSystem
				err = s.disk.removeTree(path)
			} else {
				err = ignoreMissing(s.disk.remove(path))
			}
			if err != nil {
				return removed, err
			}
			removed++
		}
	}
	return removed, nil
}
