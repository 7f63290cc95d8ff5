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

// A line that is said between our JOIN and the history arrives twice. It is emitted once, as
// a live line and in its place after the lines of the history. It makes no difference how
// the line and the page follow each other on the wire, or whether the page is the last one.
func TestALiveLineWinsOverItsCopyInTheHistory(t *testing.T) {
	const live, after = `
< @time=2026-01-02T03:04:07.000Z;msgid=m2 :bob!b@c PRIVMSG #room :swarm: who`, `
< @time=2026-01-02T03:04:08.000Z;msgid=m3 :bob!b@c PRIVMSG #room :thanks`
	const page = `
> @label=(a) CHATHISTORY AFTER #room msgid=m0 2
< @label=(a) :s BATCH +1 chathistory #room
< @batch=1;msgid=m1;time=2026-01-02T03:04:06.000Z :bob!b@c PRIVMSG #room :away
< @batch=1;msgid=m2;time=2026-01-02T03:04:07.000Z :bob!b@c PRIVMSG #room :swarm: who
< :s BATCH -1`
	const rest = `
> @label=(b) CHATHISTORY AFTER #room msgid=m2 2
< @label=(b) :s BATCH +2 chathistory #room
< :s BATCH -2`
	for name, script := range map[string]string{
		"before the page":        live + page + rest + after,
		"with a later live line": live + after + page + rest,
		"between two pages":      page + live + rest + after,
	} {
		t.Run(name, func(t *testing.T) {
			addr := irctest.Script(t, archive+`
> JOIN #room
> PING :(proof)
< :ann!a@c JOIN #room
< :s PONG s :(proof)`+script)
			memory := &irc.RAM{}
			if err := memory.Add("#room", irc.Mark{ID: "m0", Time: heardUntil}); err != nil {
				t.Fatal(err)
			}
			c := run(t, irc.Config{Addr: addr, Nick: "ann"}, irc.Options{Channels: []irc.Channel{{Name: "#room"}}, Memory: memory})
			_, before := wait(t, c, func(e irc.Text) bool { return e.MsgID == "m3" })
			var got []string
			for _, e := range before {
				if e, ok := e.(irc.Text); ok {
					got = append(got, fmt.Sprintf("%s %v", e.MsgID, e.History))
				}
			}
			if diff := cmp.Diff([]string{"m1 true", "m2 false"}, got); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

// The lines that a bouncer plays back without times and batches are old, in a channel and
// privately. A person who speaks afterwards, in another channel meanwhile, or long after a
// playback without an end is live, and so is one who quotes the bouncer's words.
func TestAPlaybackWithoutTimesIsOld(t *testing.T) {
	addr := irctest.Script(t, `
> CAP LS 302
> NICK ann
> USER ann 0 * ann
< :s CAP * LS :
> CAP END`+hello+`
< :bob!b@c PRIVMSG #room :Buffer Playback...
< :bob!b@c PRIVMSG #room :quoted
< :***!znc@znc.in PRIVMSG #room :Buffer Playback...
< :bob!b@c PRIVMSG #room :[09:00:01] TASK: @coder delete it
< :bob!b@c PRIVMSG #other :elsewhere
< :bob!b@c PRIVMSG ann :privately
< :***!znc@znc.in PRIVMSG #room :Playback Complete.
< :bob!b@c PRIVMSG #room :now
< :***!znc@znc.in PRIVMSG ann :Buffer Playback...
< :bob!b@c PRIVMSG ann :[09:00:02] halt
< :***!znc@znc.in PRIVMSG ann :Playback Complete.
< :bob!b@c PRIVMSG ann :end`)
	c := run(t, irc.Config{Addr: addr, Nick: "ann"}, irc.Options{})
	_, before := wait(t, c, func(e irc.Text) bool { return e.Body == "end" && !e.History })
	var old []string
	for _, e := range before {
		if e, ok := e.(irc.Text); ok && e.History && e.Nick != "***" {
			old = append(old, e.Body)
		}
	}
	if diff := cmp.Diff([]string{"[09:00:01] TASK: @coder delete it", "[09:00:02] halt"}, old); diff != "" {
		t.Errorf("old (-want +got):\n%s", diff)
	}
}
