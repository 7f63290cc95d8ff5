package irc

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Phase is how far a connection has come.
type Phase string

// The phases of a connection; a [Client] is also Closed between two.
const (
	Connecting  Phase = "connecting"
	Registering Phase = "registering"
	Registered  Phase = "registered"
	Closed      Phase = "closed"
)

// A State is what is known of a connection at one moment. It is a copy.
type State struct {
	Phase    Phase
	TLS      bool
	Bouncer  bool   // ZNC or soju: it stands for a server elsewhere, and its PONG for itself
	Nick     string // what the server calls us, which may not be what we asked for
	Source   string // nick!user@host as others see it; "" until we learn it
	Account  string // "" without a login
	Caps     map[string]string
	ISupport ISupport
	Channels []string
	Lag      time.Duration // of the last PING
	Since    time.Time     // registered since
	Heard    time.Time     // when the last line came, by the server's clock where it tells
	Dropped  int           // lines that were too long or made no sense
	Waiting  int           // pieces that wait to be written
	Unproven int           // lines written and not proven yet
}

// Cap says whether a capability is on.
func (s State) Cap(name string) bool { _, ok := s.Caps[name]; return ok }

// CaseMapping is the server's.
func (s State) CaseMapping() CaseMapping { return s.ISupport.CaseMapping() }

// session is what we know of ourselves at this server.
type session struct {
	phase   Phase
	wanted  string
	nick    string
	source  string
	account string
	offered map[string]string
	caps    map[string]string
	isup    ISupport
	fold    CaseMapping
	rooms   map[string]*room // by folded name: the channels that we are in
	lag     time.Duration
	since   time.Time
	heard   time.Time
	dropped int
	refused error // why the server is about to hang up
	leaving bool  // we said QUIT
}

func newSession(nick string) session {
	return session{
		phase: Connecting, wanted: nick, nick: nick, fold: RFC1459,
		offered: make(map[string]string), caps: make(map[string]string),
		isup: make(ISupport), rooms: make(map[string]*room),
	}
}

// A room is a channel that we are in.
type room struct {
	name    string
	topic   string
	members map[string]string // folded nick to nick
}

func (s *session) has(caps ...string) bool {
	for _, name := range caps {
		if _, ok := s.caps[name]; !ok {
			return false
		}
	}
	return true
}

// bouncer goes by capabilities that no server has. It is a guess: one that passes lines
// on without a separate word is not seen.
func (s *session) bouncer() bool {
	for _, name := range []string{"znc.in/batch", "soju.im/bouncer-networks"} {
		if _, ok := s.offered[name]; ok {
			return true
		}
	}
	return false
}

func (s *session) me(nick string) bool { return s.fold.Same(nick, s.nick) }

func (s *session) lineLen(configured int) int {
	if configured > 0 {
		return configured
	}
	return s.isup.Number("LINELEN", LineLen)
}

// sourceLen is the length of what the server puts before our messages. Before
// we know it, it is taken to be long: 30 + 10 + 63 with ! and @.
func (s *session) sourceLen() int {
	if s.source == "" {
		return max(30, len(s.nick)) + len("!") + 10 + len("@") + 63
	}
	return len(s.source)
}

// learn takes over our own source where a line of the server shows it.
func (s *session) learn(source string) {
	if nick, rest, ok := strings.Cut(source, "!"); ok && s.me(nick) && strings.Contains(rest, "@") {
		s.source = source
	}
}

// rename changes our source for a new nick or a new user and host; "" keeps.
func (s *session) rename(nick, user, host string) {
	if nick == "" {
		nick = s.nick
	}
	s.nick = nick
	_, userhost, ok := strings.Cut(s.source, "!")
	if !ok {
		return
	}
	oldUser, oldHost, _ := strings.Cut(userhost, "@")
	if user == "" {
		user = oldUser
	}
	if host == "" {
		host = oldHost
	}
	s.source = nick + "!" + user + "@" + host
}

// multiline is the bound of a batch by the capability's value.
func (s *session) multiline() (maxBytes, maxLines int, ok bool) {
	value, ok := s.caps["draft/multiline"]
	if !ok || !s.has("batch") {
		return 0, 0, false
	}
	for part := range strings.SplitSeq(value, ",") {
		name, number, _ := strings.Cut(part, "=")
		n, _ := strconv.Atoi(number)
		switch name {
		case "max-bytes":
			maxBytes = n
		case "max-lines":
			maxLines = n
		}
	}
	return maxBytes, maxLines, true
}

// State returns what is known at this moment.
func (c *Conn) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.st
	state := State{
		Phase: s.phase, TLS: c.isTLS, Bouncer: s.bouncer(), Nick: s.nick, Source: s.source, Account: s.account,
		Caps: maps.Clone(s.caps), ISupport: s.isup.clone(), Lag: s.lag, Since: s.since, Heard: s.heard, Dropped: s.dropped,
		Waiting: c.out.size(), Unproven: len(c.out.flying),
	}
	for _, r := range s.rooms {
		state.Channels = append(state.Channels, r.name)
	}
	slices.Sort(state.Channels)
	return state
}

// Members returns the nicks in a channel that we are in, sorted, and its topic.
// ok is false for any other.
func (c *Conn) Members(channel string) (nicks []string, topic string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.st.rooms[c.st.fold.Fold(channel)]
	if !ok {
		return nil, "", false
	}
	return slices.Sorted(maps.Values(r.members)), r.topic, true
}
