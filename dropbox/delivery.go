package dropbox

// A Delivery says where a message went.
type Delivery struct {
	ID        string // of the message; of the first one if this is a Duplicate
	To        string // the mailbox
	Name      string // the file's name at delivery
	Thread    string
	Duplicate bool // the key was delivered before; this call wrote no message
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
	Err error // as from [Store.Deliver]; nil: the message survives a crash of this machine
}
