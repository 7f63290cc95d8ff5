package ircbridge

import (
	"errors"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// What a person is told who wants the bridge in a channel, or out of it.
func TestJoinForAndPartFor(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(Folder(home), 0o700); err != nil {
		t.Fatal(err)
	}
	r := &run{
		Options: &Options{Home: home, Channels: Channels{Project: "#project-x"}, Log: slog.New(slog.DiscardHandler)},
		main:    &link{client: irc.NewClient(irc.Config{Addr: "localhost:1", Nick: "swarm"}, irc.Options{}), fold: irc.RFC1459, nick: "swarm"},
		rooms:   map[string]*room{}, others: map[string]*link{},
	}
	r.plan = newPlan(nil, nil)
	r.room("#project-x").wanted = true
	var told []string
	tell := func(said string) { told = append(told, said) }
	joined := func(channel string) { r.takeRoom(irc.Joined{Channel: channel, Nick: "swarm", Own: true}) }

	r.joinFor("x", tell)
	r.joinFor("#a b", tell)
	r.joinFor("#Open", tell)
	joined("#open")
	r.joinFor("#OPEN", tell)
	r.joinFor("#shut", tell)
	r.takeRoom(irc.Failed{Channel: "#shut", Err: errors.New("banned"), Retry: time.Minute})
	joined("#shut") // nobody waits for it any more
	for _, channel := range []string{"x", "#Project-X", "#nowhere", "#open", "#open"} {
		tell(r.partFor(channel))
	}
	want := []string{
		`"x" is not a channel`, `"#a b" cannot be the name of a channel`, "I am in #Open now.", "I am in #Open already.",
		"#shut does not let me in: banned. To let me in at once: /invite swarm #shut",
		`"x" is not a channel`, "#project-x is a channel of the configuration, and the bridge stays there.",
		"I am not in #nowhere.", "I have left #Open.", "I am not in #open.",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
