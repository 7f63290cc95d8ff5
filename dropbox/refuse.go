package dropbox

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// A Refusal is a message that was refused, together with the reason.
type Refusal struct {
	Entry
	Reason string    // the reason, one or more lines; may be empty
	At     time.Time // the time when the reason was written; zero if there is no reason
}

// Refusals represents the refused messages of a mailbox, which are in the store's
// refused/ folder.
type Refusals struct{ box *Mailbox }

// Refusals returns the refused messages of the mailbox.
func (b *Mailbox) Refusals() Refusals { return Refusals{b} }

// passedEnd is the suffix of the file that marks a message that a person has allowed.
const passedEnd = ".passed.txt"

// path returns the path of a file in the folder for this mailbox's refused messages.
func (r Refusals) path(name string) string { return refusedDir + "/" + r.box.name + "/" + name }

// Refuse moves a message that must not be handled from cur/ or new/ to the store's
// refused/ folder. Before the move, it durably writes the reason to refused/. Refuse can
// be repeated: repeating it after a crash completes the move. Repeating it does not
// change the reason. The error is [ErrGone] if the message is not in any of these
// folders.
func (b *Mailbox) Refuse(e Entry, reason string) error {
	return b.wrap("refuse "+e.ID, b.Refusals().add(e, reason))
}

func (r Refusals) add(e Entry, reason string) error {
	if err := r.makeFolder(); err != nil {
		return err
	}
	name, why := r.path(e.Base()+".md"), r.path(e.reasonName())
	if err := r.box.put("reason", why, []byte(strings.TrimRight(reason, "\n")+"\n")); err != nil {
		return err
	}
	err := r.box.disk.replace(r.box.at(curFolder, e.Name), name)
	if errors.Is(err, fs.ErrNotExist) {
		if err = r.box.disk.replace(r.box.at(newFolder, e.Name), name); err == nil {
			fullMark(r).messageLeft()
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		there, statErr := r.box.disk.exists(name)
		if statErr != nil {
			return statErr
		}
		if !there {
			return errors.Join(ErrGone, ignoreMissing(r.box.disk.remove(why)))
		}
		err = nil
	}
	if err != nil {
		return err
	}
	if err := r.box.disk.syncDir(refusedDir + "/" + r.box.name); err != nil {
		return err
	}
	return r.box.disk.syncLeft(r.box.dir(curFolder), r.box.dir(newFolder))
}

// makeFolder durably creates the folder for this mailbox's refused messages. As with a
// day's folder in done/, each Store does this once.
func (r Refusals) makeFolder() error {
	folder := refusedDir + "/" + r.box.name
	there, err := r.box.disk.exists(folder)
	if err != nil {
		return err
	}
	if _, ok := r.box.store.days.Load(folder); there && ok {
		return nil
	}
	for _, f := range []string{refusedDir, folder} {
		if err := r.box.disk.mkdir(f); err != nil {
			return err
		}
	}
	if err := errors.Join(r.box.disk.syncDir(refusedDir), r.box.disk.syncDir(".")); err != nil {
		return err
	}
	r.box.store.days.Store(folder, "")
	return nil
}

// Unfinished returns the messages in cur/ that already have a reason in refused/, in the
// order of their names. Their refusal was interrupted, and calling Refuse again completes
// it.
func (r Refusals) Unfinished() ([]Entry, error) {
	entries, _, err := r.box.list(curFolder)
	if err != nil {
		return nil, r.box.wrap("list what was to be refused", err)
	}
	var cut []Entry
	for _, e := range entries {
		there, err := r.box.disk.exists(r.path(e.reasonName()))
		if err != nil {
			return nil, r.box.wrap("list what was to be refused", err)
		}
		if there {
			cut = append(cut, e)
		}
	}
	return cut, nil
}

// List lists the refused messages with their reasons, oldest first.
func (r Refusals) List() ([]Refusal, error) {
	entries, err := r.entries()
	if err != nil {
		return nil, err
	}
	list := make([]Refusal, 0, len(entries))
	for _, e := range entries {
		one := Refusal{Entry: e}
		name := r.path(e.reasonName())
		data, err := r.box.disk.readFile(name, 64<<10)
		if err == nil {
			one.Reason = strings.TrimRight(string(data), "\n")
			one.At, err = r.at(e)
		}
		if ignoreMissing(err) != nil {
			return nil, r.box.wrap("read a reason", err)
		}
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, c Refusal) int {
		if n := a.Created.Compare(c.Created); n != 0 {
			return n
		}
		return strings.Compare(a.Name, c.Name)
	})
	return list, nil
}

// Count returns the number of refused messages in the store and the number of those that
// were refused since the given time. It does not open the messages, because status
// commands call it often.
func (r Refusals) Count(since time.Time) (kept, fresh int, err error) {
	entries, err := r.entries()
	if err != nil {
		return 0, 0, err
	}
	for _, e := range entries {
		kept++
		if !e.Created.Before(since) {
			fresh++
			continue
		}
		at, err := r.at(e)
		if ignoreMissing(err) != nil {
			return 0, 0, r.box.wrap("count what was refused", err)
		}
		if !at.Before(since) {
			fresh++
		}
	}
	return kept, fresh, nil
}

func (r Refusals) entries() ([]Entry, error) {
	names, err := r.box.disk.names(refusedDir + "/" + r.box.name)
	if err != nil {
		return nil, r.box.wrap("list what was refused", err)
	}
	var entries []Entry
	for _, name := range names {
		if e, ok := parseName(name); ok {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// at returns the time when the reason was written.
func (r Refusals) at(e Entry) (time.Time, error) {
	st, err := r.box.disk.stat(r.path(e.reasonName()))
	if err != nil {
		return time.Time{}, err
	}
	return modTime(&st).UTC(), nil
}

// Readmit returns a refused message to its old position in the queue and resets its
// counts to 0. If pass is set, Readmit also records that a person allowed the message.
// [Refusals.Passes] then returns true, and the message must not be refused again. If pass
// is not set, the rules are applied again. The error is [ErrGone] if the message is no
// longer in refused/.
func (r Refusals) Readmit(e Entry, pass bool) error {
	return r.box.wrap("readmit "+e.ID, r.readmit(e, pass))
}

func (r Refusals) readmit(e Entry, pass bool) error {
	name := r.path(e.Base() + ".md")
	if there, err := r.box.disk.exists(name); err != nil {
		return err
	} else if !there {
		return ErrGone
	}
	// Remove the reason first. If a message in cur/ still had a reason, the next start
	// after a crash would refuse it again.
	why := r.path(e.reasonName())
	var err error
	if pass {
		err = r.box.put("passed", r.path(e.Base()+passedEnd), []byte("Let through by hand.\n"))
	}
	if err == nil {
		err = ignoreMissing(r.box.disk.remove(why))
	}
	if err == nil {
		err = r.box.disk.syncDir(refusedDir + "/" + r.box.name)
	}
	if err != nil {
		return err
	}
	err = r.box.disk.move(name, r.box.at(newFolder, e.Base()+".md"))
	if errors.Is(err, fs.ErrNotExist) {
		return ErrGone
	} else if err != nil {
		return err
	}
	if err := r.box.disk.syncDir(r.box.dir(newFolder)); err != nil {
		return err
	}
	return r.box.disk.syncLeft(refusedDir + "/" + r.box.name)
}

// Passes reports whether a person has allowed this message.
func (r Refusals) Passes(e Entry) (bool, error) {
	there, err := r.box.disk.exists(r.path(e.Base() + passedEnd))
	return there, r.box.wrap("check whether "+e.ID+" may pass", err)
}
