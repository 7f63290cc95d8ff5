package ircbridge_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
)

// A breakage is a way in which a connection breaks. It begins while a message is being
// sent, and ends once it has had an effect.
type breakage struct {
	at     []irctest.Way // the directions in which that message travels, in turn
	strike func(*irctest.Proxy)
	done   func(before, now irctest.Counts) bool
}

var (
	bothWays = []irctest.Way{irctest.Up, irctest.Down}
	wayOut   = []irctest.Way{irctest.Up}
	wayIn    = []irctest.Way{irctest.Down}
)

// breakages are all the ways in which a connection breaks. The bridge notices a silent
// connection only when an answer does not arrive. The connection therefore stays silent
// until the bridge has dropped it and opened another one.
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

// left reports whether the bridge has dropped a connection and opened another one. A bridge
// that takes its leave is dropped by the server.
func left(before, now irctest.Counts) bool {
	return now.Left+now.Ended > before.Left+before.Ended && now.Connections > before.Connections
}

// A faultyTraffic is traffic on a network that breaks repeatedly.
type faultyTraffic struct {
	*traffic
	order []string       // the kinds of faults, in the order in which they happen
	times map[string]int // how many times each kind has happened
	most  int            // the number of messages in each direction

	// The current fault:
	begun  time.Time
	before irctest.Counts
	at     irctest.Way
	struck <-chan struct{}
	took   map[string]time.Duration
}

// The number of messages in each direction, and the number of faults of each kind.
const (
	faultyMessages = 500
	faultsPerKind  = 10
)

// calmEvery is the number of faults after which the test waits until all messages have
// been sent. The bridge gives up on a message after the fourth connection that ends
// while the message is in flight, because the message may be the cause. Therefore no
// message may encounter more than three faults.
const calmEvery = 3

// TestFaults sends 500 messages in each direction while the connection breaks ten times
// in each way, always while a message is being sent.
//
// No outgoing message is lost. If the server has a history, no message is sent twice.
// Otherwise, the messages that were in flight when the connection ended (at most four)
// are sent again and marked.
//
// If the server has a history, no incoming line is lost or duplicated. For a server
// without a history, [traffic.checkIn] describes which lines the bridge may miss.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Run("inspircd", func(t *testing.T) {
		t.Parallel()
		// The server welcomes one new connection per second, so each connection takes a
		// second. Two bridges share the faults, so each of them waits half as long.
		breakConnections(t, newFaultyTraffic(withoutHistory(t, irctest.Inspircd(t, irctest.Unlimited))), newFaultyTraffic(withoutHistory(t, irctest.Inspircd(t, irctest.Unlimited))))
	})
	t.Run("meanwhile", func(t *testing.T) { // these two subtests together take as long as the subtest above
		t.Parallel()
		t.Run("ngircd", func(t *testing.T) {
			breakConnections(t, newFaultyTraffic(withoutHistory(t, irctest.Ngircd(t, irctest.Unlimited))))
		})
		t.Run("with history", func(t *testing.T) { breakConnections(t, newFaultyTraffic(withHistory(t))) })
	})
}

// silence is the time without a line after which the bridge drops a connection.
const silence = 300 * time.Millisecond

func newFaultyTraffic(tr *traffic) *faultyTraffic {
	server := &tr.o.Server
	server.PingAfter, server.PingTimeout, server.ProofTimeout = 50*time.Millisecond, silence, silence+50*time.Millisecond
	server.RegisterTimeout, server.RetryMax = 5*time.Second, 40*time.Millisecond
	return &faultyTraffic{traffic: tr, times: map[string]int{}, took: map[string]time.Duration{}}
}

// breakConnections breaks connections in every way listed in breakages, and checks the
// messages. If there are several faultyTraffic values, they share the messages and the
// faults.
func breakConnections(t *testing.T, all ...*faultyTraffic) {
	t.Helper()
	for _, s := range all {
		s.most = faultyMessages / len(all)
		for kind := range breakages {
			s.order = append(s.order, slices.Repeat([]string{kind}, faultsPerKind/len(all))...)
		}
		rand.Shuffle(len(s.order), func(i, j int) { s.order[i], s.order[j] = s.order[j], s.order[i] })
		s.start()
		s.ready()
	}
	for i := range all[0].order {
		for _, s := range all {
			s.beginFault(i)
		}
		for _, s := range all {
			s.endFault(i)
		}
		for _, s := range all {
			if i%calmEvery == calmEvery-1 {
				s.allSaid() // once all messages have been sent, the bridge is connected
				for range s.most * calmEvery / len(s.order) {
					s.line()
				}
			}
		}
	}
	times := map[string]int{}
	for _, s := range all {
		if gaps := strings.Count(s.log.String(), "what was said in between is not known"); !s.history && gaps == 0 {
			t.Error("no gap is logged")
		}
		for kind, n := range s.times {
			times[kind] += n
		}
		s.checkOut()
		s.checkIn(s.most)
	}
	for _, kind := range slices.Sorted(maps.Keys(breakages)) {
		took := time.Duration(0)
		for _, s := range all {
			took += s.took[kind]
		}
		t.Logf("%-18s struck %d times, %v", kind, times[kind], took.Round(time.Millisecond))
		if times[kind] != faultsPerKind {
			t.Errorf("%s struck %d times, want %d", kind, times[kind], faultsPerKind)
		}
	}
}

// beginFault sends messages in both directions, and breaks the connection while one of them
// is being sent.
func (s *faultyTraffic) beginFault(i int) {
	s.Helper()
	b := breakages[s.order[i]]
	s.begun, s.before, s.at = time.Now(), s.proxy.Counts(), b.at[s.times[s.order[i]]%len(b.at)]
	s.struck = s.proxy.OnText(s.at, rand.N(4), func() { b.strike(s.proxy) })
	for s.drops < (i+1)*s.most/len(s.order) {
		s.drop()
		s.line()
	}
}

// endFault waits for the effect of the fault, and then repairs the network.
func (s *faultyTraffic) endFault(i int) {
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
			s.line() // one line is not enough, because the bridge may be disconnected
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
