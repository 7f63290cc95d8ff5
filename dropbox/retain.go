package dropbox

import (
	"fmt"
	"slices"
	"strings"
)

// minRetain is how long done/ is kept in any case: as long as keys are, so that a
// message that comes again still finds its receipt.
const minRetain = 7

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
			names, err := s.disk.dayNames(done + "/" + day)
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
