package irc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// archive is the greeting of a server that has a history.
const archive = `
> CAP LS 302
> NICK ann
> USER ann 0 * ann
< :s CAP * LS :batch draft/chathistory labeled-response message-tags server-time
> CAP REQ :batch draft/chathistory labeled-response message-tags server-time
< :s CAP * ACK :batch draft/chathistory labeled-response message-tags server-time
> CAP END` + hello

// heardUntil is the time at which the client in these tests received its last private
// message.
var heardUntil = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// told returns, in a short form, the events that arrive before all private messages are
// known.
func told(t *testing.T, c *irc.Client) []string {
	t.Helper()
	_, before := wait(t, c, func(e irc.CaughtUp) bool { return e.Target == "" })
	var all []string
	for _, e := range before {
		switch e := e.(type) {
		case irc.Text:
			all = append(all, fmt.Sprintf("%s %s %v: %s", e.Peer(), e.MsgID, e.History, e.Body))
		case irc.CaughtUp:
			all = append(all, e.Target+" caught up")
		case irc.Gap:
			why := "no history"
			if r, ok := errors.AsType[*irc.Rejected](e.Err); ok {
				why = r.Code
			} else if e.Err != nil {
				why = e.Err.Error()
			}
			all = append(all, strings.TrimSpace(e.Target+" gap: "+why))
			if !e.From.Equal(heardUntil) || e.To.Before(e.From) {
				t.Errorf("gap %+v", e)
			}
		}
	}
	return all
}

// The client requests the private messages that it has missed, with exactly the lines in
// the script.
func TestPrivateTalkIsFetched(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"targets and messages page by page": {`
> @label=(a) CHATHISTORY TARGETS timestamp=2026-01-02T03:03:05.000Z timestamp=(to) 2
< @label=(a) :s BATCH +1 draft/chathistory-targets
< @batch=1 :s CHATHISTORY TARGETS #room 2026-01-02T03:05:00.000Z
< @batch=1 :s CHATHISTORY TARGETS Bob 2026-01-02T03:06:00.000Z
< :s BATCH -1
> @label=(b) CHATHISTORY TARGETS timestamp=2026-01-02T03:05:59.999Z timestamp=(to) 2
< @label=(b) :s BATCH +2 draft/chathistory-targets
< @batch=2 :s CHATHISTORY TARGETS bob 2026-01-02T03:06:00.000Z
< @batch=2 :s CHATHISTORY TARGETS eve timestamp=2026-01-02T03:07:00.000Z
< :s BATCH -2
> @label=(c) CHATHISTORY TARGETS timestamp=2026-01-02T03:06:59.999Z timestamp=(to) 2
< @label=(c) :s BATCH +3 draft/chathistory-targets
< @batch=3 :s CHATHISTORY TARGETS eve timestamp=2026-01-02T03:07:00.000Z
< :s BATCH -3
> @label=(d) CHATHISTORY AFTER Bob timestamp=2026-01-02T03:03:05.000Z 2
< @label=(d) :s BATCH +4 chathistory bob
< @batch=4;msgid=b1;time=2026-01-02T03:05:30.000Z :bob!b@c PRIVMSG ann :one
< @batch=4;msgid=b2;time=2026-01-02T03:05:31.000Z :ann!a@c PRIVMSG bob :our own
< :s BATCH -4
> @label=(e) CHATHISTORY AFTER Bob msgid=b2 2
< @label=(e) :s BATCH +5 chathistory bob
< @batch=5;msgid=b3;time=2026-01-02T03:06:00.000Z :bob!b@c PRIVMSG ann :three
< :s BATCH -5
> @label=(f) CHATHISTORY AFTER eve timestamp=2026-01-02T03:03:05.000Z 2
< @label=(f) :s BATCH +6 chathistory eve
< @batch=6;msgid=e1;time=2026-01-02T03:07:00.000Z :eve!e@f PRIVMSG ann :psst
< :s BATCH -6`,
			[]string{"bob b1 true: one", "bob b2 true: our own", "bob b3 true: three", "Bob caught up", "eve e1 true: psst", "eve caught up"},
		},
		"a server that tells the newest first": {`
> @label=(a) CHATHISTORY TARGETS timestamp=2026-01-02T03:03:05.000Z timestamp=(to) 2
< @label=(a) :s BATCH +1 draft/chathistory-targets
< @batch=1 :s CHATHISTORY TARGETS #room 2026-01-02T03:08:00.000Z
< @batch=1 :s CHATHISTORY TARGETS #other 2026-01-02T03:07:00.000Z
< :s BATCH -1
> @label=(b) CHATHISTORY TARGETS timestamp=2026-01-02T03:03:05.000Z timestamp=2026-01-02T03:07:00.001Z 2
< @label=(b) :s BATCH +2 draft/chathistory-targets
< @batch=2 :s CHATHISTORY TARGETS #other 2026-01-02T03:07:00.000Z
< :s BATCH -2`,
			nil,
		},
		"a last page that is full": {`
> @label=(a) CHATHISTORY TARGETS timestamp=2026-01-02T03:03:05.000Z timestamp=(to) 2
< @label=(a) :s BATCH +1 draft/chathistory-targets
< @batch=1 :s CHATHISTORY TARGETS #room 2026-01-02T03:07:00.000Z
< @batch=1 :s CHATHISTORY TARGETS #other 2026-01-02T03:07:00.000Z
< :s BATCH -1
> @label=(b) CHATHISTORY TARGETS timestamp=2026-01-02T03:06:59.999Z timestamp=(to) 2
< @label=(b) :s BATCH +2 draft/chathistory-targets
< @batch=2 :s CHATHISTORY TARGETS #room 2026-01-02T03:07:00.000Z
< @batch=2 :s CHATHISTORY TARGETS #other 2026-01-02T03:07:00.000Z
< :s BATCH -2
> @label=(c) CHATHISTORY TARGETS timestamp=2026-01-02T03:07:00.001Z timestamp=(to) 2
< @label=(c) :s BATCH +3 draft/chathistory-targets
< :s BATCH -3`,
			nil,
		},
		"a page that leads no further": {`
> @label=(a) CHATHISTORY TARGETS timestamp=2026-01-02T03:03:05.000Z timestamp=(to) 2
< @label=(a) :s BATCH +1 draft/chathistory-targets
< @batch=1 :s CHATHISTORY TARGETS bob soon
< @batch=1 :s CHATHISTORY TARGETS #room soon
< :s BATCH -1
> @label=(b) CHATHISTORY AFTER bob timestamp=2026-01-02T03:03:05.000Z 2
< @label=(b) :s BATCH +2 chathistory bob
< :s BATCH -2`,
			[]string{"bob caught up", "gap: history targets: a full page brought no progress"},
		},
		"targets are refused": {`
> @label=(a) CHATHISTORY TARGETS timestamp=2026-01-02T03:03:05.000Z timestamp=(to) 2
< @label=(a) :s FAIL CHATHISTORY INVALID_PARAMS TARGETS :Unknown subcommand`,
			[]string{"gap: INVALID_PARAMS"},
		},
		"the command is not known after all": {`
> @label=(a) CHATHISTORY TARGETS timestamp=2026-01-02T03:03:05.000Z timestamp=(to) 2
< @label=(a) :s 421 ann CHATHISTORY :Unknown command`,
			[]string{"gap: 421"},
		},
		"one target is refused": {`
> @label=(a) CHATHISTORY TARGETS timestamp=2026-01-02T03:03:05.000Z timestamp=(to) 2
< @label=(a) :s BATCH +1 draft/chathistory-targets
< @batch=1 :s CHATHISTORY TARGETS bob 2026-01-02T03:08:00.000Z
< :s BATCH -1
> @label=(b) CHATHISTORY AFTER bob timestamp=2026-01-02T03:03:05.000Z 2
< @label=(b) :s FAIL CHATHISTORY INVALID_TARGET AFTER bob :Messages could not be retrieved`,
			[]string{"bob gap: INVALID_TARGET", "bob caught up"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			memory := &irc.RAM{}
			if err := memory.Add("", irc.Mark{Time: heardUntil}); err != nil {
				t.Fatal(err)
			}
			client := run(t, irc.Config{Nick: "ann", Addr: irctest.Script(t, archive+c.script)}, irc.Options{Memory: memory})
			if diff := cmp.Diff(c.want, told(t, client)); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

// A server without labels answers in order, before the PONG.
func TestPrivateTalkIsFetchedWithoutLabels(t *testing.T) {
	memory := &irc.RAM{}
	_ = memory.Add("", irc.Mark{Time: heardUntil})
	c := run(t, irc.Config{Nick: "ann", Addr: irctest.Script(t, strings.ReplaceAll(archive, " labeled-response", "")+`
> CHATHISTORY TARGETS timestamp=2026-01-02T03:03:05.000Z timestamp=(to) 2
> PING :(a)
< :s BATCH +1 draft/chathistory-targets
< @batch=1 :s CHATHISTORY TARGETS bob 2026-01-02T03:06:00.000Z
< :s BATCH -1
< :s PONG s :(a)
> CHATHISTORY AFTER bob timestamp=2026-01-02T03:03:05.000Z 2
> PING :(b)
< :s BATCH +2 chathistory bob
< @batch=2;msgid=b1;time=2026-01-02T03:05:30.000Z :bob!b@c PRIVMSG ann :one
< :s BATCH -2
< :s PONG s :(b)`)}, irc.Options{Memory: memory})
	if diff := cmp.Diff([]string{"bob b1 true: one", "bob caught up"}, told(t, c)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// If the connection ends before the answer, the next connection requests messages from
// the same time. Later connections request messages from the time of the last line, even
// if the client noticed the end of the connection much later.
func TestPrivateTalkIsAskedForAgain(t *testing.T) {
	memory := &irc.RAM{}
	_ = memory.Add("", irc.Mark{Time: heardUntil})
	targets := `
> @label=(a) CHATHISTORY TARGETS timestamp=2026-01-02T03:03:05.000Z timestamp=(to) 2
< @label=(a) :s BATCH +1 draft/chathistory-targets
< @batch=1 :s CHATHISTORY TARGETS bob 2026-01-02T03:06:00.000Z
< :s BATCH -1
> @label=(b) CHATHISTORY AFTER bob timestamp=2026-01-02T03:03:05.000Z 2`
	bob := `
< @label=(b) :s BATCH +2 chathistory bob
< @batch=2;msgid=b1;time=2026-01-02T03:06:00.000Z :bob!b@c PRIVMSG ann :one
< :s BATCH -2`
	c := run(t, irc.Config{Nick: "ann", Addr: irctest.Script(t,
		archive+`
> @label=(a) CHATHISTORY TARGETS timestamp=2026-01-02T03:03:05.000Z timestamp=(to) 2
! cut`,
		archive+targets+`
! cut`,
		archive+targets+bob+`
> @label=(c) PRIVMSG bob :I know
< @label=(c) :s ACK
< @msgid=b2;time=2026-01-02T05:00:00.000Z :bob!b@c PRIVMSG ann :live
! cut`,
		archive+`
> @label=(a) CHATHISTORY TARGETS timestamp=2026-01-02T04:59:00.000Z timestamp=(to) 2
< @label=(a) :s BATCH +1 draft/chathistory-targets
< @batch=1 :s CHATHISTORY TARGETS bob 2026-01-02T05:00:00.000Z
< :s BATCH -1
> @label=(b) CHATHISTORY AFTER bob timestamp=2026-01-02T04:59:00.000Z 2
< @label=(b) :s BATCH +2 chathistory bob
< @batch=2;msgid=b2;time=2026-01-02T05:00:00.000Z :bob!b@c PRIVMSG ann :live
< @batch=2;msgid=b3;time=2026-01-02T05:00:01.000Z :bob!b@c PRIVMSG ann :missed
< :s BATCH -2
> @label=(c) CHATHISTORY AFTER bob msgid=b3 2
< @label=(c) :s BATCH +3 chathistory bob
< :s BATCH -3`)}, irc.Options{Memory: memory})
	if diff := cmp.Diff([]string{"bob b1 true: one", "bob caught up"}, told(t, c)); diff != "" {
		t.Errorf("told at first (-want +got):\n%s", diff)
	}
	if err := delivered(t, c.Post(irc.Outgoing{Target: "bob", Text: "I know"})); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"bob b2 false: live", "bob b3 true: missed", "bob caught up"}, told(t, c)); diff != "" {
		t.Errorf("told then (-want +got):\n%s", diff)
	}
}
