package dropbox

import "os"

// A Settlement is a claimed message that is done, and its receipt.
type Settlement struct {
	Entry   Entry
	Receipt []byte
}

// SettleBatch is Commit and Finish for several messages of the mailbox, and returns an
// error for each; what has one may be settled again. One by one each waits for the disk
// six times, here all of them wait together. The receipts of all are durable before the
// first message is moved.
func (b *Mailbox) SettleBatch(list []Settlement) []error {
	errs := make([]error, len(list))
	for at := 0; at < len(list); at += maxBatch {
		end := min(at+maxBatch, len(list))
		filed := b.settleTogether(list[at:end])
		for i, st := range list[at:end] {
			if filed[i] {
				continue
			}
			// Something stands in the way, or a crash cut it off before: by itself.
			err := b.Commit(st.Entry, st.Receipt)
			if err == nil {
				err = b.Finish(st.Entry)
			}
			errs[at+i] = err
		}
	}
	return errs
}

// settleTogether takes each step of Commit and Finish for all messages before the next
// one, and says for which all of them succeeded.
func (b *Mailbox) settleTogether(list []Settlement) (filed []bool) {
	filed = make([]bool, len(list))
	cur, err := b.disk.folder(b.dir(curFolder))
	if err != nil {
		return filed
	}
	defer cur.Close()
	tmp, err := b.disk.spot(b.at(tmpFolder, "-"))
	if err != nil {
		return filed
	}
	defer tmp.close()
	going := b.commitTogether(list, cur, tmp)

	folder := b.at(doneFolder, b.store.opts.Now().UTC().Format(dayLayout))
	if b.makeDay(folder) != nil {
		return filed
	}
	day, err := b.disk.folder(folder)
	if err != nil {
		return filed
	}
	defer day.Close()
	// The claims did not wait for this. What is done must not wait in new/ again.
	if b.disk.syncLeft(b.dir(newFolder)) != nil {
		return filed
	}
	file := func(i int, from, to string) bool {
		return b.disk.replaceAt(spotIn(cur, from), spotIn(day, to), b.at(curFolder, from), folder+"/"+to) == nil
	}
	for i, st := range list {
		going[i] = going[i] && b.isNowhereDone(st.Entry) && file(i, st.Entry.Name, st.Entry.Base()+".md")
	}
	if b.disk.syncFolder(day) != nil {
		return filed
	}
	for i, st := range list {
		going[i] = going[i] && file(i, st.Entry.receiptName(), st.Entry.receiptName())
	}
	if b.disk.syncFolder(day) != nil {
		return filed
	}
	return going
}

// commitTogether puts the receipts into cur/, durable, and says which are there.
func (b *Mailbox) commitTogether(list []Settlement, cur *os.File, tmp spot) (there []bool) {
	there = make([]bool, len(list))
	files, names := make([]*os.File, len(list)), make([]string, len(list))
	for i, st := range list {
		if has, err := b.disk.exists(b.at(curFolder, st.Entry.receiptName())); has || err != nil || st.Entry.Name == "" {
			continue
		}
		names[i] = "receipt-" + NewID()
		if f, err := b.disk.fillAt(tmp.with(names[i]), b.at(tmpFolder, names[i]), st.Receipt); err == nil {
			files[i] = f
		}
	}
	errs := b.disk.syncFiles(files)
	for i, st := range list {
		if files[i] == nil {
			continue
		}
		scratch, name := b.at(tmpFolder, names[i]), st.Entry.receiptName()
		if errs[i] == nil && b.disk.moveAt(tmp.with(names[i]), spotIn(cur, name), scratch, b.at(curFolder, name)) == nil {
			there[i] = true
			continue
		}
		// What cannot be removed now is removed by Clean.
		_ = b.disk.removeAt(tmp.with(names[i]), scratch)
	}
	if b.disk.syncFolder(cur) != nil {
		clear(there)
	}
	return there
}

// isNowhereDone says whether no earlier try has filed the message.
func (b *Mailbox) isNowhereDone(e Entry) bool {
	day, err := b.store.doneDay(b.name, e, e.Base()+".md")
	return err == nil && day == ""
}
