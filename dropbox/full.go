package dropbox

import "sync/atomic"

// Full reports whether the mailbox is full. While it is full, senders are refused and
// drops wait.
func (b *Mailbox) Full() (bool, error) {
	full, err := b.disk.exists(b.name + "/" + fullFile)
	return full, b.wrap("look for "+fullFile, err)
}

// A fullMark is the file FULL in a mailbox.
type fullMark struct{ box *Mailbox }

// update creates or removes FULL according to the number of waiting messages.
func (f fullMark) update(waiting int) error {
	f.excess().Store(int64(waiting - f.box.store.opts.MaxWaiting + 1))
	full, mark := waiting >= f.box.store.opts.MaxWaiting, f.box.name+"/"+fullFile
	there, err := f.box.disk.exists(mark)
	if err != nil || there == full {
		return err
	}
	if full {
		return f.box.put("full", mark,
			[]byte("Too many messages are waiting here. Senders are refused until there is room.\n"))
	}
	return ignoreMissing(f.box.disk.remove(mark))
}

// excess returns the number of messages that must leave before there is room. update sets
// it, and messageLeft decrements it. It is only an estimate, because other processes also
// remove messages, and answers are always accepted.
func (f fullMark) excess() *atomic.Int64 {
	n, _ := f.box.store.tooMany.LoadOrStore(f.box.name, new(atomic.Int64))
	return n.(*atomic.Int64)
}

// messageLeft is called after a claim, MarkRead, Cancel, GiveUp or Refuse has removed a
// message from new/. In a full mailbox it checks whether there is room again. It does not
// list the mailbox for each message of a long backlog, because the cost of a listing grows
// with the backlog. If messageLeft fails, the next listing corrects FULL.
func (f fullMark) messageLeft() {
	if full, err := f.box.Full(); err != nil || !full || f.excess().Add(-1) > 0 {
		return
	}
	if entries, _, err := f.box.list(newFolder); err == nil {
		_ = f.update(len(entries))
	}
}
