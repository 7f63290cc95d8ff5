package mail

import (
	"log/slog"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// An Inbox is the mail of one agent. Only one goroutine at a time may use it, except Queue,
// Arrivals and [Inbox.OriginOf], which are safe for several.
type Inbox struct {
	*Service
	Name     string
	Box      *dropbox.Mailbox
	Queue    Queue
	Arrivals Arrivals
	Log      *slog.Logger // names the agent
	AgentLog *journal.AgentLog
	Hidden   Hider
	Backend  func() string // names the program that does the turns, for receipts
}

// A Hider removes secrets from a text.
type Hider interface {
	Text(text string) string
}

// Proves reports whether a message is really from its sender.
func (in *Inbox) Proves(m *dropbox.Message) bool {
	token := in.Tokens.Of(m.From)
	return token != "" && dropbox.Proven(token, m, in.Name)
}

// ByLead reports whether a message is from a person to the agent.
func (in *Inbox) ByLead(m *dropbox.Message) bool { return m.From == dropbox.Lead && in.Proves(m) }
