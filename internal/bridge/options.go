package bridge

import (
	"cmp"
	"errors"
	"log/slog"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Options are the settings of a bridge. Name, Store, Home and Channels.Project must be
// set.
type Options struct {
	Name  string // the bridge's name, which is also the name of its mailbox and of its folder in Home, and the key of an [Origin]
	Title string // the network's name as people know it; "" means Name

	Store *dropbox.Store
	Home  string // the daemon's folder, .claude-swarm; the bridge's files are in Home/Name

	Channels Channels
	Allow    []Permit // only these people may give orders; see [Permit.Check]

	// Agents returns the current names of the agents. nil means all mailboxes whose names
	// are not reserved; see [dropbox.Reserved].
	Agents func() []string
	// Tags returns the current tags, each with the agents that have it. @TAG addresses
	// all of these agents. nil means that there are no tags.
	Tags func() map[string][]string

	// Called returns the name of a mailbox's owner, as people see it. nil means that
	// people see the mailbox's name.
	Called func(mailbox string) string

	// Swarm carries out the orders that people give to the daemon; nil means that no daemon
	// is running.
	Swarm Swarm

	// Sign returns the proof, made with the bridge's token, for a message that is about
	// to be delivered to a mailbox. nil means that messages get no proof. See
	// [dropbox.Store.Send].
	Sign func(m *dropbox.Message, to string) string

	// Over returns the reason why a question no longer needs an answer, or "" while it
	// still needs one. nil means that every question still needs an answer.
	Over func(question *dropbox.Message) (why string)

	// Mask removes secrets from everything that is sent or logged; nil means that nothing
	// is removed.
	Mask func(text string) string

	BufferSize     int // how many lines per channel readers can see; 0 means 500
	WakesPerMinute int // maximum number of messages per minute from one channel to agents; 0 means 10, a negative number means no limit

	Log *slog.Logger // nil means no log
}

// Check sets the defaults, or returns an error if an option is invalid.
func (o *Options) Check() error {
	switch {
	case o.Name == "":
		return errors.New("the bridge has no name")
	case o.Store == nil:
		return errors.New("no store")
	case o.Home == "":
		return errors.New("no folder for the bridge's files")
	case o.Channels.Project == "":
		return errors.New("the project has no channel")
	}
	o.Title = cmp.Or(o.Title, o.Name)
	if o.BufferSize <= 0 {
		o.BufferSize = DefaultBufferSize
	}
	o.WakesPerMinute = cmp.Or(o.WakesPerMinute, 10)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Called == nil {
		o.Called = func(mailbox string) string { return mailbox }
	}
	if o.Over == nil {
		o.Over = func(*dropbox.Message) string { return "" }
	}
	if o.Mask == nil {
		o.Mask = func(text string) string { return text }
	}
	return nil
}
