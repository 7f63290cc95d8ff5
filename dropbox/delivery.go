package dropbox

// A Delivery describes where a message was delivered.
type Delivery struct {
	ID        string // the id of the message; for a Duplicate, the id of the first message
	To        string // the mailbox
	Name      string // the file's name at delivery
	Thread    string
	Duplicate bool // a message with the same key had already been delivered, so this call wrote none
	// Text is set by [Drops.TakeIn] if the file begins with a block between --- lines that is
	// not an envelope, so the whole file is the text of the message.
	Text bool
	// Late is set by [Drops.TakeIn] if a program opened the file for writing while it was taken
	// in. It is the reason with which the file is set aside, so that what is written later is
	// in a file.
	Late string
}

// A Draft is a message to deliver.
type Draft struct {
	To      string
	Message *Message
	Sign    func(*Message) string // nil for no proof; see [Store.DeliverSigned]
}

// An Outcome is the result of delivering a [Draft].
type Outcome struct {
	Delivery
	Err error // as for [Store.Deliver]; if nil, the message survives a crash of this machine
}
