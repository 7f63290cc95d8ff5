package dropbox

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// ignoreFile is the store's .gitignore. It lists itself and the version file: the daemon
// recreates both when a checkout of an older commit deletes them, and git refuses to check
// out a commit over files that are neither tracked nor ignored.
const ignoreFile = ".gitignore"

// ignored is the content of [ignoreFile], which keeps unfinished messages out of git.
const ignored = "# What is finished is tracked: done/, dead/, attach/, board/; and the subscriptions.\n" +
	"/.gitignore\n/version\n" +
	"tmp/\nnew/\ncur/\nkeys/\nwork/\ngrants/\nrefused/\nhalted/\n.lock\nHALT\nFULL\n"

// earlierIgnored are the contents that earlier versions of this program wrote.
var earlierIgnored = []string{
	"# What is finished is tracked: done/, dead/, attach/, board/; and the subscriptions.\n" +
		"tmp/\nnew/\ncur/\nkeys/\nwork/\ngrants/\nrefused/\nhalted/\n.lock\nHALT\nFULL\n",
	"# What is finished is tracked: done/, dead/, attach/, board/.\n" +
		"tmp/\nnew/\ncur/\nkeys/\nwork/\ngrants/\n.lock\nHALT\nFULL\n",
	"# What is finished is tracked: done/, dead/, attach/, board/.\n" +
		"tmp/\nnew/\ncur/\nkeys/\nwork/\n.lock\nHALT\nFULL\n",
}

// IgnoreOutdated reports whether the store's .gitignore is one that an earlier version of
// this program wrote, unchanged.
func (s *Store) IgnoreOutdated() (bool, error) {
	data, err := s.disk.readFile(ignoreFile, 4<<10)
	if errors.Is(err, fs.ErrNotExist) || isOdd(err) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("read %s of the mailboxes: %w", ignoreFile, err)
	}
	return slices.Contains(earlierIgnored, string(data)), nil
}

// RenewIgnore replaces the store's .gitignore if [Store.IgnoreOutdated]. It reports whether
// it did. The daemon never does this, because git may track the file.
func (s *Store) RenewIgnore() (bool, error) {
	outdated, err := s.IgnoreOutdated()
	if err != nil || !outdated {
		return false, err
	}
	scratch := scratchPrefix + NewID()
	if err := s.disk.write(scratch, []byte(ignored)); err != nil {
		return false, fmt.Errorf("renew %s of the mailboxes: %w", ignoreFile, err)
	}
	if err := s.disk.replace(scratch, ignoreFile); err != nil {
		err = errors.Join(err, ignoreMissing(s.disk.remove(scratch)))
		return false, fmt.Errorf("renew %s of the mailboxes: %w", ignoreFile, err)
	}
	return true, s.disk.syncDir(".")
}
