package dropbox

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// DeadLetters represents a mailbox's given-up messages, which are in dead/.
type DeadLetters struct{ box *Mailbox }

// DeadLetters returns the dead letters of the mailbox.
func (b *Mailbox) DeadLetters() DeadLetters { return DeadLetters{b} }

// GiveUp moves a message from cur/ or new/ to dead/. Before it moves the message, it
// durably writes the reason to dead/. GiveUp can be repeated: repeating it after a crash
// completes the move. Repeating it does not change the reason.
func (b *Mailbox) GiveUp(e Entry, reason string) error {
	return b.wrap("give up "+e.ID, b.giveUp(e, reason))
}

func (b *Mailbox) giveUp(e Entry, reason string) error {
	name := b.at(deadFolder, e.Base()+".md")
	err := b.writeReason(e.reasonName(), reason)
	if err != nil {
		return err
	}
	err = b.disk.replace(b.at(curFolder, e.Name), name)
	if errors.Is(err, fs.ErrNotExist) {
		if err = b.disk.replace(b.at(newFolder, e.Name), name); err == nil {
			fullMark{b}.messageLeft()
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		there, statErr := b.disk.exists(name)
		if statErr != nil {
			return statErr
		}
		if !there {
			return errors.Join(ErrGone, ignoreMissing(b.disk.remove(b.at(deadFolder, e.reasonName()))))
		}
		err = nil
	}
	if err != nil {
		return err
	}
	if err := b.disk.syncDir(b.dir(deadFolder)); err != nil {
		return err
	}
	return b.disk.syncLeft(b.dir(curFolder), b.dir(newFolder))
}

// BeginGiveUp performs the first half of GiveUp: it makes the reason durable in dead/ but
// does not move the message yet. It returns the time when the reason was written.
// Repeating the call after a crash returns the same time; if the message is retried and
// given up again, the time differs. A caller that delivers a notice to the sender between
// the two halves can use this time in the notice's key, so that the sender gets exactly
// one notice each time the message is given up. [Mailbox.Reasons] finds the messages for
// which the second half is missing.
func (b *Mailbox) BeginGiveUp(e Entry, reason string) (time.Time, error) {
	err := b.writeReason(e.reasonName(), reason)
	var st unix.Stat_t
	if err == nil {
		st, err = b.disk.stat(b.at(deadFolder, e.reasonName()))
	}
	if err != nil {
		return time.Time{}, b.wrap("give up "+e.ID, err)
	}
	return modTime(&st), nil
}

// Reasons returns the messages in cur/ that already have a reason in dead/, in the order
// of their names. GiveUp was interrupted for these messages; calling it again completes
// it.
func (b *Mailbox) Reasons() ([]Entry, error) {
	entries, _, err := b.list(curFolder)
	if err != nil {
		return nil, b.wrap("list reasons", err)
	}
	var cut []Entry
	for _, e := range entries {
		there, err := b.disk.exists(b.at(deadFolder, e.reasonName()))
		if err != nil {
			return nil, b.wrap("list reasons", err)
		}
		if there {
			cut = append(cut, e)
		}
	}
	return cut, nil
}

// Reason returns the reason why a message was given up, or "" if no reason is recorded.
func (b *Mailbox) Reason(e Entry) (string, error) {
	return b.readReason(e.reasonName())
}

func (b *Mailbox) readReason(name string) (string, error) {
	data, err := b.disk.readFile(b.at(deadFolder, name), 64<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if errors.Is(err, ErrInvalid) || errors.Is(err, ErrTooLarge) || errors.Is(err, fs.ErrPermission) {
		return fmt.Sprintf("the reason cannot be read: %v", err), nil
	}
	return strings.TrimRight(string(data), "\n"), b.wrap("read a reason", err)
}

// CancelReason is the reason that [Mailbox.Cancel] writes for a message.
const CancelReason = "cancelled while it waited"

// Cancel takes back a message that is still waiting. It moves the message to dead/ and
// then writes CancelReason as the reason. The error is [ErrGone] if the message is no
// longer waiting.
func (b *Mailbox) Cancel(e Entry) error {
	// Unlike GiveUp, Cancel writes the reason after the move, because a message that a
	// turn claims at the last moment must not get a reason.
	name := b.at(deadFolder, e.Base()+".md")
	err := b.disk.move(b.at(newFolder, e.Name), name)
	if errors.Is(err, fs.ErrNotExist) {
		err = b.cancelled(e, name)
	}
	if err == nil {
		err = b.writeReason(e.reasonName(), CancelReason)
	}
	if err == nil {
		fullMark{b}.messageLeft()
		err = b.disk.syncLeft(b.dir(newFolder))
	}
	return b.wrap("cancel "+e.ID, err)
}

// cancelled returns nil if an earlier Cancel moved the message but was interrupted before
// it wrote the reason. Otherwise the error is [ErrGone] or a disk error.
func (b *Mailbox) cancelled(e Entry, name string) error {
	moved, err := b.disk.exists(name)
	if err != nil {
		return err
	}
	noted, err := b.disk.exists(b.at(deadFolder, e.reasonName()))
	if err == nil && (noted || !moved) {
		err = ErrGone
	}
	return err
}

// List lists the dead letters with their reasons, oldest first.
func (dead DeadLetters) List() ([]DeadLetter, error) {
	names, err := dead.box.disk.names(dead.box.dir(deadFolder))
	if err != nil {
		return nil, dead.box.wrap("list dead letters", err)
	}
	var list []DeadLetter
	for _, name := range names {
		if !isLetter(name) {
			continue
		}
		d := DeadLetter{}
		reason := name + reasonEnd
		if e, ok := parseName(name); ok {
			d.Entry, reason = e, e.reasonName()
		} else if d, ok = parseAside(name); !ok {
			d = DeadLetter{Entry: Entry{Name: name}, Original: name}
		}
		if d.Reason, err = dead.box.readReason(reason); err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, c DeadLetter) int {
		if n := a.Created.Compare(c.Created); n != 0 {
			return n
		}
		return strings.Compare(a.Name, c.Name)
	})
	return list, nil
}

// Count returns the number of dead letters, not counting messages that were taken back.
// Status commands call it often, so it does not open the messages. It opens only reason
// files that are as long as CancelReason.
func (dead DeadLetters) Count() (int, error) {
	names, err := dead.box.disk.names(dead.box.dir(deadFolder))
	if err != nil {
		return 0, dead.box.wrap("count dead letters", err)
	}
	n := 0
	for _, name := range names {
		if !isLetter(name) {
			continue
		}
		back, err := dead.tookBack(name)
		if err != nil {
			return 0, dead.box.wrap("count dead letters", err)
		}
		if !back {
			n++
		}
	}
	return n, nil
}

// tookBack reports whether a dead letter is a message that [Mailbox.Cancel] took back.
func (dead DeadLetters) tookBack(name string) (bool, error) {
	e, ok := parseName(name)
	if !ok {
		return false, nil
	}
	st, err := dead.box.disk.stat(dead.box.at(deadFolder, e.reasonName()))
	if err != nil || st.Size != int64(len(CancelReason)+1) {
		return false, ignoreMissing(err)
	}
	reason, err := dead.box.readReason(e.reasonName())
	return reason == CancelReason, err
}

// isLetter reports whether a name in dead/ belongs to a dead letter rather than to a
// reason.
func isLetter(name string) bool {
	return !strings.HasSuffix(name, reasonEnd) && !strings.HasPrefix(name, ".")
}

// Retry moves a dead letter back and resets its counts to 0. A message waits again at its
// old position in the queue; a file that was set aside becomes a drop in the mailbox's
// own folder. The error is [ErrGone] if the dead letter is no longer in dead/.
func (dead DeadLetters) Retry(d DeadLetter) error {
	return dead.box.wrap("retry "+d.Name, dead.retry(d))
}

func (dead DeadLetters) retry(d DeadLetter) error {
	if d.Original != "" {
		return dead.retryDrop(d)
	}
	if there, err := dead.box.disk.exists(dead.box.at(deadFolder, d.Name)); err != nil {
		return err
	} else if !there {
		return ErrGone
	}
	// Remove the reason first. If a message in new/ still had a reason, the next start
	// after a crash would give it up again.
	if err := ignoreMissing(dead.box.disk.remove(dead.box.at(deadFolder, d.reasonName()))); err != nil {
		return err
	}
	if err := dead.box.disk.syncDir(dead.box.dir(deadFolder)); err != nil {
		return err
	}
	err := dead.box.disk.move(dead.box.at(deadFolder, d.Name), dead.box.at(newFolder, d.Base()+".md"))
	if errors.Is(err, fs.ErrNotExist) {
		return ErrGone
	} else if err != nil {
		return err
	}
	if err := dead.box.disk.syncDir(dead.box.dir(newFolder)); err != nil {
		return err
	}
	return dead.box.disk.syncLeft(dead.box.dir(deadFolder))
}

// CheckRetry returns an error that is [ErrInvalid] if a dead letter, as it is now, is not a
// message and cannot become one, such as a folder or a binary file: after a Retry, it would
// soon be a dead letter again.
func (dead DeadLetters) CheckRetry(d DeadLetter) error {
	err := dead.checkRetry(d)
	if !errors.Is(err, ErrInvalid) {
		return nil // Retry reports all other errors
	}
	return err
}

func (dead DeadLetters) checkRetry(d DeadLetter) error {
	name := dead.box.at(deadFolder, d.Name)
	if d.Original == "" {
		_, err := dead.box.store.Load(Found{Mailbox: dead.box.name, State: Dead, Entry: d.Entry, Path: name})
		return err
	}
	st, err := dead.box.disk.stat(name)
	if err != nil {
		return err
	}
	data, f, _, err := dead.box.Drops().readStray(stray(deadFolder+"/"+d.Name, &st))
	if err != nil {
		return err
	}
	f.close()
	_, _, err = fromDrop(data)
	return err
}

// retryDrop moves a file that was set aside back to the mailbox's own folder, unless its
// name is taken there.
func (dead DeadLetters) retryDrop(d DeadLetter) error {
	err := dead.box.disk.move(dead.box.at(deadFolder, d.Name), dead.box.name+"/"+d.Original)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrGone
	} else if err != nil {
		return err
	}
	err = ignoreMissing(dead.box.disk.remove(dead.box.at(deadFolder, d.Name+reasonEnd)))
	return errors.Join(err, dead.box.disk.syncDir(dead.box.name))
}

// Purge deletes a dead letter and its reason. The message's key is still remembered, so a
// repeated delivery does not recreate the message.
func (dead DeadLetters) Purge(d DeadLetter) error {
	return dead.box.wrap("purge "+d.Name, dead.purge(d))
}

func (dead DeadLetters) purge(d DeadLetter) error {
	name, reason := dead.box.at(deadFolder, d.Name), d.reasonName()
	if d.Original != "" {
		reason = d.Name + reasonEnd
	}
	st, err := dead.box.disk.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrGone
	} else if err != nil {
		return err
	}
	if d.Original == "" {
		if err := dead.box.store.keys().markPurged(dead.box, name); err != nil {
			return err
		}
	}
	if kindOf(st.Mode) == KindFolder { // a folder that was set aside, with its contents
		err = dead.box.disk.removeTree(name)
	} else {
		err = dead.box.disk.remove(name)
	}
	if ignoreMissing(err) != nil {
		return err
	}
	if err := ignoreMissing(dead.box.disk.remove(dead.box.at(deadFolder, reason))); err != nil {
		return err
	}
	return dead.box.disk.syncDir(dead.box.dir(deadFolder))
}

// Has reports whether a message and its reason are in dead/. If they are, a waiting file
// with the same name is a copy, because [DeadLetters.Retry] would have moved the message
// itself.
func (dead DeadLetters) Has(e Entry) (bool, error) {
	there, err := dead.box.disk.exists(dead.box.at(deadFolder, e.Base()+".md"))
	if there && err == nil {
		there, err = dead.box.disk.exists(dead.box.at(deadFolder, e.reasonName()))
	}
	return there && err == nil, dead.box.wrap("check whether "+e.ID+" was given up", err)
}

// SetAsideClaimed moves a claimed file that is not a message to dead/ and writes the
// reason. It does not replace a dead letter with the same name.
func (b *Mailbox) SetAsideClaimed(e Entry, reason string) error {
	_, err := b.setAside(curFolder, e.Name, reason)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrGone
	}
	return b.wrap("set aside "+e.ID, err)
}
