package dropbox

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// MakeMailbox creates a mailbox or its missing folders; [CheckMailbox] lists the possible
// names. If a file, such as a symlink, occupies the name of a folder, MakeMailbox renames
// it within the mailbox, and it becomes a [Stray]. Repeated calls are safe and cheap.
func (s *Store) MakeMailbox(name string) error {
	if err := CheckMailbox(name); err != nil {
		return fmt.Errorf("make mailbox: %w", err)
	}
	if err := makeMailbox(s.disk, name); err != nil {
		return fmt.Errorf("make mailbox %s: %w", name, err)
	}
	return nil
}

// Mailboxes returns the sorted names of the mailboxes. A mailbox is a folder with a valid
// name that contains new/.
func (s *Store) Mailboxes() ([]string, error) {
	mailboxes, _, err := s.survey()
	return mailboxes, err
}

// Strangers returns the sorted names in the store's folder that are neither files of the
// store nor mailboxes. Examples are folders with an invalid name or without the folders
// of a mailbox. The daemon does not handle them.
func (s *Store) Strangers() ([]string, error) {
	_, strangers, err := s.survey()
	return strangers, err
}

func (s *Store) survey() (mailboxes, strangers []string, err error) {
	names, err := s.disk.names(".")
	if err == nil && len(names) == 0 && s.disk.deleted() {
		err = ErrNoStore
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list mailboxes: %w", err)
	}
	slices.Sort(names)
	for _, name := range names {
		is := false
		if CheckMailbox(name) == nil {
			if is, err = s.isMailbox(name); err != nil {
				return nil, nil, fmt.Errorf("list mailboxes: %w", err)
			}
		}
		switch {
		case name[0] == '.' || slices.Contains([]string{versionFile, haltFile, boardDir, attachDir, refusedDir, haltedDir, topicsDir}, name):
		case is:
			mailboxes = append(mailboxes, name)
		default:
			strangers = append(strangers, name)
		}
	}
	return mailboxes, strangers, nil
}

// isMailbox reports whether the folder with the given name contains new/. A valid name
// alone is not enough.
func (s *Store) isMailbox(name string) (bool, error) {
	err := s.disk.isFolder(name + "/" + newFolder)
	if errors.Is(err, fs.ErrNotExist) || isOdd(err) {
		return false, nil
	}
	return err == nil, err
}

// unknown returns the error for a missing mailbox.
func (s *Store) unknown(name string) error {
	known, err := s.Mailboxes()
	if err != nil {
		return err
	}
	return &UnknownError{Name: name, Near: Nearest(name, known)}
}

// Known returns nil if a mailbox with the given name exists, even if some of its folders
// are missing. Otherwise the error is an [*UnknownError] or a [*NameError].
func (s *Store) Known(name string) error {
	if err := CheckMailbox(name); err != nil {
		return s.misnamed(name, err)
	}
	return s.known(name)
}

// known is Known for a valid name. It may also return a disk error.
func (s *Store) known(name string) error {
	is, err := s.isMailbox(name)
	if err == nil && !is {
		is, err = s.hasSome(name)
	}
	if err == nil && !is {
		err = s.unknown(name)
	}
	return err
}

// hasSome reports whether at least one of the mailbox's folders exists, which means that
// the named folder is or was a mailbox.
func (s *Store) hasSome(name string) (bool, error) {
	for _, folder := range mailboxFolders {
		there, err := s.disk.exists(name + "/" + folder)
		if there || err != nil && !isOdd(err) {
			return there, err
		}
	}
	return false, nil
}

// repair creates the missing folders of a mailbox. If none of the folders exists, there
// is no such mailbox, and the error is an [*UnknownError].
func (s *Store) repair(name string) error {
	if some, err := s.hasSome(name); err != nil {
		return err
	} else if !some {
		return s.unknown(name)
	}
	return makeMailbox(s.disk, name)
}

// misnamed returns the error for a name that no mailbox can have. If there are similar
// names, the error lists them, because they are more helpful than the rule for names.
func (s *Store) misnamed(name string, err error) error {
	known, listErr := s.Mailboxes()
	if near := Nearest(name, known); listErr == nil && len(near) > 0 {
		return &UnknownError{Name: name, Near: near}
	}
	return err
}
