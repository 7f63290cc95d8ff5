package dropbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// minRetain is the minimum number of days for which finished messages are kept. It is the
// lifetime of a key, so that a message's receipt still exists if the message is delivered
// again.
const minRetain = 7

// Retain frees space in the done/ folders of all mailboxes. It removes messages that were
// filed more than the given number of days ago. Then it removes the oldest messages until
// the total size of done/ in all mailboxes is at most mb megabytes. A limit of 0 means no
// limit. Retain always keeps messages that were filed within the last 7 days. It also
// keeps messages without a receipt, because a person may still need them, and ignores
// their size. It returns the number of messages that it removed.
func (s *Store) Retain(days int, mb int64) (removed int, err error) {
	if removed, err = (retention{s}).done(days, mb); err != nil {
		return removed, fmt.Errorf("retain: %w", err)
	}
	return removed, nil
}

// A retention removes old files.
type retention struct{ store *Store }

// A doneFile is a finished message with its receipt, or a receipt whose message no longer
// exists.
type doneFile struct {
	folder, day string
	names       []string
	size        int64
}

func (r retention) done(days int, mb int64) (removed int, err error) {
	if days <= 0 && mb <= 0 {
		return 0, nil
	}
	today := r.store.opts.Now().UTC()
	keep := today.AddDate(0, 0, -minRetain).Format(dayLayout)
	old := ""
	if days > 0 {
		old = today.AddDate(0, 0, -max(days, minRetain)).Format(dayLayout)
	}
	files, err := r.doneFiles(mb > 0)
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
			break // the list is sorted by day, so no later entry is older
		}
		for _, name := range f.names {
			if err := ignoreMissing(r.store.disk.remove(f.folder + "/" + name)); err != nil {
				return removed, err
			}
		}
		total -= f.size
		removed++
		// This succeeds only if the day's folder is empty.
		_ = r.store.disk.removeFolder(f.folder)
	}
	return removed, nil
}

// doneFiles lists the messages that have a receipt, because only these may be removed. In
// each result the message comes before its receipt. A crash may therefore leave a receipt
// without its message, but never a message without its receipt, which would appear
// unfinished.
func (r retention) doneFiles(sizes bool) ([]doneFile, error) {
	mailboxes, err := r.store.Mailboxes()
	if err != nil {
		return nil, err
	}
	var files []doneFile
	for _, mailbox := range mailboxes {
		done := mailbox + "/" + doneFolder
		days, err := r.store.disk.names(done)
		if err != nil {
			return nil, err
		}
		for _, day := range days {
			if !isDay(day) {
				continue
			}
			names, err := r.store.disk.dayNames(done + "/" + day)
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
					if st, err := r.store.disk.stat(f.folder + "/" + name); sizes && err == nil {
						f.size += st.Size
					}
				}
				files = append(files, f)
			}
		}
	}
	return files, nil
}

// RetainRefused frees space in refused/. It removes messages that were refused more than
// the given number of days ago. Then it removes the oldest messages, regardless of their
// age, until the total size of refused/ is at most mb megabytes. A limit of 0 means no
// limit. It keeps the mark of a message that a person allowed and that is still waiting or
// claimed. The keys of the removed messages are still remembered, so a repeated delivery
// does not recreate the messages. RetainRefused returns the number of messages that it
// removed.
func (s *Store) RetainRefused(days int, mb int64) (removed int, err error) {
	if removed, err = (retention{s}).refused(days, mb); err != nil {
		return removed, fmt.Errorf("retain what was refused: %w", err)
	}
	return removed, nil
}

// A refusedFile is a refused message, its reason, or both.
type refusedFile struct {
	box     *Mailbox
	paths   []string // the message comes first, so that a crash may leave only a reason but never a message without one
	message bool
	at      time.Time // time of the newest file
	size    int64
}

func (r retention) refused(days int, mb int64) (removed int, err error) {
	if days <= 0 && mb <= 0 {
		return 0, nil
	}
	files, err := r.refusedFiles()
	if err != nil {
		return 0, err
	}
	slices.SortFunc(files, func(a, b *refusedFile) int { return a.at.Compare(b.at) })
	var total int64
	for _, f := range files {
		total += f.size
	}
	old := r.store.opts.Now().AddDate(0, 0, -days)
	for _, f := range files {
		if (mb <= 0 || total <= mb<<20) && (days <= 0 || !f.at.Before(old)) {
			break // the list is sorted by time, so no later entry is older
		}
		if f.message {
			if err := r.store.keys().markPurged(f.box, f.paths[0]); err != nil {
				return removed, err
			}
		}
		for _, path := range f.paths {
			if err := ignoreMissing(r.store.disk.remove(path)); err != nil {
				return removed, err
			}
		}
		total -= f.size
		if f.message {
			removed++
		}
	}
	return removed, nil
}

// refusedFiles lists the files in refused/ that may be removed, for all mailboxes.
func (r retention) refusedFiles() ([]*refusedFile, error) {
	mailboxes, err := r.store.disk.names(refusedDir)
	if err != nil {
		return nil, err
	}
	var files []*refusedFile
	for _, mailbox := range mailboxes {
		if CheckMailbox(mailbox) != nil {
			continue
		}
		names, err := r.store.disk.names(refusedDir + "/" + mailbox)
		if err != nil {
			return nil, err
		}
		slices.Sort(names) // a message comes before its reason
		all := map[string]*refusedFile{}
		for _, name := range names {
			e, ok := parseBase(name[:min(len(name), baseLen)])
			if !ok {
				continue
			}
			f := all[e.ID]
			if f == nil {
				f = &refusedFile{box: &Mailbox{store: r.store, disk: r.store.disk, name: mailbox}}
				all[e.ID] = f
			}
			path := refusedDir + "/" + mailbox + "/" + name
			st, err := r.store.disk.stat(path)
			if ignoreMissing(err) != nil {
				return nil, err
			} else if err != nil {
				continue // removed since
			}
			f.paths = append(f.paths, path)
			f.message = f.message || strings.HasSuffix(name, ".md")
			f.size += st.Size
			if at := modTime(&st); at.After(f.at) {
				f.at = at
			}
		}
		if err := r.spareWaiting(mailbox, all); err != nil {
			return nil, err
		}
		files = slices.AppendSeq(files, maps.Values(all))
	}
	return files, nil
}

// spareWaiting removes from the list the files of readmitted messages that are still
// waiting or claimed, and the reasons of messages whose refusal is not yet complete.
func (r retention) spareWaiting(mailbox string, all map[string]*refusedFile) error {
	for _, folder := range []string{newFolder, curFolder} {
		names, err := r.store.disk.names(mailbox + "/" + folder)
		if err != nil {
			return err
		}
		for _, name := range names {
			if e, ok := parseName(name); ok && all[e.ID] != nil && !all[e.ID].message {
				delete(all, e.ID)
			}
		}
	}
	return nil
}
