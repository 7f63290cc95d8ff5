package dropbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// minRetain is the least number of days for which done/ is kept: as long as keys are, so
// that a message that comes again still finds its receipt.
const minRetain = 7

// Retain makes room in the done/ folders of all mailboxes. It removes whole days that are
// more than days days old. Then, the oldest first, it removes days beyond mb megabytes in
// total. 0 means no such limit. It keeps messages younger than 7 days, and messages without a
// receipt, because a person may still need them. It returns how many messages it removed.
func (s *Store) Retain(days int, mb int64) (removed int, err error) {
	if removed, err = (retention{s}).done(days, mb); err != nil {
		return removed, fmt.Errorf("retain: %w", err)
	}
	return removed, nil
}

// A retention removes expired files.
type retention struct{ store *Store }

// A doneFile is a finished message with its receipt, or a receipt whose message is gone.
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
			break // sorted by day: all later entries are younger
		}
		for _, name := range f.names {
			if err := ignoreMissing(r.store.disk.remove(f.folder + "/" + name)); err != nil {
				return removed, err
			}
		}
		total -= f.size
		removed++
		// This removes the folder of a day after its last file; until then it fails.
		_ = r.store.disk.removeFolder(f.folder)
	}
	return removed, nil
}

// doneFiles lists the files that may be removed: messages that have a receipt, message
// first, so that a crash leaves a receipt and no message that looks unfinished.
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

// RetainRefused makes room in refused/. It removes messages refused more than days days ago.
// Then, the oldest first and at any age, it removes those beyond mb megabytes in total. 0
// means no such limit. It keeps a person's permission for a message that still waits. It
// returns how many messages it removed.
func (s *Store) RetainRefused(days int, mb int64) (removed int, err error) {
	if removed, err = (retention{s}).refused(days, mb); err != nil {
		return removed, fmt.Errorf("retain what was refused: %w", err)
	}
	return removed, nil
}

// A refusedFile is a refused message with its reason, or only one of the two.
type refusedFile struct {
	e       Entry
	paths   []string // the message first: a crash then leaves a reason, and no message without one
	message bool
	at      time.Time // time of the newest of them
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
			break // sorted by time: all later entries are younger
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

// refusedFiles lists the files of all mailboxes that may be removed.
func (r retention) refusedFiles() ([]*refusedFile, error) {
	mailboxes, err := r.store.disk.names(refusedDir)
	if err != nil {
		return nil, err
	}
	var files []*refusedFile
	for _, mailbox := range mailboxes {
		if CheckMailbox(mailbox) != nil {
			continue // not the name of a mailbox
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
				f = &refusedFile{e: e}
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

// spareWaiting removes from the list the files of released messages that wait, and the
// reason of a message whose refusal is under way.
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
