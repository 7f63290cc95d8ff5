package dropbox

// List returns the waiting messages, in the order of their names (see [Entry]). It opens
// none of them. A listing takes half a microsecond per name, so list once, handle all the
// messages in the list, and then list again.
//
// List also makes the file FULL when MaxWaiting is reached. Like a claim, it removes FULL
// when there is room again. It sets aside files whose names are not message names: it
// moves them to dead/, with a reason. It leaves unfinished files alone (see
// [Drops.List]).
//
// On a local Linux disk, a listing shows the folder at one moment: if it contains a
// message, it also contains every message that was delivered earlier and is still in the
// folder. On macOS, on a network disk, above about 130,000 messages, and while messages
// arrive without a pause, a listing may lack a message and contain a later one; the next
// listing has both.
func (b *Mailbox) List() ([]Entry, error) {
	entries, _, err := b.ListAside()
	return entries, err
}

// ListAside is like List, but also returns the files that this call set aside.
func (b *Mailbox) ListAside() ([]Entry, []DeadLetter, error) {
	entries, odd, err := b.list(newFolder)
	if err != nil {
		return nil, nil, b.wrap("list", err)
	}
	// Ignore errors from updating FULL and from setting files aside, for example on a
	// full disk. They must not block the mail, and the next listing tries again.
	_ = fullMark{b}.update(len(entries))
	var aside []DeadLetter
	for _, name := range odd {
		d, err := b.setAside(newFolder, name, "it was in new/ without the name of a message; "+
			"drop files by hand into "+b.name+"/ itself")
		if err == nil {
			aside = append(aside, d)
		}
	}
	return entries, aside, nil
}

// Peek is List without any change on disk.
func (b *Mailbox) Peek() ([]Entry, error) {
	entries, _, err := b.list(newFolder)
	return entries, b.wrap("list", err)
}

// Claimed returns the messages in cur/, in the order of their names: the messages of a
// running turn and, after a crash, the messages of interrupted turns. In the lead's
// mailbox they are the messages that were read.
func (b *Mailbox) Claimed() ([]Entry, error) {
	entries, _, err := b.list(curFolder)
	return entries, b.wrap("list claimed", err)
}
