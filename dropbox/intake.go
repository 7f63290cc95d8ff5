package dropbox

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// Defaults provides the fields that a dropped file omits.
type Defaults struct {
	From    string   // the sender
	Thread  string   // the conversation of the message
	Trace   string   // id of the original message that caused this one
	Hops    int      // the minimum number of hops for the message
	Path    []string // the agents that passed the message on, unless the file names them
	ReplyTo string
	Type    Type // the type if the file does not specify one; empty means Task
}

// TakeIn turns a dropped file into a message, delivers the message to this mailbox and
// removes the file. Repeating it after a crash creates no duplicate, because the delivery
// has a key: the key in the file, or a key derived from the file and its content.
//
// An envelope is optional. A block between --- lines at the beginning is an envelope only if
// every key in it is one of ours, or "irc"; otherwise the whole file, with the block, is the
// body of a task, and the delivery says so ([Delivery.Text]). TakeIn ignores the to field and the fields that only a store sets: v, id, created, turn and proof. Every
// mailbox that cc names gets a copy as a note; names without a mailbox are omitted. A body
// that exceeds MaxBody becomes an attachment, and the message contains only its beginning.
//
// The error is [ErrChanged] if the file differs from st, changes while it is being read, or
// is open for writing in another program. A program that opens it while TakeIn runs waits if
// [Drops.Writing] is known; see [Delivery.Late]. After this error the file stays in place, and
// the caller can retry later. The error is
// [ErrGone] if the file is missing. The file also stays in place after a disk error, and
// after [ErrFull] for this mailbox or for one that cc names.
//
// A file that can never be a message is set aside in dead/; the reason is written there
// first. Examples are an envelope with a wrong value, text that is not UTF-8, a NUL byte, an
// empty file, more than MaxAttachment bytes, too many hops, and a name that is a symlink or a
// folder. The error for such a file is an [*InvalidError] with that reason. The error's
// From field is the sender, if known, so that the caller can notify the sender.
func (drops Drops) TakeIn(st Stray, d Defaults) (Delivery, error) {
	delivery, err := drops.takeIn(st, d)
	if bad, ok := errors.AsType[*InvalidError](err); ok {
		if _, asideErr := drops.box.setAside("", st.Name, bad.Reason); asideErr != nil && !errors.Is(asideErr, fs.ErrNotExist) {
			return Delivery{}, drops.box.wrap("take in "+st.Name, asideErr)
		}
	}
	return delivery, drops.box.wrap("take in "+st.Name, err)
}

func (drops Drops) takeIn(st Stray, d Defaults) (Delivery, error) {
	data, file, leased, err := drops.readStray(st)
	if err != nil {
		return Delivery{}, err
	}
	defer file.close() // when the drop has been removed, so that nobody opens it before
	m, text, err := fromDrop(data)
	if err != nil {
		return Delivery{}, err
	}
	from := m.From
	if from == "" {
		from = d.From
	}
	blame := func(err error) error { // adds the sender, so that the caller can notify the sender
		if bad, ok := errors.AsType[*InvalidError](err); ok && bad.From == "" {
			return &InvalidError{Reason: bad.Reason, From: from}
		}
		return err
	}
	m.V, m.ID, m.Created, m.Turn, m.Proof = 0, "", time.Time{}, "", ""
	m.From = from
	m.Type = cmp.Or(m.Type, d.Type)
	m.Thread = cmp.Or(m.Thread, d.Thread)
	m.Trace = cmp.Or(m.Trace, d.Trace)
	m.ReplyTo = cmp.Or(m.ReplyTo, d.ReplyTo)
	m.Hops = max(m.Hops, d.Hops)
	if len(m.Path) == 0 {
		m.Path = d.Path
	}
	if other := drops.meantFor(m); other != "" {
		return Delivery{}, blame(invalid("its envelope says to: %s, but it lies in the mailbox of %s", other, drops.box.name))
	}
	m.To = []string{drops.box.name}
	if m.Key == "" {
		m.Key = dropKey(st, data)
	}
	if int64(len(m.Body)) > drops.box.store.opts.MaxBody {
		if err := drops.box.store.spill(m, st.Name); err != nil {
			return Delivery{}, err
		}
	}
	o := drops.box.store.compose(drops.box.name, m, nil)
	var cc []string
	if !o.over {
		// Check for room before the delivery. Otherwise the file could wait so long for
		// room for a copy that its key is forgotten, and the message itself would be
		// delivered a second time.
		if cc, err = drops.box.store.copied(drops.box.name, m); err != nil {
			return Delivery{}, err
		}
	}
	drops.box.store.deliver(o)
	if err = o.err; errors.Is(err, ErrHops) || errors.Is(err, ErrTooLarge) {
		err = invalid("%v", err)
	}
	if err != nil {
		return Delivery{}, blame(err)
	}
	if err := drops.box.store.copies(cc, m, o.Thread); err != nil {
		return Delivery{}, err
	}
	o.Text = text
	if leased && isAwaited(file.fd) {
		o.Late = "another program opened it for writing while it was taken in; what it contained by then is message " + o.ID
		_, err := drops.box.setAside("", st.Name, o.Late)
		return o.Delivery, ignoreMissing(err)
	}
	if err := ignoreMissing(drops.box.disk.remove(drops.box.name + "/" + st.Name)); err != nil {
		return Delivery{}, err
	}
	return o.Delivery, drops.box.disk.syncDir(drops.box.name)
}

// meantFor returns the name of another mailbox for which a dropped file is meant, or "". A
// file that names this mailbox too, or a name that is no mailbox, is for this mailbox.
func (drops Drops) meantFor(m *Message) (other string) {
	for _, name := range append(slices.Clone(m.To), m.CC...) {
		if name == drops.box.name {
			return ""
		}
	}
	for _, name := range m.To {
		if CheckMailbox(name) != nil {
			return ""
		}
		if is, err := drops.box.store.isMailbox(name); err != nil || !is {
			return ""
		}
		other = name
	}
	return other
}

// readStray reads a whole drop and checks that it is still the file that st describes. The
// caller closes the file. Until then, if leased is true, a program that opens the file for
// writing waits; the lease is taken before the file is read.
func (drops Drops) readStray(st Stray) (data []byte, f readable, leased bool, err error) {
	switch {
	case st.Kind == KindUnreadable:
		return nil, f, false, invalid("the file cannot be read: its permissions forbid it")
	case st.Kind != KindFile:
		return nil, f, false, invalid("not a file but a %s", st.Kind)
	}
	path := drops.box.name + "/" + st.Name
	f, err = drops.box.disk.openRead(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, f, false, ErrGone
	case errors.Is(err, unix.ELOOP):
		return nil, f, false, ErrChanged
	case errors.Is(err, fs.ErrPermission):
		return nil, f, false, cannotOpen(err)
	case err != nil:
		return nil, f, false, err
	}
	writing := drops.box.store.writing(f)
	if writing == BeingWritten {
		f.close()
		return nil, f, false, ErrChanged
	}
	if data, err = drops.readOpen(st, f, path); err != nil {
		f.close()
	}
	return data, f, writing == NoWriter, err
}

// readOpen is the part of readStray after the file was opened.
func (drops Drops) readOpen(st Stray, f readable, path string) ([]byte, error) {
	if !stray(st.Name, &f.st).Same(st) {
		return nil, ErrChanged
	}
	data, err := f.read(drops.box.store.opts.MaxAttachment)
	if errors.Is(err, ErrTooLarge) {
		return nil, invalid("%v", err)
	} else if err != nil {
		return nil, err
	}
	var after unix.Stat_t
	if err := retryEINTR(func() error { return unix.Fstat(f.fd, &after) }); err != nil {
		return nil, pathError("stat", path, err)
	}
	if int64(len(data)) != st.Size || !stray(st.Name, &after).Same(st) {
		return nil, ErrChanged
	}
	return data, nil
}

// dropKey returns a key that identifies one file in one state. The file's inode number is
// not enough, because a file system may reuse the inode number of a removed file.
func dropKey(st Stray, data []byte) string {
	return fmt.Sprintf("drop:%x-%x-%x-%x-%x", st.Dev, st.Ino, st.ModTime.UnixNano(), st.Size, sha256.Sum256(data))
}

// fromDrop parses a file that a person or a program wrote. It does not fill in missing
// fields. text reports whether the file begins with a block between --- lines that is not an
// envelope.
func fromDrop(data []byte) (m *Message, text bool, err error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // some editors begin a file with this mark
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, false, invalid("the file is empty")
	case bytes.IndexByte(data, 0) >= 0:
		return nil, false, invalid("the file contains NUL bytes: it is not text")
	case !utf8.Valid(data):
		return nil, false, invalid("the file is not UTF-8 text")
	}
	front, _, ok, err := splitFront(data)
	switch {
	case !ok:
		return &Message{Body: data}, false, nil
	case err == nil && !isEnvelope(front), err != nil && !isEnvelope(untilBlank(data)):
		return &Message{Body: data}, true, nil
	case err == nil:
		m, err = Parse(data)
	}
	if err != nil {
		return nil, false, &InvalidError{Reason: err.Error(), From: guessFrom(data)}
	}
	if len(bytes.TrimSpace(m.Body)) == 0 && m.Subject == "" && len(m.Attachments) == 0 {
		return nil, false, &InvalidError{Reason: "the message is empty: no subject and no body", From: m.From}
	}
	return m, false, nil
}

// bridgeKey is the key with which a message names its place in a chat. The bridge reads it,
// and to this package it is one of the unknown keys.
const bridgeKey = "irc"

// isEnvelope reports whether every key in the front matter of a dropped file is a key of the
// envelope. It reads the lines and not the YAML, so that an envelope with a mistake in a
// value is still one, and the sender is told of the mistake.
func isEnvelope(front []byte) bool {
	keys := 0
	for line := range bytes.Lines(front) {
		line = bytes.TrimRight(line, " \t\r\n")
		if len(line) == 0 || line[0] == '#' || keys > 0 && (line[0] == ' ' || line[0] == '-' || line[0] == ']' || line[0] == '}') {
			continue // a comment, or the rest of the value above
		}
		key, _, ok := bytes.Cut(line, []byte(":"))
		name := strings.Trim(string(key), `"' `)
		if !ok || name != bridgeKey && !slices.ContainsFunc(envelope, func(k envelopeKey) bool { return k.name == name }) {
			return false
		}
		keys++
	}
	return true
}

// untilBlank returns the lines after the first one, up to a blank line.
func untilBlank(data []byte) []byte {
	_, rest, _ := bytes.Cut(data, []byte("\n"))
	for at := 0; at < len(rest); {
		line, _, _ := bytes.Cut(rest[at:], []byte("\n"))
		if len(bytes.TrimSpace(line)) == 0 {
			return rest[:at]
		}
		at += len(line) + 1
	}
	return rest
}

// guessFrom finds the sender in front matter that is invalid for another reason, so that
// the caller can notify the sender.
func guessFrom(data []byte) string {
	for line := range bytes.Lines(data[:min(len(data), maxFront)]) {
		if v, ok := bytes.CutPrefix(line, []byte("from:")); ok {
			name := string(bytes.Trim(v, " \t\r\n\"'"))
			if CheckMailbox(name) == nil {
				return name
			}
		}
	}
	return ""
}
