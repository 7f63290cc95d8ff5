package ircbridge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// patience is the maximum time that a test waits for an event. It is long because other
// machines may be slow.
const patience = 3 * time.Minute

// onEachServer runs a test on two real servers, an old one and a modern one.
func onEachServer(t *testing.T, test func(t *testing.T, addr string)) {
	t.Run("ngircd", func(t *testing.T) { t.Parallel(); test(t, irctest.Ngircd(t, irctest.Unlimited)) })
	t.Run("inspircd", func(t *testing.T) { t.Parallel(); test(t, irctest.Inspircd(t, irctest.Unlimited)) })
}

// A scene is a project with its mailboxes and a server.
type scene struct {
	*testing.T
	store *dropbox.Store
	home  string
	o     ircbridge.Options
	log   *lockedBuffer
	level slog.LevelVar
	quit  func() error
}

// newScene makes mailboxes for the bridge, coder and tester, and options for a bridge to a
// server on this machine. Tests change the options before they call start.
func newScene(t *testing.T, addr string) *scene {
	t.Helper()
	s := &scene{T: t, store: newStore(t, "irc", "coder", "tester"), home: t.TempDir(), log: &lockedBuffer{}}
	s.o = ircbridge.Options{
		Options: bridge.Options{
			Store: s.store, Home: s.home,
			Channels: bridge.Channels{Project: "#project-x", Standup: "#standup-x", Work: "#work-{task-id}", Alerts: "#alerts", Errors: "#errors"},
			Allow:    []bridge.Permit{{Nick: "ann", May: bridge.Rights()}, {Nick: "joe", May: []bridge.Right{bridge.Talk}}},
			Agents:   func() []string { return []string{"coder", "tester"} },
			Log:      slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: &s.level})),
		},
		Server: ircbridge.Server{Addr: addr, Nick: "swarm", Unlimited: true, RetryMin: 10 * time.Millisecond, RetryMax: 200 * time.Millisecond},
	}
	return s
}

// start runs a bridge until stop is called or the test ends.
func (s *scene) start() {
	s.Helper()
	b, err := ircbridge.New(s.o)
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }() // stop waits for this goroutine
	s.quit = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	s.Cleanup(func() {
		if err := s.quit(); err != nil {
			s.Errorf("Run = %v", err)
		}
		if s.Failed() && testing.Verbose() {
			s.Logf("log of the bridge:\n%s", s.log.String())
		}
	})
}

func (s *scene) stop() {
	s.Helper()
	if err := s.quit(); err != nil {
		s.Errorf("Run = %v", err)
	}
}

// state waits until the bridge's state satisfies ok, and returns it.
func (s *scene) state(what string, ok func(bridge.State) bool) bridge.State {
	s.Helper()
	var st bridge.State
	eventually(s, "state: "+what, func() bool {
		var err error
		if st, err = bridge.ReadState(ircbridge.Folder(s.home)); err != nil {
			s.Fatal(err)
		}
		return ok(st)
	})
	return st
}

// ready waits until the bridge is in the channels of its options.
func (s *scene) ready() {
	s.Helper()
	s.state("in its channels", func(st bridge.State) bool {
		if !st.Connected || len(st.Channels) == 0 {
			return false
		}
		return !slices.ContainsFunc(st.Channels, func(c bridge.Channel) bool { return !c.Joined })
	})
}

// say delivers a message to irc/.
func (s *scene) say(from string, n bridge.Origin, text string) string {
	s.Helper()
	return s.leave(&dropbox.Message{From: from, Type: dropbox.Note, Body: []byte(text), Extra: n.Extra(ircbridge.Name)})
}

func (s *scene) leave(m *dropbox.Message) string {
	s.Helper()
	d, err := s.store.Deliver("irc", m)
	if err != nil {
		s.Fatal(err)
	}
	return d.ID
}

// where waits until a message is in the wanted state.
func (s *scene) where(id string, want dropbox.State) dropbox.Found {
	s.Helper()
	var f dropbox.Found
	eventually(s, fmt.Sprintf("%s in %s", id, want), func() bool {
		var err error
		f, err = s.store.Find(id)
		if err != nil && !errors.Is(err, dropbox.ErrNotFound) { // the message may be moving between two folders
			s.Fatal(err)
		}
		return err == nil && f.State == want
	})
	return f
}

// mail waits until a mailbox contains n waiting messages, and returns them.
func (s *scene) mail(agent string, n int) []*dropbox.Message {
	s.Helper()
	var all []*dropbox.Message
	eventually(s, fmt.Sprintf("%d messages for %s", n, agent), func() bool {
		all = s.waiting(agent)
		return len(all) >= n
	})
	if len(all) != n {
		s.Fatalf("%d messages for %s, want %d", len(all), agent, n)
	}
	return all
}

func (s *scene) waiting(agent string) []*dropbox.Message {
	s.Helper()
	box, err := s.store.Mailbox(agent)
	if err != nil {
		s.Fatal(err)
	}
	entries, err := box.Peek()
	if err != nil {
		s.Fatal(err)
	}
	var all []*dropbox.Message
	for _, e := range entries {
		m, err := box.Read(e)
		if err != nil {
			s.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// A person is a person on IRC who has a separate client.
type person struct {
	t    testing.TB
	conn *irc.Conn
	nick string

	mu   sync.Mutex
	seen []irc.Message
	done chan struct{}
}

// newPerson connects, joins the channels and listens until the end of the test.
func newPerson(t testing.TB, addr, nick string, channels ...string) *person {
	t.Helper()
	return newPersonBy(t, irc.Config{Addr: addr, Nick: nick}, channels...)
}

// newPersonBy is like newPerson, but accepts further configuration, such as a login.
func newPersonBy(t testing.TB, cfg irc.Config, channels ...string) *person {
	t.Helper()
	cfg.Clear, cfg.Flood = true, irc.Flood{Off: true}
	conn, err := irc.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatalf("%s cannot connect: %v", cfg.Nick, err)
	}
	p := &person{t: t, conn: conn, nick: cfg.Nick, done: make(chan struct{})}
	go func() { // the cleanup waits for this goroutine
		defer close(p.done)
		for m := range conn.Messages() {
			p.mu.Lock()
			p.seen = append(p.seen, m)
			p.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		conn.Close(ctx, "")
		<-p.done
	})
	for _, c := range channels {
		if _, err := conn.Do(t.Context(), irc.Msg("JOIN", c)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// say sends a line and waits until the server has received it.
func (p *person) say(target, text string) {
	p.t.Helper()
	if err := p.conn.Send(target, text).Wait(p.t.Context()); err != nil {
		p.t.Fatalf("%s to %s: %v", p.nick, target, err)
	}
}

// raw sends a command and waits until the server has handled it.
func (p *person) raw(command string, params ...string) {
	p.t.Helper()
	if _, err := p.conn.Do(p.t.Context(), irc.Msg(command, params...)); err != nil {
		p.t.Fatalf("%s %v: %v", command, params, err)
	}
}

// lines returns the messages that the person has seen, as "target nick: text".
func (p *person) lines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for _, m := range p.seen {
		if m.Command == "PRIVMSG" || m.Command == "NOTICE" {
			all = append(all, m.Param(0)+" "+m.Nick()+": "+m.Last())
		}
	}
	return all
}

// heard returns the last parameter of every received line: messages, topics and reasons.
func (p *person) heard() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for _, m := range p.seen {
		all = append(all, m.Last())
	}
	return all
}

// sees waits until the person has seen a line.
func (p *person) sees(line string) {
	p.t.Helper()
	eventually(p.t, fmt.Sprintf("%s sees %q", p.nick, line), func() bool { return slices.Contains(p.lines(), line) }, func() string {
		return strings.Join(p.lines(), "\n")
	})
}

// like waits until the person has seen a line that contains part, and returns it.
func (p *person) like(part string) string {
	p.t.Helper()
	found := ""
	eventually(p.t, fmt.Sprintf("%s sees …%s…", p.nick, part), func() bool {
		for _, l := range p.lines() {
			if strings.Contains(l, part) {
				found = l
				return true
			}
		}
		return false
	}, func() string { return strings.Join(p.lines(), "\n") })
	return found
}

// eventually waits for a condition. On a timeout, the error message contains the results
// of the functions in like.
func eventually(t testing.TB, what string, ok func() bool, like ...func() string) {
	t.Helper()
	for limit := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			for _, l := range like {
				what += "\n" + l()
			}
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// A lockedBuffer is a log that has several writers and one reader.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func receiptOf(t testing.TB, store *dropbox.Store, id string) string {
	t.Helper()
	f, err := store.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	box, err := store.Mailbox(f.Mailbox)
	if err != nil {
		t.Fatal(err)
	}
	data, err := box.Receipt(f.Entry)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
