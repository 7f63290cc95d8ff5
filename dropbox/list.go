package dropbox

// List returns the messages that wait, in the order of work. It opens none of
// them: a listing costs half a microsecond a name, so list once, work it off, and
// list again when it is empty.
//
// On the way it puts the file FULL down when MaxWaiting is reached, takes it away
// when there is room again (whoever takes a message looks for that too), and sets aside what has no message's name: to dead/,
// with a reason. Unfinished files (see [Drops.List]) are left alone.
//
// On a local disk of Linux a listing is the folder at one moment: a message that was
// delivered before another one is listed before it, or has left the folder. On macOS, on a
// disk of the network and beyond about 110,000 messages, a listing may lack a message and
// have a later one; the next listing has both.
func (b *Mailbox) List() ([]Entry, error) {
	entries, _, err := b.ListAside()
	return entries, err
}

// ListAside is List that also returns what it has set aside this time, so that
// somebody can be told.
func (b *Mailbox) ListAside() ([]Entry, []DeadLetter, error) {
	entries, odd, err := b.list(newFolder)
	if err != nil {
		return nil, nil, b.wrap("list", err)
	}
	// Neither may keep anybody from the mail, on a full disk say: what fails here is
	// tried again by the next listing.
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

// Peek is List for those who only look: it changes nothing.
func (b *Mailbox) Peek() ([]Entry, error) {
	entries, _, err := b.list(newFolder)
	return entries, b.wrap("list", err)
}

// Claimed returns the messages in cur/, in the order of work: those of a running
// turn, and after a crash those that were begun. In the lead's mailbox they are
// the ones that were read.
func (b *Mailbox) Claimed() ([]Entry, error) {
	entries, _, err := b.list(curFolder)
	return entries, b.wrap("list claimed", err)
}
