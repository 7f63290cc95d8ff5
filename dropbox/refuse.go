package dropbox

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// A Refusal is a message that was refused, with the reason.
type Refusal struct {
	Entry
	Reason string    // why, one or more lines; empty if nobody noted it
	At     time.Time // when the reason was noted; zero if nobody did
}

// passedEnd ends the name of a reason that a person has overruled.
const passedEnd = ".passed.txt"

// inRefused makes the path of what is kept of this mailbox's refused mail.
func (b *Mailbox) inRefused(name string) string { return refusedDir + "/" + b.name + "/" + name }

// Refuse moves a message that must not be worked on out of the mailbox, from cur/ or
// new/ to refused/ of the store: first the reason is durable there, then the message
// moves, by one rename. It may be repeated, and goes on wherever a crash cut it off;
// the first reason stays. The error is [ErrGone] when the message is in neither.
func (b *Mailbox) Refuse(e Entry, reason string) error {
	return b.wrap("refuse "+e.ID, b.refuse(e, reason))
}

func (b *Mailbox) refuse(e Entry, reason string) error {
	if err := b.makeRefused(); err != nil {
		return err
	}
	name, why := b.inRefused(e.Base()+".md"), b.inRefused(e.reasonName())
	if err := b.put("reason", why, []byte(strings.TrimRight(reason, "\n")+"\n")); err != nil {
		return err
	}
	err := b.disk.replace(b.at(curFolder, e.Name), name)
	if errors.Is(err, fs.ErrNotExist) {
		err = b.disk.replace(b.at(newFolder, e.Name), name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		there, statErr := b.disk.exists(name)
		if statErr != nil {
			return statErr
		}
		if !there {
			return errors.Join(ErrGone, ignoreMissing(b.disk.remove(why)))
		}
		err = nil
	}
	if err != nil {
		return err
	}
	if err := b.disk.syncDir(refusedDir + "/" + b.name); err != nil {
		return err
	}
	return b.disk.syncLeft(b.dir(curFolder), b.dir(newFolder))
}

// makeRefused makes the folder for this mailbox's refused mail, durable. As with a
// day's folder in done/, each Store looks after that once.
func (b *Mailbox) makeRefused() error {
	folder := refusedDir + "/" + b.name
	there, err := b.disk.exists(folder)
	if err != nil {
		return err
	}
	if _, ok := b.store.days.Load(folder); there && ok {
		return nil
	}
	for _, f := range []string{refusedDir, folder} {
		if err := b.disk.mkdir(f); err != nil {
			return err
		}
	}
	if err := errors.Join(b.disk.syncDir(refusedDir), b.disk.syncDir(".")); err != nil {
		return err
	}
	b.store.days.Store(folder, "")
	return nil
}

// Refusing returns the messages in cur/ that have a reason in refused/ already, in
// the order of work: refusing them was cut off, and Refuse goes on.
func (b *Mailbox) Refusing() ([]Entry, error) {
	entries, _, err := b.list(curFolder)
	if err != nil {
		return nil, b.wrap("list what was to be refused", err)
	}
	var cut []Entry
	for _, e := range entries {
		there, err := b.disk.exists(b.inRefused(e.reasonName()))
		if err != nil {
			return nil, b.wrap("list what was to be refused", err)
		}
		if there {
			cut = append(cut, e)
		}
	}
	return cut, nil
}

// Refusals lists what was refused with the reasons, the oldest message first.
func (b *Mailbox) Refusals() ([]Refusal, error) {
	entries, err := b.refused()
	if err != nil {
		return nil, err
	}
	list := make([]Refusal, 0, len(entries))
	for _, e := range entries {
		r := Refusal{Entry: e}
		name := b.inRefused(e.reasonName())
		data, err := b.disk.readFile(name, 64<<10)
		if err == nil {
			r.Reason = strings.TrimRight(string(data), "\n")
			r.At, err = b.refusedAt(e)
		}
		if ignoreMissing(err) != nil {
			return nil, b.wrap("read a reason", err)
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, c Refusal) int {
		if n := a.Created.Compare(c.Created); n != 0 {
			return n
		}
		return strings.Compare(a.Name, c.Name)
	})
	return list, nil
}

// Refused counts what is kept of the refused mail, and how much of it was refused
// since that time. No message is opened: it is for a status that is asked often.
func (b *Mailbox) Refused(since time.Time) (kept, fresh int, err error) {
	entries, err := b.refused()
	if err != nil {
		return 0, 0, err
	}
	for _, e := range entries {
		kept++
		if !e.Created.Before(since) {
			fresh++
			continue
		}
		at, err := b.refusedAt(e)
		if ignoreMissing(err) != nil {
			return 0, 0, b.wrap("count what was refused", err)
		}
		if !at.Before(since) {
			fresh++
		}
	}
	return kept, fresh, nil
}

func (b *Mailbox) refused() ([]Entry, error) {
	names, err := b.disk.names(refusedDir + "/" + b.name)
	if err != nil {
		return nil, b.wrap("list what was refused", err)
	}
	var entries []Entry
	for _, name := range names {
		if e, ok := parseName(name); ok {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// refusedAt is when the reason was noted.
func (b *Mailbox) refusedAt(e Entry) (time.Time, error) {
	st, err := b.disk.stat(b.inRefused(e.reasonName()))
	if err != nil {
		return time.Time{}, err
	}
	return modTime(&st).UTC(), nil
}

// Readmit lets a refused message wait again, at its old place in the order, its
// counts at nothing. With pass the reason stays beside it, overruled, and [Mailbox.Passes]
// says so from then on: whoever refused it must not do so again. Without, it is
// decided again. The error is [ErrGone] when the message is not in refused/ any more.
func (b *Mailbox) Readmit(e Entry, pass bool) error {
	return b.wrap("readmit "+e.ID, b.readmit(e, pass))
}

func (b *Mailbox) readmit(e Entry, pass bool) error {
	name := b.inRefused(e.Base() + ".md")
	if there, err := b.disk.exists(name); err != nil {
		return err
	} else if !there {
		return ErrGone
	}
	// The reason goes first: a message in cur/ that had one would be refused again
	// by the next start after a crash.
	why := b.inRefused(e.reasonName())
	var err error
	if pass {
		err = b.put("passed", b.inRefused(e.Base()+passedEnd), []byte("Let through by hand.\n"))
	}
	if err == nil {
		err = ignoreMissing(b.disk.remove(why))
	}
	if err == nil {
		err = b.disk.syncDir(refusedDir + "/" + b.name)
	}
	if err != nil {
		return err
	}
	err = b.disk.move(name, b.at(newFolder, e.Base()+".md"))
	if errors.Is(err, fs.ErrNotExist) {
		return ErrGone
	} else if err != nil {
		return err
	}
	if err := b.disk.syncDir(b.dir(newFolder)); err != nil {
		return err
	}
	return b.disk.syncLeft(refusedDir + "/" + b.name)
}

// Passes says whether a person has let this message through.
func (b *Mailbox) Passes(e Entry) (bool, error) {
	there, err := b.disk.exists(b.inRefused(e.Base() + passedEnd))
	return there, b.wrap("look whether "+e.ID+" may pass", err)
}
