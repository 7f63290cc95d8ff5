package dropbox

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const dayLayout = "2006-01-02"

// makeDay durably creates a day's folder in done/. An existing folder may not be durable,
// because the process that created it may have been killed before the sync. Each Store
// therefore syncs done/ once for each day.
func (b *Mailbox) makeDay(folder string) error {
	there, err := b.disk.exists(folder)
	if err != nil {
		return err
	}
	if last, ok := b.store.days.Load(b.name); there && ok && last == folder {
		return nil
	}
	if err := b.disk.isFolder(path.Dir(folder)); errors.Is(err, fs.ErrNotExist) {
		err = makeMailbox(b.disk, b.name)
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	if err := b.disk.clearWay(folder, b.name+"/"+path.Base(folder)); err != nil {
		return err
	}
	if err := b.disk.mkdir(folder); err != nil {
		return err
	}
	if err := b.disk.syncDir(path.Dir(folder)); err != nil {
		return err
	}
	b.store.days.Store(b.name, folder)
	return nil
}

// doneDay returns the day whose folder in done/ contains the given file, or "". For a
// recent message it tries each day by name, from the day before the message's creation to
// today or the day of its creation, whichever is later. This range allows for the clocks
// of two machines differing by a day. For any other message it lists done/.
func (s *Store) doneDay(mailbox string, e Entry, file string) (string, error) {
	done := mailbox + "/" + doneFolder
	today := s.opts.Now().UTC()
	first := e.Created.AddDate(0, 0, -1)
	var days []string
	if ahead := first.Sub(today); ahead > 0 || ahead < -4*24*time.Hour {
		names, err := s.disk.names(done)
		if err != nil {
			return "", err
		}
		days = slices.DeleteFunc(names, func(day string) bool { return !isDay(day) })
	} else {
		for day := today; !day.Before(first); day = day.AddDate(0, 0, -1) {
			days = append(days, day.Format(dayLayout))
		}
		if next := e.Created.Format(dayLayout); len(days) == 0 || next > days[0] {
			days = append(days, next)
		}
	}
	for _, day := range days {
		there, err := s.disk.exists(done + "/" + day + "/" + file)
		if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
			continue // only folders contain messages
		}
		if there || err != nil {
			return day, err
		}
	}
	return "", nil
}

// dayNames lists the names in a day's folder in done/. A file or a symlink in place of
// the folder is treated as an empty day.
func (d *disk) dayNames(folder string) ([]string, error) {
	names, err := d.names(folder)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil, nil
	}
	return names, err
}

// isDay reports whether a name is a valid name for a day's folder in done/.
func isDay(name string) bool {
	_, err := time.Parse(dayLayout, name)
	return err == nil
}
