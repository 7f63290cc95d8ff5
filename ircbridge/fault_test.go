package ircbridge_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc/irctest"
)

// faults are the ways in which a connection breaks. Each lasts until it is healed.
var faults = map[string]func(*irctest.Proxy){
	"cut":               func(p *irctest.Proxy) { p.Cut() },
	"reset":             func(p *irctest.Proxy) { p.Reset() },
	"refuse":            func(p *irctest.Proxy) { p.Refuse(); p.Cut() },
	"cut in a line out": func(p *irctest.Proxy) { p.CutAfter(irctest.Up, 30) },
	"cut in a line in":  func(p *irctest.Proxy) { p.CutAfter(irctest.Down, 50) },
	"byte by byte":      func(p *irctest.Proxy) { p.Trickle(irctest.Up); p.Trickle(irctest.Down) },
	"slow": func(p *irctest.Proxy) {
		p.Delay(irctest.Up, 5*time.Millisecond)
		p.Delay(irctest.Down, 5*time.Millisecond)
	},
	"stall out":   func(p *irctest.Proxy) { p.Stall(irctest.Up) },
	"stall in":    func(p *irctest.Proxy) { p.Stall(irctest.Down) },
	"swallow out": func(p *irctest.Proxy) { p.Swallow(irctest.Up) },
	"swallow in":  func(p *irctest.Proxy) { p.Swallow(irctest.Down) },
}

// silent says whether nothing tells of a fault but the missing answer.
func silent(kind string) bool {
	return strings.HasPrefix(kind, "stall") || strings.HasPrefix(kind, "swallow")
}

// lasts is how long a fault holds: long enough for the bridge to notice.
func lasts(kind string) time.Duration {
	if silent(kind) {
		return 700 * time.Millisecond
	}
	return 30 * time.Millisecond
}

// TestFaults lets messages through while the connection breaks in every way there is.
func TestFaults(t *testing.T) {
	t.Run("with history", func(t *testing.T) {
		t.Parallel()
		srv := irctest.NewServer(t, irctest.Features{})
		broken(t, srv.Addr, 500, 10, true, func(n int) { srv.Say("ann", "ann", "#project-x", fmt.Sprintf("line %d", n)) }, func() []string {
			var said []string
			for _, m := range srv.Said("#project-x") {
				if strings.HasPrefix(m.Source, "swarm") {
					said = append(said, m.Text)
				}
			}
			return said
		})
	})
	for name, start := range map[string]func(testing.TB, irctest.Limit) string{"ngircd": irctest.Ngircd, "inspircd": irctest.Inspircd} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := start(t, irctest.Unlimited)
			ann := newPerson(t, addr, "ann", "#project-x")
			broken(t, addr, 200, 2, false, func(n int) { ann.say("#project-x", fmt.Sprintf("line %d", n)) }, func() []string {
				var said []string
				for _, l := range ann.lines() {
					if _, text, ok := strings.Cut(l, ": "); ok && strings.HasPrefix(l, "#project-x swarm") {
						said = append(said, text)
					}
				}
				return said
			})
		})
	}
}

// broken sends so many messages each way, breaks the connection in every way so often,
// and counts what came out of it.
func broken(t *testing.T, addr string, messages, times int, history bool, sayIn func(int), out func() []string) {
	proxy := irctest.NewProxy(t, addr)
	s := newScene(t, proxy.Addr)
	s.o.Server.PingAfter, s.o.Server.PingTimeout, s.o.Server.ProofTimeout = 200*time.Millisecond, 400*time.Millisecond, 1500*time.Millisecond
	s.o.Server.RegisterTimeout = 5 * time.Second // inspircd takes two of them
	s.start()
	s.ready()
	var kinds []string
	for kind := range faults {
		n := times
		if silent(kind) { // each costs a second
			n = (times + 4) / 5
		}
		for range n {
			kinds = append(kinds, kind)
		}
	}
	rand.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	cuts := len(kinds)
	for n := range messages {
		s.say("coder", ircbridge.Note{}, fmt.Sprintf("drop %d", n))
		sayIn(n)
		if due := n * cuts / messages; len(kinds) > 0 && cuts-len(kinds) <= due {
			faults[kinds[0]](proxy)
			heal := time.After(lasts(kinds[0])) // how long it lasts is what the fault is
			<-heal
			proxy.Heal()
			kinds = kinds[1:]
		}
	}
	box, err := s.store.Mailbox(dropbox.IRC)
	if err != nil {
		t.Fatal(err)
	}
	today := func() int {
		n := 0
		for _, day := range []time.Time{time.Now(), time.Now().Add(-time.Hour)} {
			done, err := box.Finished(day)
			if err != nil {
				t.Fatal(err)
			}
			n = max(n, len(done))
		}
		return n
	}
	eventually(t, "all is said", func() bool { return today() == messages }, func() string {
		dead, _ := box.Dead()
		claimed, _ := box.Claimed()
		waiting, _ := box.Peek()
		return fmt.Sprintf("%d done, %d waiting, %d claimed, dead: %v", today(), len(waiting), len(claimed), dead)
	})
	lost, again, doubled := 0, 0, 0
	said := out()
	for n := range messages {
		plain, marked := fmt.Sprintf("[coder] drop %d", n), fmt.Sprintf("[coder] (again) drop %d", n)
		first, more := count(said, plain), count(said, marked)
		again += more
		switch {
		case first+more == 0:
			lost++
			t.Errorf("%s is lost", plain)
		case first > 1:
			doubled++
			t.Errorf("%s was said %d times without a mark", plain, first)
		case first+more > 1 && history:
			t.Errorf("%s was said %d times, and the history was there", plain, first+more)
		}
	}
	st := s.state("", func(ircbridge.State) bool { return true })
	t.Logf("%d messages, %d faults, %d new connections: lost %d, said again %d (marked), doubled without a mark %d", messages, cuts, st.Reconnects, lost, again, doubled)
	if again > 4*(cuts+st.Reconnects) {
		t.Errorf("%d were said again, want at most 4 for each cut", again)
	}
	heard := func() []string {
		lines, err := ircbridge.Reader{Home: s.home, Size: 10 * messages}.Recent("#project-x", time.Time{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, l := range lines {
			all = append(all, l.Text)
		}
		return all
	}
	if history {
		eventually(t, "all is heard", func() bool { return slices.Contains(heard(), fmt.Sprintf("line %d", messages-1)) })
	}
	in := heard()
	missing := 0
	for n := range messages {
		switch c := count(in, fmt.Sprintf("line %d", n)); {
		case c > 1:
			t.Errorf("line %d was heard %d times", n, c)
		case c == 0 && history:
			t.Errorf("line %d was not heard", n)
		case c == 0:
			missing++
		}
	}
	if missing > 0 && !strings.Contains(s.log.String(), "what was said in between is not known") {
		t.Errorf("%d lines were not heard, and nobody says so", missing)
	}
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
