package irc

import (
	"strconv"
	"strings"
	"time"
)

// session contains the client's data about its connection to the server.
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
	rooms   map[string]*room // the channels that we are in, by folded name
	stays   uint64           // counts the channels that we have joined
	lag     time.Duration
	since   time.Time
	heard   time.Time
	dropped int
	refused error // why the server is about to hang up
	leaving bool  // QUIT was sent
}

func newSession(nick string) session {
	return session{
		phase: Connecting, wanted: nick, nick: nick, fold: RFC1459,
		offered: make(map[string]string), caps: make(map[string]string),
		isup: make(ISupport), rooms: make(map[string]*room),
	}
}

// A room is a joined channel.
type room struct {
	name    string
	stay    uint64 // see [Conn.Stay]
	topic   string
	members map[string]string // maps a folded nick to the nick
	ranks   map[string]string // maps a folded nick to its rank signs, as of the last list of names
}

func (s *session) has(caps ...string) bool {
	for _, name := range caps {
		if _, ok := s.caps[name]; !ok {
			return false
		}
	}
	return true
}

// bouncer recognizes a bouncer by capabilities that no server has. A bouncer without them
// is not recognized.
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

// sourceLen returns the length of the source that the server adds in front of this
// connection's messages. If the source is unknown, sourceLen assumes a nick of at least 30
// bytes, a user of 10 and a host of 63, plus ! and @.
func (s *session) sourceLen() int {
	if s.source == "" {
		return max(30, len(s.nick)) + len("!") + 10 + len("@") + 63
	}
	return len(s.source)
}

// learn records the source of this connection if a line from the server contains it.
func (s *session) learn(source string) {
	if nick, rest, ok := strings.Cut(source, "!"); ok && s.me(nick) && strings.Contains(rest, "@") {
		s.source = source
	}
}

// rename changes the source to a new nick or a new user and host; "" keeps the old one.
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

// multiline returns the limits of a batch, which it parses from the value of the
// capability.
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
