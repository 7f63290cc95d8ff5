package dropbox

import "sync/atomic"

// Full says whether the mailbox is full: then senders are refused, and what was
// dropped by hand waits.
func (b *Mailbox) Full() (bool, error) {
	full, err := b.disk.exists(b.name + "/" + fullFile)
	return full, b.wrap("look for "+fullFile, err)
}

// judge puts FULL down, or takes it away, for so many waiting messages.
func (b *Mailbox) judge(waiting int) error {
	b.tooMany().Store(int64(waiting - b.store.opts.MaxWaiting + 1))
	full, mark := waiting >= b.store.opts.MaxWaiting, b.name+"/"+fullFile
	there, err := b.disk.exists(mark)
	if err != nil || there == full {
		return err
	}
	if full {
		return b.put("full", mark,
			[]byte("Too many messages wait here. Senders are refused until there is room.\n"))
	}
	return ignoreMissing(b.disk.remove(mark))
}

// tooMany is how many messages had to leave at the last listing before there is
// room. It is only an estimate: others take messages too, and answers always come in.
func (b *Mailbox) tooMany() *atomic.Int64 {
	n, _ := b.store.tooMany.LoadOrStore(b.name, new(atomic.Int64))
	return n.(*atomic.Int64)
}

// left is called when a message has left new/. In a full mailbox it looks whether
// there is room again; not at each message of a long backlog, since a listing takes
// as long as the backlog is. What fails here is found by the next listing.
func (b *Mailbox) left() {
	if full, err := b.Full(); err != nil || !full || b.tooMany().Add(-1) > 0 {
		return
	}
	if entries, _, err := b.list(newFolder); err == nil {
		_ = b.judge(len(entries))
	}
}
