package dropbox

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// Commit durably writes the receipt of a claimed message beside it in cur/. This is the
// commit point: a caller that finds a receipt there does not run a turn but calls Finish.
// Commit keeps an existing receipt and returns nil in that case.
func (b *Mailbox) Commit(e Entry, receipt []byte) error {
	err := b.put("receipt", b.at(curFolder, e.receiptName()), receipt)
	return b.wrap("commit "+e.ID, err)
}

// Finish durably files a committed message, and then its receipt, in done/<UTC day>/.
// Finish can be repeated: repeating it after a crash completes the filing.
func (b *Mailbox) Finish(e Entry) error {
	return b.wrap("finish "+e.ID, b.file(e))
}

// MarkRead moves a message that is waiting in the lead's mailbox to cur/, which marks it
// as read but not filed. It is safe to call MarkRead again. No turn begins, so the
// message's counts do not change.
func (b *Mailbox) MarkRead(e Entry) error {
	return b.wrap("mark "+e.ID+" as read", b.markRead(e))
}

func (b *Mailbox) markRead(e Entry) error {
	from, to := b.at(newFolder, e.Name), b.at(curFolder, e.Name)
	err := b.disk.move(from, to)
	switch {
	case errors.Is(err, fs.ErrExist): // a power cut may have left both names
		if same, err := b.disk.sameFile(from, to); err != nil || !same {
			return errors.Join(fs.ErrExist, err)
		}
		err = b.disk.remove(from)
	case errors.Is(err, fs.ErrNotExist):
		there, statErr := b.disk.exists(to)
		if err = statErr; err == nil && !there {
			err = ErrGone
		}
	}
	if err != nil {
		return err
	}
	fullMark{b}.messageLeft()
	if err := b.disk.syncDir(b.dir(curFolder)); err != nil {
		return err
	}
	return b.disk.syncLeft(b.dir(newFolder))
}

// File moves a waiting or claimed message, such as a read or unread message to the lead,
// to done/<UTC day>/ without a turn. It does not write a receipt. It is safe to call File
// again.
func (b *Mailbox) File(e Entry) error {
	// Move it through cur/, as a turn does, because the recovery after a power cut looks
	// there.
	err := b.markRead(e)
	if err == nil || errors.Is(err, ErrGone) {
		err = b.file(e)
	}
	if err == nil {
		err = b.disk.syncLeft(b.dir(curFolder))
	}
	return b.wrap("file "+e.ID, err)
}

func (b *Mailbox) file(e Entry) error {
	name := e.Base() + ".md"
	from := b.at(curFolder, e.Name)
	if there, err := b.disk.exists(from); err != nil {
		return err
	} else if !there {
		from = b.at(newFolder, e.Name)
	}
	// If the message was moved before a crash, its receipt belongs in the folder of the
	// same day.
	day, err := b.store.doneDay(b.name, e, name)
	if err != nil {
		return err
	}
	if day == "" {
		day = b.store.opts.Now().UTC().Format(dayLayout)
	}
	folder := b.at(doneFolder, day)
	if err := b.makeDay(folder); err != nil {
		return err
	}
	if e.Name != "" {
		// Claim did not wait for this sync. Without it, a finished message could be in
		// new/ again after a power cut.
		if err := b.disk.syncLeft(b.dir(newFolder)); err != nil {
			return err
		}
		// If a file with that name exists, it is the same message: either git restored it
		// or a delivery with a key was interrupted.
		if err := b.disk.replace(from, folder+"/"+name); ignoreMissing(err) != nil {
			return err
		}
		if err := b.disk.syncDir(folder); err != nil {
			return err
		}
	}
	err = b.disk.replace(b.at(curFolder, e.receiptName()), folder+"/"+e.receiptName())
	if ignoreMissing(err) != nil {
		return err
	}
	return b.disk.syncDir(folder)
}

// HasReceipt reports whether a turn has already finished this message. If so, the message
// must not be handled in another turn, even if a git checkout or a restored backup puts
// it back into new/. HasReceipt looks up at most one name per day and never lists a day's
// folder.
func (b *Mailbox) HasReceipt(e Entry) (bool, error) {
	there, err := b.disk.exists(b.at(curFolder, e.receiptName()))
	if err == nil && !there {
		var day string
		day, err = b.store.doneDay(b.name, e, e.receiptName())
		there = day != ""
	}
	return there, b.wrap("look for the receipt of "+e.ID, err)
}

// Receipts returns the messages whose receipt is still in cur/, in the order of their
// names. The caller must call Finish for them. If only the receipt of a message remains,
// the entry's Name is empty. When Receipts returns, the receipts are durable, even if
// Commit was interrupted.
func (b *Mailbox) Receipts() ([]Entry, error) {
	names, err := b.disk.names(b.dir(curFolder))
	if err != nil {
		return nil, b.wrap("list receipts", err)
	}
	slices.Sort(names)
	var entries []Entry
	for _, name := range names {
		base, ok := strings.CutSuffix(name, receiptEnd)
		if !ok {
			continue
		}
		e, ok := parseBase(base)
		if !ok {
			continue
		}
		for _, other := range names {
			if claimed, ok := parseName(other); ok && claimed.ID == e.ID {
				e = claimed
			}
		}
		entries = append(entries, e)
	}
	if len(entries) > 0 {
		err = b.disk.syncDir(b.dir(curFolder))
	}
	return entries, b.wrap("list receipts", err)
}

// Finished returns the messages whose receipt was filed in done/ on the given UTC day, in
// the order of their names. It does not open the files.
func (b *Mailbox) Finished(day time.Time) ([]Entry, error) {
	names, err := b.disk.dayNames(b.at(doneFolder, day.UTC().Format(dayLayout)))
	if err != nil {
		return nil, b.wrap("list what was done", err)
	}
	slices.Sort(names)
	var entries []Entry
	for _, name := range names {
		if base, ok := strings.CutSuffix(name, receiptEnd); ok {
			if e, ok := parseBase(base); ok {
				e.Name = base + ".md"
				entries = append(entries, e)
			}
		}
	}
	return entries, nil
}

// Filed returns the messages that were filed in done/ on the given UTC day, with or
// without a receipt, in the order of their names. It does not open the files; use
// [Store.Load] to read a message.
func (b *Mailbox) Filed(day time.Time) ([]Found, error) {
	date := day.UTC().Format(dayLayout)
	folder := b.at(doneFolder, date)
	names, err := b.disk.dayNames(folder)
	if err != nil {
		return nil, b.wrap("list what was filed", err)
	}
	slices.Sort(names)
	var found []Found
	for _, name := range names {
		if e, ok := parseName(name); ok {
			found = append(found, Found{Mailbox: b.name, State: Done, Entry: e, Day: date, Path: folder + "/" + name})
		}
	}
	return found, nil
}

// Receipt reads the receipt of a message from cur/ or done/. The error is [ErrNotFound]
// if the message has no receipt.
func (b *Mailbox) Receipt(e Entry) ([]byte, error) {
	// The daemon writes this file. It contains an answer, so the limit is larger than the
	// longest answer that an agent program can print.
	const limit = 256 << 20
	data, err := b.disk.readFile(b.at(curFolder, e.receiptName()), limit)
	if errors.Is(err, fs.ErrNotExist) {
		var day string
		day, err = b.store.doneDay(b.name, e, e.receiptName())
		if err == nil && day == "" {
			err = ErrNotFound
		}
		if err == nil {
			data, err = b.disk.readFile(b.at(doneFolder, day+"/"+e.receiptName()), limit)
		}
	}
	return data, b.wrap("read the receipt of "+e.ID, err)
}
