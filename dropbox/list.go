package dropbox

// List returns the waiting messages in the order of their names (see [Entry]). It does
// not open the files. A listing takes half a microsecond per name, so callers should list
// once, handle all the listed messages, and then list again.
//
// List also creates the file FULL when MaxWaiting is reached. Like a claim, it removes
// FULL when there is room again. It sets aside files whose names are not message names,
// by moving them to dead/ with a reason. It does not touch unfinished files (see
// [Drops.List]).
//
// On a local Linux disk, a listing is a consistent snapshot of the folder: if it contains
// a message, it also contains every message that was delivered earlier and is still in
// the folder. A listing may lack a message but contain a later one on macOS, on a network
// disk, with more than about 130,000 messages, or while messages arrive continuously. The
// next listing contains both.
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
	// Ignore errors from updating FULL and from setting files aside, such as those on a
	// full disk. They must not block the messages, and the next listing retries.
	_ = fullMark{b}.update(len(entries))
	var aside []DeadLetter
	for _, name := range odd {
		d, err := b.setAside(newFolder, name, "it was in new/, but was not named like a message; "+
			"drop files by hand into "+b.name+"/ itself")
		if err == nil {
			aside = append(aside, d)
		}
	}
	return entries, aside, nil
}

// Peek is List without any changes to the disk.
func (b *Mailbox) Peek() ([]Entry, error) {
	entries, _, err := b.list(newFolder)
	return entries, b.wrap("list", err)
}

// Claimed returns the messages in cur/ in the order of their names. These are the
// messages of a running turn and, after a crash, the messages of interrupted turns. In
// the lead's mailbox they are the messages that have been read.
func (b *Mailbox) Claimed() ([]Entry, error) {
	entries, _, err := b.list(curFolder)
	return entries, b.wrap("list claimed", err)
}
