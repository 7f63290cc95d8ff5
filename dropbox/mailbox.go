package dropbox

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// A Mailbox is the receiving side of a Store. It is safe for concurrent use. Several
// processes can use it without losing messages, but only one process at a time should
// claim messages; see [Store.Lock].
type Mailbox struct {
	store *Store
	disk  *disk
	name  string
}

// Mailbox opens an existing mailbox; [CheckMailbox] lists the possible names. The error
// is an [*UnknownError] or a [*NameError]. A Mailbox does not need to be closed.
func (s *Store) Mailbox(name string) (*Mailbox, error) {
	if err := s.Known(name); err != nil {
		return nil, fmt.Errorf("mailbox: %w", err)
	}
	return &Mailbox{store: s, disk: s.disk, name: name}, nil
}

// Topics returns the mailbox of published work, with open work in new/ and closed work in
// done/. The mailbox does not belong to an agent, and messages cannot be sent to it by
// name. [Mailbox.Make] creates it. See package topic.
func (s *Store) Topics() *Mailbox { return &Mailbox{store: s, disk: s.disk, name: topicsDir} }

// Make creates the missing folders of the mailbox. It is safe to call Make again.
func (b *Mailbox) Make() error { return b.wrap("make the folders", makeMailbox(b.disk, b.name)) }

// Name returns the name of the mailbox. An agent's mailbox has the agent's name.
func (b *Mailbox) Name() string { return b.name }

// at returns the path of a file in the mailbox, relative to the store.
func (b *Mailbox) at(folder, name string) string { return b.name + "/" + folder + "/" + name }

// dir returns the path of one of the mailbox's folders.
func (b *Mailbox) dir(folder string) string { return b.name + "/" + folder }

// wrap adds the action and the mailbox to a non-nil error.
func (b *Mailbox) wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s in mailbox %s: %w", what, b.name, err)
}

// list separates the names in a folder into messages and odd files, and omits unfinished
// files. In cur/ the odd files include the receipts.
func (b *Mailbox) list(folder string) (entries []Entry, odd []string, err error) {
	names, err := b.disk.names(b.dir(folder))
	if err != nil {
		return nil, nil, err
	}
	// Sorting the names gives the same order as sorting the entries but takes half the
	// time.
	slices.Sort(names)
	entries = make([]Entry, 0, len(names))
	for _, name := range names {
		if e, ok := parseName(name); ok {
			entries = append(entries, e)
		} else if !unfinished(name) {
			odd = append(odd, name)
		}
	}
	return entries, odd, nil
}

// put durably writes a small file in the mailbox; see disk.put. It recreates deleted
// folders.
func (b *Mailbox) put(what, name string, data []byte) error {
	scratch := b.at(tmpFolder, what+"-"+NewID())
	err := b.disk.put(scratch, name, data)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeMailbox(b.disk, b.name); err == nil {
			err = b.disk.put(scratch, name, data)
		}
	}
	return err
}

// Read reads a waiting message without claiming it, for example a note for a prompt, or a
// message to the lead. It also reads messages in cur/. The error is [ErrGone] if the
// message is in neither folder, and [ErrInvalid] if the file is not a message.
func (b *Mailbox) Read(e Entry) (*Message, error) {
	for _, folder := range []string{newFolder, curFolder} {
		data, err := b.disk.readFile(b.at(folder, e.Name), b.store.maxFile())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var m *Message
		if err == nil {
			m, err = parseAs(e, data)
		}
		return m, b.wrap("read "+e.ID, err)
	}
	return nil, b.wrap("read "+e.ID, ErrGone)
}

// parseAs parses a message and checks that it matches its file's name.
func parseAs(e Entry, data []byte) (*Message, error) {
	m, err := Parse(data)
	if err != nil {
		return nil, err
	}
	if m.ID != "" && m.ID != e.ID {
		return nil, &InvalidError{Reason: fmt.Sprintf("the file is named %s, but its id is %s", e.ID, m.ID), From: m.From}
	}
	m.fill(e)
	return m, nil
}

// maxFile returns the maximum size of a message file. A file that a program put into new/
// may have a longer body than a delivery allows; the caller that claims it decides how to
// handle it.
func (s *Store) maxFile() int64 { return s.opts.MaxAttachment + maxFront + 64 }
