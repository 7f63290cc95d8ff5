package bridgetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
)

// A Network is a network on which to test a bridge. It has the channels #project and
// #other and two people: ann, who is allowed to do everything, and eve, who is allowed to
// do nothing.
type Network interface {
	// Bridge returns the Run function of a bridge over a new link to the network. Some of
	// the options are set by the caller. The network sets the others, such as the name.
	Bridge(t *testing.T, o bridge.Options) func(context.Context) error
	// Name returns the name of the bridge.
	Name() string
	// Say makes a person send a message to a channel, or to the bridge, whose nick is
	// swarm.
	Say(t *testing.T, nick, target, text string)
	// Seen returns the bridge's lines that people have seen in a channel, or that one
	// person has seen privately, in order.
	Seen(target string) []string
	// Cut interrupts the network until mended is called.
	Cut(t *testing.T) (mended func())
}

// Run runs the suite, each test on a new network.
func Run(t *testing.T, network func(t *testing.T) Network) {
	for _, row := range []struct {
		name string
		test func(*scene)
	}{
		{"what waits is said, and filed", testSaid},
		{"a person is told privately", testPrivately},
		{"nothing is lost while the network is down", testDown},
		{"the next bridge repeats nothing", testNextBridge},
		{"what people say reaches an agent, and its answer them", testTalk},
		{"a task needs the right", testTask},
		{"a question waits for its answer", testQuestion},
		{"an order is obeyed", testOrder},
		{"a long message is read in pieces", testReading},
		{"channels are joined and left", testChannels},
		{"what can never be said comes back", testRefused},
		{"agents read what was said", testReader},
	} {
		t.Run(row.name, func(t *testing.T) { row.test(newScene(t, network(t))) })
	}
}

// A scene is a project with its mailboxes, and a network.
type scene struct {
	*testing.T
	network Network
	store   *dropbox.Store
	home    string
	swarm   *swarm
}

func newScene(t *testing.T, n Network) *scene {
	t.Helper()
	dir := t.TempDir()
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(dir, dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	for _, name := range []string{"coder", "tester", n.Name()} {
		if err := store.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
	}
	return &scene{T: t, network: n, store: store, home: t.TempDir(), swarm: &swarm{}}
}

// start runs a bridge until stop is called or the test ends.
func (s *scene) start() (stop func()) {
	s.Helper()
	run := s.network.Bridge(s.T, bridge.Options{
		Store: s.store, Home: s.home, Channels: bridge.Channels{Project: "#project"}, Swarm: s.swarm,
		Allow: []bridge.Permit{{Nick: "ann", May: bridge.Rights()}}, Agents: func() []string { return []string{"coder", "tester"} },
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }() // stop waits for this goroutine
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			s.Errorf("the bridge ended: %v", err)
		}
	}
	s.Cleanup(stop)
	return stop
}

// leave delivers a message to the bridge's mailbox.
func (s *scene) leave(m *dropbox.Message) string {
	s.Helper()
	d, err := s.store.Deliver(s.network.Name(), m)
	if err != nil {
		s.Fatal(err)
	}
	return d.ID
}

// say delivers a note from coder to the bridge's mailbox.
func (s *scene) say(o bridge.Origin, text string) string {
	s.Helper()
	return s.leave(&dropbox.Message{From: "coder", Type: dropbox.Note, Body: []byte(text), Extra: o.Extra(s.network.Name())})
}

// until waits for a condition.
func (s *scene) until(what string, ok func() bool) {
	s.Helper()
	for limit := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			s.Fatalf("not within a minute: %s", what)
		}
	}
}

// sees waits until people have seen a message that contains part.
func (s *scene) sees(target, part string) {
	s.Helper()
	s.until(fmt.Sprintf("%s sees %q", target, part), func() bool { return s.count(target, part) > 0 })
}

func (s *scene) count(target, part string) (n int) {
	for _, text := range s.network.Seen(target) {
		if strings.Contains(text, part) {
			n++
		}
	}
	return n
}

// where waits until a message is in the given state.
func (s *scene) where(id string, want dropbox.State) {
	s.Helper()
	s.until(fmt.Sprintf("%s is %s", id, want), func() bool {
		f, err := s.store.Find(id)
		if err != nil && !errors.Is(err, dropbox.ErrNotFound) { // the message may be moving between two folders
			s.Fatal(err)
		}
		return err == nil && f.State == want
	})
}

// mail waits until a mailbox contains a message, files the message and returns it.
func (s *scene) mail(agent string) *dropbox.Message {
	s.Helper()
	box, err := s.store.Mailbox(agent)
	if err != nil {
		s.Fatal(err)
	}
	var m *dropbox.Message
	s.until("a message for "+agent, func() bool {
		entries, err := box.List()
		if err != nil {
			s.Fatal(err)
		}
		if len(entries) == 0 {
			return false
		}
		c, err := box.Claim(entries[0])
		if err != nil {
			s.Fatal(err)
		}
		m = c.Message
		if err := box.File(c.Entry); err != nil {
			s.Fatal(err)
		}
		return true
	})
	return m
}

// state waits until the bridge's state satisfies ok.
func (s *scene) state(what string, ok func(bridge.State) bool) {
	s.Helper()
	s.until("state: "+what, func() bool {
		st, err := bridge.ReadState(bridge.Folder(s.home, s.network.Name()))
		if err != nil {
			s.Fatal(err)
		}
		return ok(st)
	})
}

// in waits until the bridge is in a channel, or is not in it if want is false.
func (s *scene) in(channel string, want bool) {
	s.Helper()
	s.state(fmt.Sprintf("in %s: %v", channel, want), func(st bridge.State) bool {
		return st.Connected && want == slices.ContainsFunc(st.Channels, func(c bridge.Channel) bool { return c.Joined && strings.EqualFold(c.Name, channel) })
	})
}

// A swarm answers the bridge's requests in place of the daemon.
type swarm struct{}

func (*swarm) Status(context.Context, string) (string, error) { return "all is well", nil }
func (*swarm) Held(context.Context, string) (string, error)   { return "", nil }

func (*swarm) Steer(_ context.Context, order bridge.Order, agent, by string) (string, error) {
	return fmt.Sprintf("%s %s by %s", order, agent, by), nil
}
