package dropbox

// List returns the waiting messages, in the order of work. It opens none of them. A listing
// costs half a microsecond a name, so list once, handle the list, and list again when it is
// empty.
//
// It also makes the file FULL when MaxWaiting is reached, removes it when there is room
// again (as a claim does), and sets aside files whose name is not a message's: to dead/,
// with a reason. Unfinished files (see [Drops.List]) are left alone.
//
// On a local Linux disk a listing shows the folder at one moment: a message that was
// delivered before another one is listed before it, or has left the folder. On macOS, on a
// network disk, and above about 110,000 messages, a listing may lack a message and contain
// a later one; the next listing has both.
func (b *Mailbox) List() ([]Entry, error) {
	entries, _, err := b.ListAside()
	return entries, err
}

// ListAside is List, and also returns the files that it has set aside in this call.
func (b *Mailbox) ListAside() ([]Entry, []DeadLetter, error) {
	entries, odd, err := b.list(newFolder)
	if err != nil {
		return nil, nil, b.wrap("list", err)
	}
	// A failure of one of these, for example on a full disk, must not block the mail: the
	// next listing retries.
	_ = fullMark{b}.update(len(entries))
	var aside []DeadLetter
	for _, name := range odd {
		d, err := b.setAside(newFolder, name, "it lay in new/ without the name of a message; "+
			"what is dropped by hand belongs into "+b.name+"/ itself")
		if err == nil {
			aside = append(aside, d)
		}
	}
	return entries, aside, nil
}

// Peek is List without any change.
func (b *Mailbox) Peek() ([]Entry, error) {
	entries, _, err := b.list(newFolder)
	return entries, b.wrap("list", err)
}

// Claimed returns the messages in cur/, in the order of work: the messages of a running
// turn and, after a crash, the messages that were begun. In the lead's mailbox they are the
// read messages.
func (b *Mailbox) Claimed() ([]Entry, error) {
	entries, _, err := b.list(curFolder)
	return entries, b.wrap("list claimed", err)
}
