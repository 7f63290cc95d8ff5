package irctest

import (
	"bufio"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// Features selects the features of a [Server]. The zero value offers every capability.
type Features struct {
	Without  []string // capabilities that the server does not offer
	MaxBytes int      // maximum number of bytes in a multiline batch; 0 means 4096
	MaxLines int      // maximum number of lines in a multiline batch; 0 means 100
	Page     int      // number of messages in one page of history; 0 means 100
	Ring     int      // number of lines in each target's history; 0 means all
	Password string   // password of every account for SASL PLAIN; "" accepts any password

	NoRelay   []string // channels in which RELAYMSG is refused, until [Server.Op]
	NoTargets bool     // CHATHISTORY TARGETS is refused
	Events    bool     // a channel's history also contains joins and quits, as on ergo
	// Rule decides what happens to a message to a channel; nil accepts every message. It is
	// never called by two goroutines at the same time.
	Rule func(text string) Ruling

	StrictIDs bool // a msgid that is not in the history is refused with FAIL; ergo 2.20 answers with an empty batch
}

// A Ruling is what a [Server] does with a message to a channel.
type Ruling int

const (
	Accept Ruling = iota
	Refuse        // answers with 404
	Kick          // accepts the message, but removes the sender from the channel before the echo
)

// A Server is a small IRC server inside the test process. It supports SASL and the
// capabilities that the servers in Linux distributions lack: draft/multiline,
// draft/chathistory and draft/relaymsg. Its answers are like those of ergo 2.20. It has
// no flood limit and stores all lines, so a test can check which lines arrived. Its
// methods are safe for concurrent use.
type Server struct {
	Addr string

	l  net.Listener
	f  Features
	wg sync.WaitGroup

	mu     sync.Mutex
	users  map[string]*user // by nick in lower case
	said   []Said
	forgot int // how many of the oldest lines in said are no longer in the history
	serial int

	commands []irc.Message // from all clients
}

// Commands returns the commands that all clients have sent, oldest first.
func (s *Server) Commands() []irc.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands)
}

// Said is a message that the server received.
type Said struct {
	ID, Target, Source, Text string
	Time                     time.Time
	Account, RelayedBy       string
	Tags                     map[string]string // tags from the client, such as +draft/reply
	lines                    []irc.Line        // lines of a multiline batch
	event                    *irc.Message      // replaces the text of an entry that is a join or quit
}

// A user is one connection. The server's mutex guards its fields.
type user struct {
	s        *Server
	nc       net.Conn
	nick     string
	name     string
	account  string
	caps     map[string]bool
	rooms    map[string]string
	welcomed bool
	waiting  bool // the server is waiting for CAP END
	batch    *openBatch
	label    string
	answered bool
}

type openBatch struct {
	ref, target, label string
	tags               map[string]string
	lines              []irc.Line
}

// NewServer starts a server that runs until the end of the test.
func NewServer(t testing.TB, f Features) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	orElse := func(n, otherwise int) int {
		if n == 0 {
			return otherwise
		}
		return n
	}
	f.MaxBytes, f.MaxLines, f.Page = orElse(f.MaxBytes, 4096), orElse(f.MaxLines, 100), orElse(f.Page, 100)
	s := &Server{Addr: l.Addr().String(), l: l, f: f, users: make(map[string]*user)}
	s.wg.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() { s.serve(nc) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		s.mu.Lock()
		for _, u := range s.users {
			_ = u.nc.Close()
		}
		s.mu.Unlock()
		s.wg.Wait()
	})
	return s
}

// Said returns all messages that were sent to target, oldest first.
func (s *Server) Said(target string) []Said {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Said
	for _, m := range s.said {
		if strings.EqualFold(m.Target, target) && m.event == nil {
			all = append(all, m)
		}
	}
	return all
}

// Say sends a message from a person who has no connection to the server.
func (s *Server) Say(nick, account, target, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.say(nil, Said{Source: nick + "!u@elsewhere", Account: account, Target: target, Text: text}, "PRIVMSG")
}

// Forget empties the history, as happens when a server that keeps its history in memory
// is restarted. [Server.Said] still returns all messages.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgot = len(s.said)
}

// Op makes a nick an operator of a channel.
func (s *Server) Op(channel, nick string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.f.NoRelay = slices.DeleteFunc(slices.Clone(s.f.NoRelay), func(c string) bool { return strings.EqualFold(c, channel) })
	s.toRoom(channel, irc.Message{Source: "op!u@elsewhere", Command: "MODE", Params: []string{channel, "+o", nick}})
}

// Online reports whether a client is using the nick.
func (s *Server) Online(nick string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.users[strings.ToLower(nick)] != nil
}

// Kick kicks a nick from a channel.
func (s *Server) Kick(channel, nick string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[strings.ToLower(nick)]
	if u == nil {
		return
	}
	s.toRoom(channel, irc.Message{Source: "op!u@elsewhere", Command: "KICK", Params: []string{channel, nick, "out"}})
	delete(u.rooms, strings.ToLower(channel))
}

func (s *Server) serve(nc net.Conn) {
	u := &user{s: s, nc: nc, caps: make(map[string]bool), rooms: make(map[string]string)}
	r := bufio.NewReader(nc)
	defer func() {
		_ = nc.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.users[strings.ToLower(u.nick)] == u {
			delete(s.users, strings.ToLower(u.nick))
			for _, room := range u.rooms {
				quit := irc.Message{Source: u.source(), Command: "QUIT", Params: []string{"gone"}}
				s.toRoom(room, quit)
				s.keepEvent(room, quit)
			}
		}
	}()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		m, err := irc.Parse(line)
		if err != nil {
			continue
		}
		s.mu.Lock()
		u.label, u.answered = m.Tags["label"], false
		stay := u.handle(m)
		if u.label != "" && !u.answered && u.caps["labeled-response"] {
			u.send("s", "ACK")
		}
		s.mu.Unlock()
		if !stay {
			return
		}
	}
}

func (u *user) source() string { return u.nick + "!~" + u.name + "@here" }

// send answers the current command. The first line of the answer carries the command's
// label.
func (u *user) send(source, command string, params ...string) {
	u.write(irc.Message{Source: source, Command: command, Params: params})
}

func (u *user) write(m irc.Message) {
	if u.label != "" && !u.answered && u.caps["labeled-response"] {
		tags := map[string]string{"label": u.label}
		for k, v := range m.Tags {
			tags[k] = v
		}
		m.Tags, u.answered = tags, true
	}
	u.raw(m)
}

func (u *user) raw(m irc.Message) {
	for key := range m.Tags {
		need := map[string]string{"label": "labeled-response", "batch": "batch", "time": "server-time", "account": "account-tag"}[key]
		if need == "" {
			need = "message-tags"
		}
		if key != "draft/multiline-concat" && !u.caps[need] {
			delete(m.Tags, key)
		}
	}
	line, err := m.Append(nil)
	if err != nil {
		panic(err) // a bug in this server
	}
	_ = u.nc.SetWriteDeadline(time.Now().Add(10 * time.Second))
	_, _ = u.nc.Write(line)
}

func (s *Server) toRoom(room string, m irc.Message) {
	for _, u := range s.users {
		if _, in := u.rooms[strings.ToLower(room)]; in {
			u.raw(m)
		}
	}
}

func (s *Server) offers() []string {
	all := []string{"account-tag", "batch", "cap-notify", "draft/chathistory", "draft/event-playback", "draft/multiline=max-bytes=" + strconv.Itoa(s.f.MaxBytes) + ",max-lines=" + strconv.Itoa(s.f.MaxLines),
		"draft/relaymsg=/", "echo-message", "labeled-response", "message-tags", "sasl=PLAIN", "server-time"}
	return slices.DeleteFunc(all, func(c string) bool {
		name, _, _ := strings.Cut(c, "=")
		return slices.Contains(s.f.Without, name)
	})
}

// handle handles one command and reports whether the connection stays open.
func (u *user) handle(m irc.Message) bool {
	if u.batch != nil && m.Command != "BATCH" && m.Tags["batch"] != u.batch.ref {
		u.batch = nil
		u.send("s", "FAIL", "BATCH", "MULTILINE_INVALID", "Another command within the batch")
		return true
	}
	u.s.commands = append(u.s.commands, m)
	switch m.Command {
	case "CAP":
		u.cap(m)
	case "AUTHENTICATE":
		u.login(m.Param(0))
	case "NICK":
		u.rename(m.Param(0))
	case "USER":
		u.name = m.Param(0)
		u.welcome()
	case "PING":
		u.send("s", "PONG", "s", m.Last())
	case "QUIT":
		u.send("s", "ERROR", "Closing link")
		return false
	default:
		if !u.welcomed {
			u.send("s", "451", "*", "You have not registered")
			return true
		}
		u.command(m)
	}
	return true
}

func (u *user) cap(m irc.Message) {
	switch m.Param(0) {
	case "LS":
		u.waiting = true
		all := u.s.offers()
		half := len(all) / 2
		u.send("s", "CAP", "*", "LS", "*", strings.Join(all[:half], " "))
		u.send("s", "CAP", "*", "LS", strings.Join(all[half:], " "))
	case "REQ":
		wanted := strings.Fields(m.Last())
		for _, name := range wanted {
			if !slices.ContainsFunc(u.s.offers(), func(c string) bool { return c == name || strings.HasPrefix(c, name+"=") }) {
				u.send("s", "CAP", "*", "NAK", m.Last())
				return
			}
		}
		for _, name := range wanted {
			u.caps[name] = true
		}
		u.send("s", "CAP", "*", "ACK", m.Last())
	case "END":
		u.waiting = false
		u.welcome()
	}
}

func (u *user) welcome() {
	if u.welcomed || u.waiting || u.nick == "" || u.name == "" {
		return
	}
	u.welcomed = true
	u.send("s", "001", u.nick, "Welcome")
	u.send("s", "005", u.nick, "CASEMAPPING=ascii", "CHANTYPES=#", "NICKLEN=32", "CHATHISTORY="+strconv.Itoa(u.s.f.Page), "are supported")
	u.send("s", "422", u.nick, "No MOTD")
}

func (u *user) rename(nick string) {
	if other := u.s.users[strings.ToLower(nick)]; other != nil && other != u {
		u.send("s", "433", "*", nick, "Nickname is already in use")
		return
	}
	if u.welcomed {
		change := irc.Message{Source: u.source(), Command: "NICK", Params: []string{nick}}
		u.write(change)
		for _, room := range u.rooms {
			for _, other := range u.s.users {
				if _, in := other.rooms[strings.ToLower(room)]; in && other != u {
					other.raw(change)
				}
			}
		}
	}
	delete(u.s.users, strings.ToLower(u.nick))
	u.nick = nick
	u.s.users[strings.ToLower(nick)] = u
	u.welcome()
}
