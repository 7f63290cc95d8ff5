package irc

import "time"

// A Phase is the phase of a connection.
type Phase string

// The phases of a connection. A [Client] is also Closed between two connections.
const (
	Connecting  Phase = "connecting"
	Registering Phase = "registering"
	Registered  Phase = "registered"
	Closed      Phase = "closed"
)

// A State is a snapshot of a connection, which later changes do not affect.
type State struct {
	Phase    Phase
	TLS      bool
	Bouncer  bool   // the other side is ZNC or soju; the server is on another machine, but the bouncer itself answers PING
	Nick     string // the actual nick, which may differ from the wanted nick
	Source   string // nick!user@host as others see it; "" while it is unknown
	Account  string // "" without a login
	Caps     map[string]string
	ISupport ISupport
	Channels []string
	Lag      time.Duration // how long the server took to answer the last PING
	Since    time.Time     // when the connection was registered
	Heard    time.Time     // when the last line outside a batch arrived, by the server's clock if the server sends the time
	Dropped  int           // number of lines that were too long or could not be parsed, and of batches that exceeded a limit
	Waiting  int           // number of pieces and commands that are waiting to be written
	Unproven int           // number of pieces and commands that have been written but not proven yet
}

// Cap reports whether a capability is enabled.
func (s State) Cap(name string) bool { _, ok := s.Caps[name]; return ok }

// CaseMapping returns the server's case mapping.
func (s State) CaseMapping() CaseMapping { return s.ISupport.CaseMapping() }
