package irc

import "time"

// A Phase is the phase of a connection.
type Phase string

// The phases of a connection; a [Client] is also Closed between two connections.
const (
	Connecting  Phase = "connecting"
	Registering Phase = "registering"
	Registered  Phase = "registered"
	Closed      Phase = "closed"
)

// A State is a snapshot of a connection. It is a copy.
type State struct {
	Phase    Phase
	TLS      bool
	Bouncer  bool   // the other side is ZNC or soju: the server is elsewhere, but the bouncer itself answers PING
	Nick     string // the nick that the server gave, which may not be the wanted one
	Source   string // nick!user@host as others see it; "" while it is unknown
	Account  string // "" without a login
	Caps     map[string]string
	ISupport ISupport
	Channels []string
	Lag      time.Duration // how long the last PING took to be answered
	Since    time.Time     // registered since
	Heard    time.Time     // when the last line outside of a batch came, by the server's clock if it sends the time
	Dropped  int           // lines that were too long or could not be parsed, and batches over a limit
	Waiting  int           // pieces and commands that wait to be written
	Unproven int           // pieces and commands that are written and not proven yet
}

// Cap reports whether a capability is on.
func (s State) Cap(name string) bool { _, ok := s.Caps[name]; return ok }

// CaseMapping returns the server's case mapping.
func (s State) CaseMapping() CaseMapping { return s.ISupport.CaseMapping() }
