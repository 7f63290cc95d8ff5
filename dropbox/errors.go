package dropbox

import (
	"errors"
	"fmt"
	"strings"
)

// The errors that a caller can test for with [errors.Is]. Errors with details also have a
// type for [errors.AsType].
var (
	// ErrNoStore reports that the folder is not a store because it does not contain the
	// file "version".
	ErrNoStore = errors.New("no mailboxes here")
	// ErrVersion reports that the file "version" is damaged or that a newer program
	// created the store.
	ErrVersion = errors.New("mailboxes of an unknown version")
	// ErrLocked reports that another process holds this store's lock for claiming
	// messages. See [LockedError].
	ErrLocked = errors.New("locked by another process")
	// ErrHalted reports that the file HALT exists, so no message can be claimed.
	ErrHalted = errors.New("halted")
	// ErrName reports that a name is not allowed for an agent. See [NameError].
	ErrName = errors.New("not a valid name for an agent")
	// ErrNoMailbox reports that no mailbox has that name. See [UnknownError].
	ErrNoMailbox = errors.New("no such mailbox")
	// ErrFull reports that too many messages are already waiting in the mailbox.
	ErrFull = errors.New("mailbox is full")
	// ErrTooLarge reports that a body, an attachment, front matter or a file exceeds its
	// limit. See [TooLargeError].
	ErrTooLarge = errors.New("too large")
	// ErrInvalid reports that bytes or fields do not form a valid message. See
	// [InvalidError].
	ErrInvalid = errors.New("not a valid message")
	// ErrHops reports that programs passed a message on too many times, probably in a
	// loop.
	ErrHops = errors.New("passed on too many times")
	// ErrGone reports that a message or a dropped file is no longer where it was, usually
	// because another caller moved it.
	ErrGone = errors.New("no longer there")
	// ErrChanged reports that a dropped file has changed since it was listed, or that a
	// program has it open for writing, so it may be incomplete.
	ErrChanged = errors.New("still changing")
	// ErrNotFound reports that no message has an id that equals, begins with or ends with
	// the given id. It also reports that a message has no receipt.
	ErrNotFound = errors.New("no such message")
	// ErrAmbiguous reports that a partial id matches several messages. See
	// [AmbiguousError].
	ErrAmbiguous = errors.New("several messages")
	// ErrWatches reports that the system does not allow this user or this process to
	// watch more folders. Changes in the other folders are found only by listing them.
	ErrWatches = errors.New("the system's limit on watches has been reached")
	// ErrNotDurable reports that a message was delivered, but the disk did not confirm
	// that it is durable, and the message could not be removed either. The message may be
	// lost in a power cut.
	ErrNotDurable = errors.New("delivered, but the disk did not confirm it")
	// ErrFileSystem reports that the file system supports neither hard links nor a rename
	// that never replaces a file. Deliveries with a key need at least one of them.
	ErrFileSystem = errors.New("file system has neither hard links nor a rename that refuses to replace")
)

// A NameError explains why a name is not allowed for an agent.
type NameError struct {
	Name   string
	Reason string
}

func (e *NameError) Error() string { return fmt.Sprintf("name %q: %s", e.Name, e.Reason) }

// Unwrap returns [ErrName].
func (e *NameError) Unwrap() error { return ErrName }

// An UnknownError reports that no mailbox has that name, and lists similar names.
type UnknownError struct {
	Name string
	Near []string // at most 3, nearest first
}

func (e *UnknownError) Error() string {
	if len(e.Near) == 0 {
		return fmt.Sprintf("no mailbox %q", e.Name)
	}
	return fmt.Sprintf("no mailbox %q; did you mean %s?", e.Name, strings.Join(e.Near, " or "))
}

// Unwrap returns [ErrNoMailbox].
func (e *UnknownError) Unwrap() error { return ErrNoMailbox }

// A TooLargeError describes what is too large. All sizes are in bytes.
type TooLargeError struct {
	What      string // "body", "attachment", "front matter", "file"
	Size, Max int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s has %d bytes; the maximum is %d", e.What, e.Size, e.Max)
}

// Unwrap returns [ErrTooLarge].
func (e *TooLargeError) Unwrap() error { return ErrTooLarge }

// An InvalidError explains why bytes or fields do not form a valid message.
type InvalidError struct {
	Reason string
	From   string // the sender, if it could be read
}

func (e *InvalidError) Error() string { return e.Reason }

// Unwrap returns [ErrInvalid].
func (e *InvalidError) Unwrap() error { return ErrInvalid }

func invalid(format string, args ...any) error {
	return &InvalidError{Reason: fmt.Sprintf(format, args...)}
}

// A LockedError names the holder of the lock, if the lock file does.
type LockedError struct {
	Holder string // for example "pid 4711 on host nimbus"; may be empty
}

func (e *LockedError) Error() string {
	if e.Holder == "" {
		return ErrLocked.Error()
	}
	return ErrLocked.Error() + ": " + e.Holder
}

// Unwrap returns [ErrLocked].
func (e *LockedError) Unwrap() error { return ErrLocked }
