package ircbridge_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
)

// Private messages to a person stay in order and do not wait for the channels, regardless
// of how many messages are waiting there. Meanwhile the bridge continues to post messages
// in the channels.
func TestPrivateInAFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	srv := irctest.NewServer(t, irctest.Features{Without: []string{"draft/multiline"}})
	s := newScene(t, srv.Addr)
	s.o.Server.Unlimited, s.o.Server.Rate = false, 20
	channels := []string{"#project-x", "#standup-x", "#alerts", "#errors"}
	for i := range 400 { // more messages than the bridge examines when it chooses the next one
		s.say("coder", bridge.Origin{Channel: channels[i%4]}, fmt.Sprintf("line %d\nof two", i))
	}
	newPerson(t, srv.Addr, "ann")
	s.start()
	s.ready()
	inChannels := func(until time.Time) (n int) {
		for _, c := range channels {
			n += len(slices.DeleteFunc(srv.Said(c), func(m irctest.Said) bool { return m.Time.After(until) }))
		}
		return n
	}
	eventually(t, "the flood", func() bool { return inChannels(time.Now()) >= 20 })
	before := inChannels(time.Now())
	id := s.say("coder", bridge.Origin{Channel: "ann"}, "psst")
	s.where(id, dropbox.Done)
	at := srv.Said("ann")[0].Time
	// A few lines were written before the private message, and a few are written while
	// its claim becomes durable.
	if n := inChannels(at) - before; n > 12 {
		t.Errorf("%d lines in the channels went before it", n)
	}
	var want []string
	for i := range 60 {
		text := fmt.Sprintf("page %d", i)
		s.say("coder", bridge.Origin{Channel: "ann"}, text)
		want = append(want, "swarm: [coder] "+text)
	}
	eventually(t, "the pages", func() bool { return len(srv.Said("ann")) == 61 })
	pages := srv.Said("ann")[1:]
	if n := inChannels(pages[59].Time) - inChannels(pages[0].Time); n < 12 {
		t.Errorf("%d lines in the channels beside 60 private ones", n)
	}
	if got := saidAt(srv, "ann")[1:]; !slices.Equal(got, want) {
		t.Errorf("said to ann: %q", got)
	}
}
