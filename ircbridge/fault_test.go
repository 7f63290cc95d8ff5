package ircbridge_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc/irctest"
)

// A breakage is a way in which a connection breaks. It strikes when a text is on its
// way, and is taken back when it has done what it does.
type breakage struct {
	at     []irctest.Way // the direction of that text; taken in turn
	strike func(*irctest.Proxy)
	done   func(before, now irctest.Counts) bool
}

var (
	bothWays = []irctest.Way{irctest.Up, irctest.Down}
	wayOut   = []irctest.Way{irctest.Up}
	wayIn    = []irctest.Way{irctest.Down}
)

// breakages are all the ways. Of the silent ones nothing tells but the missing answer:
// they last until the bridge has left the connection and asked for another.
var breakages = map[string]breakage{
	"cut":   {bothWays, (*irctest.Proxy).Cut, func(before, now irctest.Counts) bool { return now.Cut > before.Cut }},
	"reset": {bothWays, (*irctest.Proxy).Reset, func(before, now irctest.Counts) bool { return now.Reset > before.Reset }},
	"refuse": {bothWays, func(p *irctest.Proxy) { p.Refuse(); p.Cut() }, func(before, now irctest.Counts) bool {
		return now.Refused > before.Refused
	}},
	"cut in a line out": {wayOut, func(p *irctest.Proxy) { p.CutAfter(irctest.Up, 30) }, func(before, now irctest.Counts) bool {
		return now.MidLine[irctest.Up] > before.MidLine[irctest.Up]
	}},
	"cut in a line in": {wayIn, func(p *irctest.Proxy) { p.CutAfter(irctest.Down, 30) }, func(before, now irctest.Counts) bool {
		return now.MidLine[irctest.Down] > before.MidLine[irctest.Down]
	}},
	"byte by byte": {bothWays, func(p *irctest.Proxy) { p.Trickle(irctest.Up); p.Trickle(irctest.Down) }, func(before, now irctest.Counts) bool {
		return now.Single[irctest.Up] >= before.Single[irctest.Up]+50 && now.Single[irctest.Down] >= before.Single[irctest.Down]+50
	}},
	"slow": {bothWays, func(p *irctest.Proxy) {
		p.Delay(irctest.Up, 5*time.Millisecond)
		p.Delay(irctest.Down, 5*time.Millisecond)
	}, func(before, now irctest.Counts) bool {
		return now.Late[irctest.Up] >= before.Late[irctest.Up]+2 && now.Late[irctest.Down] >= before.Late[irctest.Down]+2
	}},
	"stall out": {wayOut, func(p *irctest.Proxy) { p.Stall(irctest.Up) }, func(before, now irctest.Counts) bool {
		return now.Held[irctest.Up] > before.Held[irctest.Up] && left(before, now)
	}},
	"stall in": {wayIn, func(p *irctest.Proxy) { p.Stall(irctest.Down) }, func(before, now irctest.Counts) bool {
		return now.Held[irctest.Down] > before.Held[irctest.Down] && left(before, now)
	}},
	"swallow out": {wayOut, func(p *irctest.Proxy) { p.Swallow(irctest.Up) }, func(before, now irctest.Counts) bool {
		return now.Swallowed[irctest.Up] > before.Swallowed[irctest.Up] && left(before, now)
	}},
	"swallow in": {wayIn, func(p *irctest.Proxy) { p.Swallow(irctest.Down) }, func(before, now irctest.Counts) bool {
		return now.Swallowed[irctest.Down] > before.Swallowed[irctest.Down] && left(before, now)
	}},
}

// left says whether the bridge has left a connection and asked for another.
func left(before, now irctest.Counts) bool {
	return now.Left > before.Left && now.Connections > before.Connections
}

// A storm is one bridge behind a network that breaks.
type storm struct {
	*scene
	proxy   *irctest.Proxy
	box     *dropbox.Mailbox
	history bool
	sayIn   func(text string) // somebody in the channel
	out     func() []string   // what the bridge has said there

	order []string       // the kinds that are to come
	times map[string]int // how often each kind has struck
	most  int            // messages
	drops int            // said so far
	lines int

	// Of the one that strikes now:
	begun  time.Time
	before irctest.Counts
	at     irctest.Way
	struck <-chan struct{}
	took   map[string]time.Duration
}

// How much is said each way, and how often the connection breaks in each way.
const (
	stormMessages = 500
	stormFaults   = 10
)

// calmEvery is after how many faults all is to be said that was left for it until then. A
// message on which the connection ends four times is given up, since it may be the reason,
// so no message may meet more than three of them.
const calmEvery = 3

// TestFaults says 500 messages each way while the connection breaks ten times in every way
// there is, each time with a text on its way.
//
// None that goes out is lost. Where the server has a history none is said twice; where it
// has none, what was on its way when the connection ended, at most four, is said again and
// marked.
//
// Of what comes in, none is lost and none doubled where there is a history. Where there is
// none, what is said while no connection stands reaches nobody, and the bridge says that
// it does not know it. What counts is what the network has brought to the bridge: of each
// connection the bridge hears all that came before the last that it heard, so that only
// what came at its very end may be missing; and at least 500 of them are brought.
func TestFaults(t *testing.T) {
	real := func(t *testing.T, addr string) *storm {
		ann := newPerson(t, addr, "ann", "#project-x")
		s := newStorm(t, addr)
		s.sayIn = func(text string) { ann.say("#project-x", text) }
		s.out = func() []string {
			var said []string
			for _, l := range ann.lines() {
				if _, text, ok := strings.Cut(l, ": "); ok && strings.HasPrefix(l, "#project-x swarm") {
					said = append(said, text)
				}
			}
			return said
		}
		return s
	}
	t.Run("inspircd", func(t *testing.T) {
		t.Parallel()
		// It welcomes at the full second whoever came before, so each connection takes one.
		// Two bridges share the work, and so the wait.
		weather(t, real(t, irctest.Inspircd(t, irctest.Unlimited)), real(t, irctest.Inspircd(t, irctest.Unlimited)))
	})
	t.Run("meanwhile", func(t *testing.T) { // the two take as long as that one
		t.Parallel()
		t.Run("ngircd", func(t *testing.T) { weather(t, real(t, irctest.Ngircd(t, irctest.Unlimited))) })
		t.Run("with history", func(t *testing.T) {
			srv := irctest.NewServer(t, irctest.Features{})
			s := newStorm(t, srv.Addr)
			s.history = true
			s.sayIn = func(text string) { srv.Say("ann", "ann", "#project-x", text) }
			s.out = func() []string {
				var said []string
				for _, m := range srv.Said("#project-x") {
					if strings.HasPrefix(m.Source, "swarm") {
						said = append(said, m.Text)
					}
				}
				return said
			}
			weather(t, s)
		})
	})
}

// silence is after how long the bridge leaves a connection on which nothing comes.
const silence = 300 * time.Millisecond

// newStorm makes a bridge in a network that can break.
func newStorm(t *testing.T, addr string) *storm {
	proxy := irctest.NewProxy(t, addr)
	s := &storm{scene: newScene(t, proxy.Addr), proxy: proxy, times: map[string]int{}, took: map[string]time.Duration{}}
	s.o.Server.PingAfter, s.o.Server.PingTimeout, s.o.Server.ProofTimeout = 50*time.Millisecond, silence, silence+50*time.Millisecond
	s.o.Server.RegisterTimeout = 5 * time.Second
	s.o.Server.RetryMax = 40 * time.Millisecond
	s.o.BufferSize = 20 * stormMessages
	var err error
	if s.box, err = s.store.Mailbox(dropbox.IRC); err != nil {
		t.Fatal(err)
	}
	return s
}

// weather breaks connections in every way, and counts what came of the messages. Several
// storms share the number of messages and of faults.
func weather(t *testing.T, storms ...*storm) {
	t.Helper()
	for _, s := range storms {
		s.most = stormMessages / len(storms)
		for kind := range breakages {
			s.order = append(s.order, slices.Repeat([]string{kind}, stormFaults/len(storms))...)
		}
		rand.Shuffle(len(s.order), func(i, j int) { s.order[i], s.order[j] = s.order[j], s.order[i] })
		s.start()
		s.ready()
	}
	for i := range storms[0].order {
		for _, s := range storms {
			s.breakOut(i)
		}
		for _, s := range storms {
			s.blowOver(i)
		}
		for _, s := range storms {
			if i%calmEvery == calmEvery-1 {
				s.allSaid() // so the bridge is there
				for range s.most * calmEvery / len(s.order) {
					s.line()
				}
			}
		}
	}
	times := map[string]int{}
	for _, s := range storms {
		for kind, n := range s.times {
			times[kind] += n
		}
		s.checkOut()
		s.checkIn()
	}
	for _, kind := range slices.Sorted(maps.Keys(breakages)) {
		took := time.Duration(0)
		for _, s := range storms {
			took += s.took[kind]
		}
		t.Logf("%-18s struck %d times, %v", kind, times[kind], took.Round(time.Millisecond))
		if times[kind] != stormFaults {
			t.Errorf("%s struck %d times, want %d", kind, times[kind], stormFaults)
		}
	}
}

// breakOut lets messages out and in, and the connection break when one of them is on its
// way.
func (s *storm) breakOut(i int) {
	s.Helper()
	b := breakages[s.order[i]]
	s.begun, s.before, s.at = time.Now(), s.proxy.Counts(), b.at[s.times[s.order[i]]%len(b.at)]
	s.struck = s.proxy.OnText(s.at, rand.N(4), func() { b.strike(s.proxy) })
	for s.drops < (i+1)*s.most/len(s.order) {
		s.drop()
		s.line()
	}
}

// blowOver waits until it has broken, and lets the network heal.
func (s *storm) blowOver(i int) {
	s.Helper()
	kind := s.order[i]
	eventually(s, kind+" strikes", func() bool {
		select {
		case <-s.struck:
			return true
		default:
		}
		if s.finished() == s.drops {
			s.drop()
		}
		if s.at == irctest.Down {
			s.line() // what was said while nobody was there comes to nobody
		}
		return false
	}, s.mailbox)
	eventually(s, kind+" is felt", func() bool { return breakages[kind].done(s.before, s.proxy.Counts()) }, func() string {
		return fmt.Sprintf("before: %+v\nnow: %+v", s.before, s.proxy.Counts())
	})
	s.proxy.Heal()
	s.times[kind]++
	s.took[kind] += time.Since(s.begun)
}

// allSaid waits until nothing is left to be said.
func (s *storm) allSaid() {
	s.Helper()
	eventually(s, "all is said", func() bool { return s.finished() == s.drops }, s.mailbox)
}

func (s *storm) drop() {
	s.Helper()
	s.say("coder", ircbridge.Note{}, fmt.Sprintf("drop %d", s.drops))
	s.drops++
}

func (s *storm) line() {
	s.Helper()
	s.sayIn(fmt.Sprintf("line %d", s.lines))
	s.lines++
}

func (s *storm) mailbox() string {
	dead, _ := s.box.Dead()
	claimed, _ := s.box.Claimed()
	waiting, _ := s.box.Peek()
	return fmt.Sprintf("%d done, %d waiting, %d claimed, dead: %v", s.finished(), len(waiting), len(claimed), dead)
}

// finished counts what is done with, today or yesterday.
func (s *storm) finished() int {
	n := 0
	for _, day := range []time.Time{time.Now(), time.Now().Add(-time.Hour)} {
		done, err := s.box.Finished(day)
		if err != nil {
			s.Fatal(err)
		}
		n = max(n, len(done))
	}
	return n
}

// checkOut counts what came of the messages that went out.
func (s *storm) checkOut() {
	s.Helper()
	s.allSaid()
	lost, again := 0, 0
	said := s.out()
	for n := range s.drops {
		plain, marked := fmt.Sprintf("[coder] drop %d", n), fmt.Sprintf("[coder] (again) drop %d", n)
		first, more := count(said, plain), count(said, marked)
		again += more
		switch {
		case first+more == 0:
			lost++
			s.Errorf("%s is lost", plain)
		case first > 1:
			s.Errorf("%s was said %d times without a mark", plain, first)
		case first+more > 1 && s.history:
			s.Errorf("%s was said %d times, and the history was there", plain, first+more)
		}
	}
	c := s.proxy.Counts()
	ended := c.Connections - c.Refused - c.Stand
	s.Logf("%+v", c)
	s.Logf("out: %d messages, %d connections ended: lost %d, said again %d (marked)", s.drops, ended, lost, again)
	if again > 4*ended {
		s.Errorf("%d were said again, want at most 4 for each connection that ended", again)
	}
}

// checkIn counts what came of the lines that came in.
func (s *storm) checkIn() {
	s.Helper()
	from := s.lines
	eventually(s, "enough is brought, and heard to the last", func() bool {
		s.line()
		n := 0
		for _, texts := range s.brought() {
			n += len(texts)
		}
		heard := s.heard()
		return n >= s.most && slices.ContainsFunc(heard, func(text string) bool {
			var n int
			_, err := fmt.Sscanf(text, "line %d", &n)
			return err == nil && n >= from
		})
	})
	heard := map[string]int{}
	for _, text := range s.heard() {
		heard[text]++
	}
	missing := 0
	for n := range from {
		switch c := heard[fmt.Sprintf("line %d", n)]; {
		case c > 1:
			s.Errorf("line %d was heard %d times", n, c)
		case c == 0 && s.history:
			s.Errorf("line %d was not heard", n)
		case c == 0:
			missing++
		}
	}
	distinct, ends := map[string]bool{}, 0
	for i, texts := range s.brought() {
		unheard := 0
		for _, text := range texts {
			distinct[text] = true
			switch {
			case heard[text] == 0:
				unheard++
			case unheard > 0:
				s.Errorf("%d lines that connection %d brought were not heard, and %q behind them was", unheard, i, text)
				unheard = 0
			}
		}
		ends += unheard
	}
	s.Logf("in: %d lines, %d brought, %d not heard: %d at the end of a connection, the rest while there was none", from, len(distinct), missing, ends)
	if missing > 0 && !strings.Contains(s.log.String(), "what was said in between is not known") {
		s.Errorf("%d lines were not heard, and nobody says so", missing)
	}
}

// brought are the lines that the network has brought whole to the bridge, by connection.
func (s *storm) brought() [][]string {
	var all [][]string
	for _, stream := range s.proxy.Brought() {
		var texts []string
		for raw := range strings.Lines(stream) {
			if _, n, ok := strings.Cut(raw, " PRIVMSG #project-x :line "); ok && strings.HasSuffix(n, "\n") {
				texts = append(texts, "line "+strings.TrimSpace(n))
			}
		}
		all = append(all, texts)
	}
	return all
}

// heard is what the bridge has heard in the channel.
func (s *storm) heard() []string {
	s.Helper()
	lines, err := ircbridge.Reader{Home: s.home, Size: 20 * stormMessages}.Recent("#project-x", time.Time{}, 0)
	if err != nil {
		s.Fatal(err)
	}
	var all []string
	for _, l := range lines {
		all = append(all, l.Text)
	}
	return all
}

func count(all []string, s string) int {
	n := 0
	for _, one := range all {
		if one == s {
			n++
		}
	}
	return n
}
