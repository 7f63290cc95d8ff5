package dropbox

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// minRetain is how long done/ is kept in any case: as long as keys are, so that a
// message that comes again still finds its receipt.
const minRetain = 7

// maxScratch is how old what lies in tmp/ may be before it counts as left by a
// crash.
const maxScratch = time.Hour

// oldPrefix begins the names in tmp/ of scratch that is about to be removed.
const oldPrefix = "old-"

// Clean removes what crashes left behind: what lies in tmp/ for an hour, and keys
// older than 7 days. A message that was cut off before new/ was never accepted, so
// it goes, and its key with it. To repeat it is harmless. It returns how many files
// it removed.
func (b *Mailbox) Clean(now time.Time) (removed int, err error) {
	n, err := b.cleanTmp(now)
	if err == nil {
		var keys int
		keys, err = b.cleanKeys(now)
		n += keys
	}
	return n, b.wrap("clean", err)
}

func (b *Mailbox) cleanTmp(now time.Time) (removed int, err error) {
	names, err := b.disk.names(b.dir(tmpFolder))
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		path := b.at(tmpFolder, name)
		st, err := b.disk.stat(path)
		if err != nil || now.Sub(modTime(&st)) < maxScratch || kindOf(st.Mode) == KindFolder {
			continue // gone, young, or none of ours
		}
		if _, ok := parseName(name); ok && kindOf(st.Mode) == KindFile {
			// Moved aside first: a sender with that key may be about to finish it, and
			// of the two renames one alone succeeds.
			aside := b.at(tmpFolder, oldPrefix+NewID())
			if err := b.disk.move(path, aside); errors.Is(err, fs.ErrNotExist) {
				continue
			} else if err != nil {
				return removed, err
			}
			if err := b.dropKey(aside); err != nil {
				return removed, err
			}
			path = aside
		}
		if err := ignoreMissing(b.disk.remove(path)); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// dropKey removes the guard that belongs to a message that is about to go, if that
// message is nowhere else.
func (b *Mailbox) dropKey(path string) error {
	data, err := b.disk.readFile(path, b.store.maxFile())
	if err != nil {
		return ignoreMissing(err)
	}
	m, err := Parse(data)
	if err != nil || m.Key == "" {
		return nil // half written: it never had a guard
	}
	if there, err := b.store.placeOf(b.name, m.entry()); there || err != nil {
		return err // a second name of a message that was delivered
	}
	guard := keyFile(b.name, m.Key)
	if purged, err := b.disk.exists(guard + purgedEnd); purged || err != nil {
		return err // and so is a message that was purged since
	}
	g, _, ino, err := b.store.readGuard(b.name, m.Key)
	if err == nil && g.ID == m.ID {
		err = b.store.forget(b.name, guard, ino)
	}
	if errors.Is(err, errForgotten) {
		return nil
	}
	return err
}

func (b *Mailbox) cleanKeys(now time.Time) (removed int, err error) {
	names, err := b.disk.names(b.dir(keysFolder))
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		path := b.at(keysFolder, name)
		st, err := b.disk.stat(path)
		if err != nil || now.Sub(modTime(&st)) <= keyLife {
			continue
		}
		if err := b.store.forget(b.name, path, st.Ino); !errors.Is(err, errForgotten) {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// Retain makes room in the done/ folders of all mailboxes. Whole days go that are
// more than days days old, and, the oldest first, days beyond mb megabytes in all.
// 0 means no such bound. Nothing goes that is younger than 7 days, and no message
// without its receipt: somebody may still have to look at that. It returns how many
// messages it removed.
func (s *Store) Retain(days int, mb int64) (removed int, err error) {
	if removed, err = s.retain(days, mb); err != nil {
		return removed, fmt.Errorf("retain: %w", err)
	}
	return removed, nil
}

// A doneFile is a finished message with its receipt, or a receipt that is left.
type doneFile struct {
	folder, day string
	names       []string
	size        int64
}

func (s *Store) retain(days int, mb int64) (removed int, err error) {
	if days <= 0 && mb <= 0 {
		return 0, nil
	}
	today := s.opts.Now().UTC()
	keep := today.AddDate(0, 0, -minRetain).Format(dayLayout)
	old := ""
	if days > 0 {
		old = today.AddDate(0, 0, -max(days, minRetain)).Format(dayLayout)
	}
	files, err := s.doneFiles(mb > 0)
	if err != nil {
		return 0, err
	}
	slices.SortStableFunc(files, func(a, b doneFile) int { return strings.Compare(a.day, b.day) })
	var total int64
	for _, f := range files {
		total += f.size
	}
	for _, f := range files {
		tooMuch := mb > 0 && total > mb<<20
		if f.day >= keep || !tooMuch && f.day >= old {
			break // sorted by day: what follows is younger
		}
		for _, name := range f.names {
			if err := ignoreMissing(s.disk.remove(f.folder + "/" + name)); err != nil {
				return removed, err
			}
		}
		total -= f.size
		removed++
		// A day's folder goes with its last file; until then this fails.
		_ = s.disk.removeFolder(f.folder)
	}
	return removed, nil
}

// doneFiles lists what may be removed: messages that have a receipt, message first,
// so that a cut leaves a receipt rather than a message that looks unfinished.
func (s *Store) doneFiles(sizes bool) ([]doneFile, error) {
	mailboxes, err := s.Mailboxes()
	if err != nil {
		return nil, err
	}
	var files []doneFile
	for _, mailbox := range mailboxes {
		done := mailbox + "/" + doneFolder
		days, err := s.disk.names(done)
		if err != nil {
			return nil, err
		}
		for _, day := range days {
			if !isDay(day) {
				continue
			}
			names, err := s.disk.names(done + "/" + day)
			if err != nil {
				return nil, err
			}
			slices.Sort(names)
			for _, name := range names {
				base, ok := strings.CutSuffix(name, receiptEnd)
				if !ok {
					continue
				}
				f := doneFile{folder: done + "/" + day, day: day, names: []string{base + ".md", name}}
				for _, name := range f.names {
					if st, err := s.disk.stat(f.folder + "/" + name); sizes && err == nil {
						f.size += st.Size
					}
				}
				files = append(files, f)
			}
		}
	}
	return files, nil
}
