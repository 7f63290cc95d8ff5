package irc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// quick is a backoff for tests.
var quick = irc.Backoff{Min: 10 * time.Millisecond, Max: 100 * time.Millisecond}

// run runs a client until the end of the test.
func run(t *testing.T, cfg irc.Config, o irc.Options) *irc.Client {
	t.Helper()
	cfg.Clear, cfg.Flood = true, fast
	if cfg.Nick == "" {
		cfg.Nick = "swarm"
	}
	o.Backoff = quick
	c := irc.NewClient(cfg, o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		for range c.Events() { // the remaining events
		}
		if err := <-done; err != nil {
			t.Errorf("Run = %v", err)
		}
	})
	return c
}

// wait reads events until it finds one of type E that matches, and returns this event and
// the events before it.
func wait[E irc.Event](t *testing.T, c *irc.Client, fits func(E) bool) (found E, before []irc.Event) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case e, ok := <-c.Events():
			if !ok {
				t.Fatalf("waiting for %T: the client has ended", found)
			}
			if e, ok := e.(E); ok && (fits == nil || fits(e)) {
				return e, before
			}
			before = append(before, e)
		case <-late:
			t.Fatalf("waiting for %T: nothing but %v", found, before)
		}
	}
}

func caughtUp(t *testing.T, c *irc.Client, channel string) []irc.Event {
	t.Helper()
	_, before := wait(t, c, func(e irc.CaughtUp) bool { return e.Target == channel })
	return before
}

func bodies(events []irc.Event) (all []string) {
	for _, e := range events {
		if t, ok := e.(irc.Text); ok {
			all = append(all, t.Body)
		}
	}
	return all
}

func TestWhatWasMissedIsTold(t *testing.T) {
	s := irctest.NewServer(t, irctest.Features{Page: 2})
	p := irctest.NewProxy(t, s.Addr)
	c := run(t, irc.Config{Addr: p.Addr}, irc.Options{Channels: []irc.Channel{{Name: "#Room"}}})
	caughtUp(t, c, "#Room")
	s.Say("ann", "ann", "#room", "live")
	if e, _ := wait[irc.Text](t, c, nil); e.Body != "live" || e.Account != "ann" || e.History || e.Private || e.Peer() != "#room" {
		t.Errorf("live text: %+v", e)
	}
	for round := range 2 {
		p.Refuse()
		p.Cut()
		wait(t, c, func(e irc.Down) bool { return e.Was })
		var want []string
		for i := range 5 {
			text := fmt.Sprintf("missed %d.%d", round, i)
			want = append(want, text)
			s.Say("ann", "", "#room", text)
		}
		p.Heal()
		before := caughtUp(t, c, "#Room")
		if diff := cmp.Diff(want, bodies(before)); diff != "" {
			t.Errorf("missed texts (-want +got):\n%s", diff)
		}
		for _, e := range before {
			if text, ok := e.(irc.Text); ok && !text.History {
				t.Errorf("%q is not marked as history", text.Body)
			}
		}
	}
}

// After a restart of the program, the client emits only the messages after the last
// handled one.
func TestMemoryLivesThroughARestart(t *testing.T) {
	s := irctest.NewServer(t, irctest.Features{})
	memory := &irc.RAM{}
	first := irc.NewClient(irc.Config{Addr: s.Addr, Nick: "swarm", Clear: true, Flood: fast}, irc.Options{Channels: []irc.Channel{{Name: "#room"}}, Memory: memory})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- first.Run(ctx) }()
	caughtUp(t, first, "#room")
	for _, text := range []string{"one", "two", "three"} {
		s.Say("ann", "", "#room", text)
	}
	for range 2 {
		text, _ := wait[irc.Text](t, first, nil)
		if err := first.Handled(text); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	for range first.Events() {
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	s.Say("ann", "", "#room", "four")
	second := run(t, irc.Config{Addr: s.Addr}, irc.Options{Channels: []irc.Channel{{Name: "#room"}}, Memory: memory})
	if diff := cmp.Diff([]string{"three", "four"}, bodies(caughtUp(t, second, "#room"))); diff != "" {
		t.Errorf("after the restart (-want +got):\n%s", diff)
	}
}

func TestWithoutHistoryTheGapIsTold(t *testing.T) {
	p := irctest.NewProxy(t, irctest.Ngircd(t, irctest.Unlimited))
	c := run(t, irc.Config{Addr: p.Addr}, irc.Options{Channels: []irc.Channel{{Name: "#room"}}})
	caughtUp(t, c, "#room")
	p.Reset()
	gap, _ := wait[irc.Gap](t, c, nil)
	if gap.Target != "#room" || gap.From.IsZero() || gap.To.Before(gap.From) || gap.Err != nil {
		t.Errorf("gap %+v", gap)
	}
	caughtUp(t, c, "#room")
}

func TestKickedAndBack(t *testing.T) {
	s := irctest.NewServer(t, irctest.Features{})
	c := run(t, irc.Config{Addr: s.Addr}, irc.Options{Channels: []irc.Channel{{Name: "#room"}}})
	for range 5 {
		caughtUp(t, c, "#room")
		s.Kick("#room", "swarm")
		if e, _ := wait[irc.Left](t, c, nil); !e.Own || e.By != "op" || e.Reason != "out" {
			t.Errorf("left: %+v", e)
		}
	}
	caughtUp(t, c, "#room")
	s.Kick("#room", "swarm")
	if e, _ := wait[irc.Failed](t, c, nil); e.Channel != "#room" || !strings.Contains(e.Err.Error(), "kicked by op") {
		t.Errorf("failed: %+v", e)
	}
	if st := c.Status(); !st.Up || st.Failed["#room"] == "" {
		t.Errorf("status %+v", st)
	}
	c.Join(irc.Channel{Name: "#room"})
	caughtUp(t, c, "#room")
}

func TestRefusedChannelIsGivenUp(t *testing.T) {
	s := irctest.NewServer(t, irctest.Features{})
	c := run(t, irc.Config{Addr: s.Addr}, irc.Options{Channels: []irc.Channel{{Name: "room"}, {Name: "#other"}}})
	caughtUp(t, c, "#other")
	e, _ := wait[irc.Failed](t, c, nil)
	if r, ok := errors.AsType[*irc.Rejected](e.Err); !ok || r.Code != "403" {
		t.Errorf("failed: %v", e.Err)
	}
}

func TestLoginRefusedStops(t *testing.T) {
	s := irctest.NewServer(t, irctest.Features{Password: "right"})
	cfg := irc.Config{Addr: s.Addr, Nick: "swarm", Clear: true, SASL: &irc.SASL{Mechanism: "PLAIN", User: "swarm", Password: "wrong"}}
	if err := irc.NewClient(cfg, irc.Options{}).Run(t.Context()); !errors.Is(err, irc.ErrSASL) {
		t.Errorf("Run = %v, want ErrSASL", err)
	}
	cfg.SASL.Password = "right"
	c := run(t, cfg, irc.Options{})
	if up, _ := wait[irc.Up](t, c, nil); up.State.Account != "swarm" {
		t.Errorf("state %+v", up.State)
	}
}

func TestLongTextIsOneMessage(t *testing.T) {
	s := irctest.NewServer(t, irctest.Features{MaxBytes: 2000, MaxLines: 30})
	c := run(t, irc.Config{Addr: s.Addr}, irc.Options{Channels: []irc.Channel{{Name: "#room"}}})
	reader := run(t, irc.Config{Addr: s.Addr, Nick: "ann"}, irc.Options{Channels: []irc.Channel{{Name: "#room"}}})
	caughtUp(t, c, "#room")
	caughtUp(t, reader, "#room")
	text := "first\n\n" + strings.Repeat("many words, ", 120) + "\nlast"
	d := c.Post(irc.Outgoing{Target: "#room", Text: text + "\n\n"})
	if err := delivered(t, d); err != nil {
		t.Fatal(err)
	}
	said := s.Said("#room")
	if len(said) != 1 || said[0].Text != text {
		t.Fatalf("said %d messages: %+v", len(said), said)
	}
	if pieces := d.Pieces(); len(pieces) != 1 || pieces[0].MsgID != said[0].ID || pieces[0].State != irc.Proven {
		t.Errorf("pieces %+v", pieces)
	}
	if got, _ := wait[irc.Text](t, reader, nil); got.Body != text || got.MsgID != said[0].ID {
		t.Errorf("the reader sees %+v", got)
	}
	// A message that is too long for one batch is sent in several batches.
	if err := delivered(t, c.Post(irc.Outgoing{Target: "#room", Text: strings.Repeat("line\n", 100)})); err != nil {
		t.Fatal(err)
	}
	if n := len(s.Said("#room")); n != 1+4 {
		t.Errorf("100 lines became %d batches of at most 30, want 4", n-1)
	}
}

func TestRelayedUnderAnotherNick(t *testing.T) {
	s := irctest.NewServer(t, irctest.Features{})
	c := run(t, irc.Config{Addr: s.Addr}, irc.Options{Channels: []irc.Channel{{Name: "#room"}}})
	reader := run(t, irc.Config{Addr: s.Addr, Nick: "ann"}, irc.Options{Channels: []irc.Channel{{Name: "#room"}}})
	caughtUp(t, c, "#room")
	caughtUp(t, reader, "#room")
	if err := delivered(t, c.Post(irc.Outgoing{Target: "#room", Text: "done", As: "coder/swarm"})); err != nil {
		t.Fatal(err)
	}
	if got, _ := wait[irc.Text](t, reader, nil); got.Nick != "coder/swarm" || !got.Relayed || got.Account != "" || got.Own {
		t.Errorf("the reader sees %+v", got)
	}
	if err := delivered(t, c.Post(irc.Outgoing{Target: "#room", Text: "done", As: "coder"})); err == nil {
		t.Error("a nick without / was accepted")
	}
}

// Every message arrives exactly once, regardless of which fault occurs. The test looks
// for an unproven message in the history before resending it.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	faults := map[string]func(*irctest.Proxy){
		"cut":             func(p *irctest.Proxy) { p.Cut() },
		"reset":           func(p *irctest.Proxy) { p.Reset() },
		"stall up":        func(p *irctest.Proxy) { p.Stall(irctest.Up) },
		"stall down":      func(p *irctest.Proxy) { p.Stall(irctest.Down) },
		"refuse":          func(p *irctest.Proxy) { p.Refuse(); p.Cut() },
		"swallow up":      func(p *irctest.Proxy) { p.Swallow(irctest.Up) },
		"swallow down":    func(p *irctest.Proxy) { p.Swallow(irctest.Down) },
		"cut in mid-line": func(p *irctest.Proxy) { p.CutAfter(irctest.Up, 37) },
		"cut an answer":   func(p *irctest.Proxy) { p.CutAfter(irctest.Down, 53) },
		"byte by byte":    func(p *irctest.Proxy) { p.Trickle(irctest.Up); p.Trickle(irctest.Down) },
		"delay":           func(p *irctest.Proxy) { p.Delay(irctest.Down, 5*time.Millisecond) },
	}
	for name, break_ := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := irctest.NewServer(t, irctest.Features{})
			p := irctest.NewProxy(t, s.Addr)
			cfg := irc.Config{Addr: p.Addr, PingAfter: 300 * time.Millisecond, PingTimeout: 300 * time.Millisecond, ProofTimeout: time.Second, RegisterTimeout: 2 * time.Second}
			c := run(t, cfg, irc.Options{Channels: []irc.Channel{{Name: "#room"}}})
			caughtUp(t, c, "#room")
			begin := irc.Mark{Time: time.Now().Add(-time.Minute)}
			for i := range 12 {
				if i%4 == 1 {
					break_(p)
				}
				text := fmt.Sprintf("message %d", i)
				for sent := false; !sent; {
					err := delivered(t, c.Post(irc.Outgoing{Target: "#room", Text: text}))
					if err == nil {
						break
					}
					if !errors.Is(err, irc.ErrUnproven) && !errors.Is(err, irc.ErrNotSent) {
						t.Fatalf("%q: %v", text, err)
					}
					p.Heal()
					// Wait until the client has reconnected and has fetched the history.
					for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
						ctx, cancel := context.WithTimeout(t.Context(), time.Second)
						said, err := c.History(ctx, "#room", begin)
						cancel()
						if err == nil && len(c.Status().Conn.Channels) > 0 {
							for _, old := range said {
								sent = sent || old.Own && old.Body == text
							}
							break
						}
						if time.Now().After(deadline) {
							t.Fatalf("not back: %v, %+v", err, c.Status())
						}
					}
				}
			}
			for i, said := range s.Said("#room") {
				if said.Text != fmt.Sprintf("message %d", i) {
					t.Errorf("message %d is %q", i, said.Text)
				}
			}
			if n := len(s.Said("#room")); n != 12 {
				t.Errorf("%d messages, want 12", n)
			}
		})
	}
}
