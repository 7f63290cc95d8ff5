package ircbridge_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

// A traffic sends numbered messages from coder and receives numbered lines from ann,
// through a network that can break. Every fourth line is for coder.
type traffic struct {
	*scene
	proxy   *irctest.Proxy
	box     *dropbox.Mailbox
	history bool
	sayIn   func(text string) // ann speaks
	out     func() []string   // the bridge's lines in the channel

	drops int // how many messages have been delivered to irc/ so far
	lines int
}

// allLines is a buffer size that is large enough for all lines of a test. On a slow
// machine there are more of them, because ann speaks until the last kill.
const allLines = 1 << 20

func newTraffic(t *testing.T, addr string) *traffic {
	t.Helper()
	proxy := irctest.NewProxy(t, addr)
	s := &traffic{scene: newScene(t, proxy.Addr), proxy: proxy}
	s.o.WakesPerMinute = -1
	s.o.BufferSize = allLines
	var err error
	if s.box, err = s.store.Mailbox("irc"); err != nil {
		t.Fatal(err)
	}
	return s
}

// withHistory returns traffic through a server that keeps a history.
func withHistory(t *testing.T) *traffic {
	t.Helper()
	srv := irctest.NewServer(t, irctest.Features{})
	s := newTraffic(t, srv.Addr)
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
	return s
}

// withoutHistory returns traffic through a real server that keeps no history.
func withoutHistory(t *testing.T, addr string) *traffic {
	t.Helper()
	ann := newPerson(t, addr, "ann", "#project-x")
	s := newTraffic(t, addr)
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

// drop delivers the next message to irc/.
func (s *traffic) drop() {
	s.Helper()
	s.say("coder", bridge.Origin{}, fmt.Sprintf("drop %d", s.drops))
	s.drops++
}

// line makes ann send the next line.
func (s *traffic) line() {
	s.Helper()
	text := fmt.Sprintf("line %d", s.lines)
	if forCoder(s.lines) {
		text = "coder: " + text
	}
	s.sayIn(text)
	s.lines++
}

func forCoder(n int) bool { return n%4 == 0 }

// number returns the number at the end of a line.
func number(text string) (n int, ok bool) {
	_, digits, ok := strings.Cut(text, "line ")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(digits))
	return n, err == nil
}

func (s *traffic) mailbox() string {
	dead, _ := s.box.DeadLetters().List()
	claimed, _ := s.box.Claimed()
	waiting, _ := s.box.Peek()
	return fmt.Sprintf("%d of %d done, %d waiting, %d claimed, dead: %v", s.finished(), s.drops, len(waiting), len(claimed), dead)
}

// finished returns the number of messages filed today. Just after midnight it returns the
// number filed yesterday, if that is greater.
func (s *traffic) finished() int {
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

// allSaid waits until all messages have been sent.
func (s *traffic) allSaid() {
	s.Helper()
	eventually(s, "all is said", func() bool { return s.finished() == s.drops }, s.mailbox)
}

// checkOut checks the outgoing messages.
func (s *traffic) checkOut() {
	s.Helper()
	s.allSaid()
	last := fmt.Sprintf(" drop %d", s.drops-1)
	eventually(s, "the last is seen by others", func() bool {
		return slices.ContainsFunc(s.out(), func(text string) bool { return strings.HasSuffix(text, last) })
	})
	times := map[string]int{}
	for _, text := range s.out() {
		times[text]++
	}
	lost, again := 0, 0
	for n := range s.drops {
		plain := fmt.Sprintf("[coder] drop %d", n)
		first, more := times[plain], times[fmt.Sprintf("[coder] (again) drop %d", n)]
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

// checkIn sends lines until the number of lines delivered to the bridge by the network
// reaches most. It then checks which lines the bridge heard.
//
// If the server has a history, the bridge hears each line once. If the server has no
// history, the bridge misses the lines that are sent while it has no connection. On each
// connection, the bridge hears every line before the last one that it heard, so only
// lines at the very end of a connection may be missing. A live line for coder reaches
// coder once. A line from the history does not reach coder.
func (s *traffic) checkIn(most int) {
	s.Helper()
	until := s.lines
	eventually(s, "enough is brought, and heard to the last", func() bool {
		s.line()
		n := 0
		for _, numbers := range s.brought() {
			n += len(numbers)
		}
		lines, _ := s.heard()
		return n >= most && slices.Max(slices.Collect(maps.Keys(lines))) >= until
	})
	heard, live := s.heard()
	var mail map[int]int
	var missed []int
	eventually(s, "coder has what is for coder", func() bool {
		mail, missed = s.mailOfCoder(), nil
		for n := range live {
			if forCoder(n) && live[n] && mail[n] == 0 {
				missed = append(missed, n)
			}
		}
		return len(missed) == 0
	}, func() string { return fmt.Sprintf("not: %v", missed) })
	for n, times := range mail {
		if times > 1 || !forCoder(n) {
			s.Errorf("line %d came to coder %d times", n, times)
		}
	}
	missing := 0
	for n := range until {
		switch c := heard[n]; {
		case c > 1:
			s.Errorf("line %d was heard %d times", n, c)
		case c == 0 && s.history:
			s.Errorf("line %d was not heard", n)
		case c == 0:
			missing++
		}
	}
	distinct, ends := map[int]bool{}, 0
	for i, numbers := range s.brought() {
		lost := 0
		for _, n := range numbers {
			distinct[n] = true
			switch {
			case heard[n] == 0:
				lost++
			case lost > 0:
				s.Errorf("%d lines that connection %d brought were not heard, but the later line %d was", lost, i, n)
				lost = 0
			}
		}
		ends += lost
	}
	s.Logf("in: %d lines, %d brought, %d came to coder, %d not heard: %d at the end of a connection, the rest while there was none",
		until, len(distinct), len(mail), missing, ends)
}

// brought returns the lines that the network has completely delivered to the bridge, by
// connection.
func (s *traffic) brought() [][]int {
	var all [][]int
	for _, stream := range s.proxy.Brought() {
		var numbers []int
		for raw := range strings.Lines(stream) {
			source, text, ok := strings.Cut(raw, " PRIVMSG #project-x :")
			if n, isLine := number(text); ok && isLine && strings.Contains(source, "ann!") && strings.HasSuffix(text, "\n") {
				numbers = append(numbers, n)
			}
		}
		all = append(all, numbers)
	}
	return all
}

// heard counts the lines from ann in the channel that the bridge has heard, and reports
// which of them were live.
func (s *traffic) heard() (times map[int]int, live map[int]bool) {
	s.Helper()
	lines, err := bridge.Reader{Dir: ircbridge.Folder(s.home), Size: allLines}.Recent("#project-x", time.Time{}, 0)
	if err != nil {
		s.Fatal(err)
	}
	times, live = map[int]int{}, map[int]bool{}
	for _, l := range lines {
		if n, ok := number(l.Text); ok && l.Nick == "ann" {
			times[n]++
			live[n] = live[n] || !l.Replay
		}
	}
	return times, live
}

// mailOfCoder counts ann's lines that reached coder.
func (s *traffic) mailOfCoder() map[int]int {
	s.Helper()
	times := map[int]int{}
	for _, m := range s.waiting("coder") {
		if n, ok := number(string(m.Body)); ok {
			times[n]++
		}
	}
	return times
}
