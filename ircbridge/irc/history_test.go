package irc_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A server that no longer knows the id of the last message answers as if there were no
// later messages (ergo 2.20), or refuses the id. The client then requests the history by
// time, and emits a gap for the lost messages.
func TestHistoryWithoutTheLastText(t *testing.T) {
	texts := func(from, to int) (all []string) {
		for i := from; i < to; i++ {
			all = append(all, fmt.Sprint("missed ", i))
		}
		return all
	}
	for name, c := range map[string]struct {
		f       irctest.Features
		restart bool // the server loses the earlier messages
		said    int
		want    []string
		gap     bool
	}{
		"known, and nothing was said":        {},
		"known":                              {said: 5, want: texts(0, 5)},
		"server restarted":                   {restart: true, said: 3, want: texts(0, 3), gap: true},
		"server restarted, and it refuses":   {f: irctest.Features{StrictIDs: true}, restart: true, said: 3, want: texts(0, 3), gap: true},
		"server restarted, nothing was said": {restart: true, gap: true},
		"ring is shorter than what was said": {f: irctest.Features{Ring: 64}, said: 100, want: texts(36, 100), gap: true},
		"ring is as long":                    {f: irctest.Features{Ring: 64}, said: 63, want: texts(0, 63)},
		"ring lost the last text alone":      {f: irctest.Features{Ring: 64}, said: 64, want: texts(0, 64), gap: true},
		"page by page":                       {f: irctest.Features{Ring: 10, Page: 3}, said: 20, want: texts(10, 20), gap: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := irctest.NewServer(t, c.f)
			p := irctest.NewProxy(t, s.Addr)
			client := run(t, irc.Config{Addr: p.Addr}, irc.Options{Channels: []irc.Channel{{Name: "#room"}}})
			caughtUp(t, client, "#room")
			s.Say("ann", "", "#room", "heard")
			wait[irc.Text](t, client, nil)
			p.Refuse()
			p.Cut()
			wait(t, client, func(e irc.Down) bool { return e.Was })
			if c.restart {
				s.Forget()
			}
			for i := range c.said {
				s.Say("ann", "", "#room", fmt.Sprint("missed ", i))
			}
			p.Heal()
			events := caughtUp(t, client, "#room")
			if diff := cmp.Diff(c.want, bodies(events)); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			gaps := 0
			for _, e := range events {
				if gap, ok := e.(irc.Gap); ok {
					gaps++
					if gap.Target != "#room" || gap.From.IsZero() || gap.To.Before(gap.From) || gap.Err != nil {
						t.Errorf("gap %+v", gap)
					}
				}
			}
			if gaps > 1 || gaps == 1 != c.gap {
				t.Errorf("%d gaps are told, want %v", gaps, c.gap)
			}
		})
	}
}

// If the last mark has only a time, the client looks for the last message with an id in
// the history. That message shows whether the server has lost messages.
func TestHistoryAfterOurOwnWords(t *testing.T) {
	for name, forget := range map[string]bool{"known": false, "server restarted": true} {
		t.Run(name, func(t *testing.T) {
			s := irctest.NewServer(t, irctest.Features{})
			memory := &irc.RAM{}
			s.Say("swarm", "", "#room", "our own")
			said := s.Said("#room")[0]
			for _, m := range []irc.Mark{{ID: said.ID, Time: said.Time}, {Time: said.Time.Add(-time.Minute)}} {
				if err := memory.Add("#room", m); err != nil {
					t.Fatal(err)
				}
			}
			if forget {
				s.Forget()
			}
			s.Say("ann", "", "#room", "missed")
			c := run(t, irc.Config{Addr: s.Addr}, irc.Options{Channels: []irc.Channel{{Name: "#room"}}, Memory: memory})
			events := caughtUp(t, c, "#room")
			if got := strings.Join(bodies(events), " "); got != "missed" {
				t.Errorf("told %q", got)
			}
			gap := false
			for _, e := range events {
				_, is := e.(irc.Gap)
				gap = gap || is
			}
			if gap != forget {
				t.Errorf("a gap is told: %v, want %v", gap, forget)
			}
		})
	}
}
