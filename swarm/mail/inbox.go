package mail

import (
	"log/slog"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// An Inbox handles the mail of one agent. Queue, Arrivals and [Inbox.OriginOf] are safe for
// concurrent use. Only one goroutine at a time may use anything else of an Inbox.
type Inbox struct {
	*Service
	Name     string
	Box      *dropbox.Mailbox
	Queue    Queue
	Arrivals Arrivals
	Log      *slog.Logger // every line names the agent
	AgentLog *journal.AgentLog
	Hidden   Hider
	Backend  func() string // returns the name of the program that runs the turns, for receipts
}

// A Hider removes secrets from text.
type Hider interface {
	Text(text string) string
}

// Proves reports whether a message really is from its sender.
func (in *Inbox) Proves(m *dropbox.Message) bool {
	token := in.Tokens.Of(m.From)
	return token != "" && dropbox.Proven(token, m, in.Name)
}

// ByLead reports whether a message to the agent is from a person.
func (in *Inbox) ByLead(m *dropbox.Message) bool { return m.From == dropbox.Lead && in.Proves(m) }
