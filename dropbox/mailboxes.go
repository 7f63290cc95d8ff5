package dropbox

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// MakeMailbox makes a mailbox, or its missing folders; [CheckMailbox] lists the possible
// names. If a file, such as a symlink, is in place of a folder, it is renamed within the
// mailbox and becomes a [Stray]. Repeating it is harmless and cheap.
func (s *Store) MakeMailbox(name string) error {
	if err := CheckMailbox(name); err != nil {
		return fmt.Errorf("make mailbox: %w", err)
	}
	if err := makeMailbox(s.disk, name); err != nil {
		return fmt.Errorf("make mailbox %s: %w", name, err)
	}
	return nil
}

// Mailboxes lists the names of the mailboxes, sorted. A mailbox is a folder with a valid
// name that contains new/.
func (s *Store) Mailboxes() ([]string, error) {
	mailboxes, _, err := s.survey()
	return mailboxes, err
}

// Strangers lists the names in the store's folder that are neither files of the store nor
// mailboxes, sorted. They are, for example, folders with an invalid name, or without the
// folders of a mailbox. No daemon serves them.
func (s *Store) Strangers() ([]string, error) {
	_, strangers, err := s.survey()
	return strangers, err
}

func (s *Store) survey() (mailboxes, strangers []string, err error) {
	names, err := s.disk.names(".")
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

// isMailbox reports whether the folder of that name contains new/. A valid name alone is
// not enough.
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

// Known returns nil when a mailbox with that name exists, even if some of its folders are
// missing. Otherwise the error is an [*UnknownError] or a [*NameError].
func (s *Store) Known(name string) error {
	if err := CheckMailbox(name); err != nil {
		return s.misnamed(name, err)
	}
	return s.known(name)
}

// known is Known for a valid name. Its error may also be an error of the disk.
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

// hasSome reports whether at least one of the mailbox's folders exists: then the folder of
// that name is a mailbox, or was one.
func (s *Store) hasSome(name string) (bool, error) {
	for _, folder := range mailboxFolders {
		there, err := s.disk.exists(name + "/" + folder)
		if there || err != nil && !isOdd(err) {
			return there, err
		}
	}
	return false, nil
}

// repair makes the missing folders of a mailbox. A mailbox without any folder does not
// exist: then the error is an [*UnknownError].
func (s *Store) repair(name string) error {
	if some, err := s.hasSome(name); err != nil {
		return err
	} else if !some {
		return s.unknown(name)
	}
	return makeMailbox(s.disk, name)
}

// misnamed returns the error for a name that no mailbox can have. If there are similar
// names, the error lists them: similar names are more helpful than the rule for names.
func (s *Store) misnamed(name string, err error) error {
	known, listErr := s.Mailboxes()
	if near := Nearest(name, known); listErr == nil && len(near) > 0 {
		return &UnknownError{Name: name, Near: near}
	}
	return err
}
