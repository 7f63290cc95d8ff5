package dropbox

import "os"

// A Settlement is a claimed message whose turn has ended, with its receipt.
type Settlement struct {
	Entry   Entry
	Receipt []byte
}

// SettleBatch performs Commit and Finish for several messages of the mailbox. It returns
// one error per message; settling a message again after an error is safe. Settling a
// message separately waits for the disk five times, or six times for the first message of
// a day. In a batch, all messages share these waits. Each message is moved only after its
// receipt is durable.
func (b *Mailbox) SettleBatch(list []Settlement) []error {
	errs := make([]error, len(list))
	for at := 0; at < len(list); at += maxBatch {
		end := min(at+maxBatch, len(list))
		filed := settleBatch{b}.settle(list[at:end])
		for i, st := range list[at:end] {
			if filed[i] {
				continue
			}
			// The batch could not settle this message, for example because a crash
			// interrupted an earlier attempt. Settle it alone.
			err := b.Commit(st.Entry, st.Receipt)
			if err == nil {
				err = b.Finish(st.Entry)
			}
			errs[at+i] = err
		}
	}
	return errs
}

// A settleBatch settles several messages of a mailbox together.
type settleBatch struct{ box *Mailbox }

// settle performs each step of Commit and Finish for all messages before the next step.
// It reports for each message whether all steps succeeded.
func (sb settleBatch) settle(list []Settlement) (filed []bool) {
	filed = make([]bool, len(list))
	cur, err := sb.box.disk.folder(sb.box.dir(curFolder))
	if err != nil {
		return filed
	}
	defer cur.Close()
	tmp, err := sb.box.disk.nameAt(sb.box.at(tmpFolder, "-"))
	if err != nil {
		return filed
	}
	defer tmp.close()
	going := sb.commit(list, cur, tmp)

	folder := sb.box.at(doneFolder, sb.box.store.opts.Now().UTC().Format(dayLayout))
	if sb.box.makeDay(folder) != nil {
		return filed
	}
	day, err := sb.box.disk.folder(folder)
	if err != nil {
		return filed
	}
	defer day.Close()
	// The claims did not wait for this sync. Without it, a finished message could
	// reappear in new/ after a power cut.
	if sb.box.disk.syncLeft(sb.box.dir(newFolder)) != nil {
		return filed
	}
	file := func(i int, from, to string) bool {
		return sb.box.disk.replaceAt(nameIn(cur, from), nameIn(day, to), sb.box.at(curFolder, from), folder+"/"+to) == nil
	}
	for i, st := range list {
		going[i] = going[i] && sb.isNowhereDone(st.Entry) && file(i, st.Entry.Name, st.Entry.Base()+".md")
	}
	if sb.box.disk.syncFolder(day) != nil {
		return filed
	}
	for i, st := range list {
		going[i] = going[i] && file(i, st.Entry.receiptName(), st.Entry.receiptName())
	}
	if sb.box.disk.syncFolder(day) != nil {
		return filed
	}
	return going
}

// commit durably writes the receipts to cur/ and reports which of them it wrote. It skips
// messages that already have a receipt.
func (sb settleBatch) commit(list []Settlement, cur *os.File, tmp nameAt) (there []bool) {
	there = make([]bool, len(list))
	files, names := make([]*os.File, len(list)), make([]string, len(list))
	for i, st := range list {
		if has, err := sb.box.disk.exists(sb.box.at(curFolder, st.Entry.receiptName())); has || err != nil || st.Entry.Name == "" {
			continue
		}
		names[i] = "receipt-" + NewID()
		if f, err := sb.box.disk.fillAt(tmp.sibling(names[i]), sb.box.at(tmpFolder, names[i]), st.Receipt); err == nil {
			files[i] = f
		}
	}
	errs := sb.box.disk.syncFiles(files)
	for i, st := range list {
		if files[i] == nil {
			continue
		}
		scratch, name := sb.box.at(tmpFolder, names[i]), st.Entry.receiptName()
		if errs[i] == nil && sb.box.disk.moveAt(tmp.sibling(names[i]), nameIn(cur, name), scratch, sb.box.at(curFolder, name)) == nil {
			there[i] = true
			continue
		}
		// If this fails, Clean removes the file later.
		_ = sb.box.disk.removeAt(tmp.sibling(names[i]), scratch)
	}
	if sb.box.disk.syncFolder(cur) != nil {
		clear(there)
	}
	return there
}

// isNowhereDone reports whether no folder in done/ contains the message.
func (sb settleBatch) isNowhereDone(e Entry) bool {
	day, err := sb.box.store.doneDay(sb.box.name, e, e.Base()+".md")
	return err == nil && day == ""
}
