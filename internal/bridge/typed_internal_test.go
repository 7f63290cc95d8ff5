package bridge

import (
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// The next steps that the daemon names for a shell are printed as orders of the bridge if there
// is such an order, and keep their form otherwise.
func TestHintsNameOrders(t *testing.T) {
	for text, want := range map[string]string{
		"The message is kept: claude-swarm dead show k7f3q9m2xd":                   "The message is kept: swarm: read k7f3q9m2xd",
		"To try again: claude-swarm dead retry k7f3q9m2xd":                         "To try again: swarm: retry k7f3q9m2xd",
		"It is kept: claude-swarm dead show k7f3q9m2xd.":                           "It is kept: swarm: read k7f3q9m2xd.",
		"To continue: claude-swarm start coder":                                    "To continue: swarm: start coder",
		"To let it continue: claude-swarm resume coder.":                           "To let it continue: swarm: resume coder.",
		"next: claude-swarm clear coder":                                           "next: swarm: clear coder",
		"claude-swarm budget raise coder.day 5; continues on its own at 00:00":     "swarm: budget raise coder.day 5; continues on its own at 00:00",
		"All budgets: claude-swarm budget":                                         "All budgets: swarm: budget",
		"It is paused until somebody answers: claude-swarm reply k7f3q9m2xd \"…\"": "It is paused until somebody answers: swarm: reply k7f3q9m2xd \"…\"",
		"more in claude-swarm logs coder":                                          "more in swarm: logs coder",
		"next: resume coder":                                                       "next: swarm: resume coder",
		"on its machine: claude-swarm start":                                       "on its machine: claude-swarm start",
		"claude-swarm logs coder -f":                                               "claude-swarm logs coder -f",
		"claude-swarm read k7f3q9m2xd --body | claude-swarm send coder -":          "claude-swarm read k7f3q9m2xd --body | claude-swarm send coder -",
		"claude-swarm history coder":                                               "claude-swarm history coder",
		"claude-swarm reload":                                                      "claude-swarm reload",
		"nothing to type":                                                          "nothing to type",
	} {
		got := typed(text, "swarm")
		if got != want {
			t.Errorf("typed(%q) = %q, want %q", text, got, want)
		}
		for _, hint := range strings.Split(got, "swarm: ")[1:] {
			if !strings.Contains(got, "claude-swarm: ") && !isOrder(hint) {
				t.Errorf("%q names no order", got)
			}
		}
	}
	agents := func(from string) string {
		m := &dropbox.Message{ID: "k7f3q9m2xd", From: from, Type: dropbox.Result, Body: []byte("To try again: claude-swarm dead retry k7f3q9m2xd")}
		return show(m, Origin{}, destination{}, viewer{Names: newStub(), mailbox: "irc", self: "swarm", called: func(s string) string { return s }}).text
	}
	if got := agents(dropbox.Swarm); got != "To try again: swarm: retry k7f3q9m2xd" {
		t.Errorf("the daemon says %q", got)
	}
	if got := agents("coder"); got != "To try again: claude-swarm dead retry k7f3q9m2xd" {
		t.Errorf("an agent's words are changed: %q", got)
	}
}

// The orders that hints name exist, and need the right to control if they change something.
func TestTheOrdersOfHintsExist(t *testing.T) {
	for order, right := range map[string]Right{
		"start coder": Control, "clear coder": Control, "retry k7f3q9m2xd": Control, "budget raise coder.day 5": Control,
		"budget": Talk, "logs coder": Talk, "read k7f3q9m2xd": Talk, "status": Talk, "reply k7f3q9m2xd more": Talk,
	} {
		if !isOrder(order) || rightOf(order) != right {
			t.Errorf("%q: an order %t, needs %s, want %s", order, isOrder(order), rightOf(order), right)
		}
		if right != Control {
			continue
		}
		r, _ := newListener(t, "irc.example", Options{Allow: []Permit{{Account: "joe", May: []Right{Talk}}}}) // its swarm fails the test at an order
		r.listener.hear(onNetwork(irc.Text{Time: time.Now(), Target: "#project-x", Source: "joe!x@h", Nick: "joe", Account: "joe", Body: "swarm: " + order}))
		if r.rec.state.Denied != 1 {
			t.Errorf("%q of a person who may only talk is not denied", order)
		}
	}
}
