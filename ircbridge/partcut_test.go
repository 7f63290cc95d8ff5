package ircbridge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
)

// A long message is sent in several batches. If the connection ends between two of them,
// the next attempt may resend the first batch only with a mark, because the server already
// has it.
func TestACutBetweenTwoBatches(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	srv := irctest.NewServer(t, irctest.Features{MaxLines: 3, Without: []string{"draft/chathistory"}})
	p := irctest.NewProxy(t, srv.Addr)
	s := newScene(t, p.Addr)
	s.o.Server.Unlimited, s.o.Server.Burst, s.o.Server.Rate = false, 1, 1
	s.start()
	s.ready()
	var text strings.Builder
	for n := range 12 {
		fmt.Fprintf(&text, "row %d\n", n)
	}
	id := s.say("coder", bridge.Origin{}, text.String())
	eventually(t, "the first batch arrives", func() bool { return len(srv.Said("#project-x")) >= 1 })
	// The bridge reads in order, so when it has received this line, it has also received
	// the proof of the batch.
	srv.Say("ann", "", "#project-x", "so far")
	eventually(t, "the bridge has read on", func() bool { return slices.Contains(s.heard("#project-x"), "ann: so far") })
	p.Cut()
	s.where(id, dropbox.Done)
	var first []string
	for _, m := range srv.Said("#project-x") {
		if strings.Contains(m.Text, "row 0") {
			first = append(first, m.Text)
		}
	}
	if len(first) != 2 || strings.Contains(first[0], "(again)") || !strings.Contains(first[1], "(again)") {
		t.Errorf("the first rows were sent as %q, want a second time with the mark (again)", first)
	}
	if r := receiptOf(t, s.store, id); !strings.Contains(r, "again: true") {
		t.Errorf("the receipt does not say that rows were sent again:\n%s", r)
	}
}
