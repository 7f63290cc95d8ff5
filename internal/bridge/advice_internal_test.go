package bridge

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// remedied is a link that returns the same remedy for every reason.
type remedied struct {
	*stubLink
	remedy Remedy
}

func (r remedied) Remedy(string) Remedy { return r.remedy }

// No advice suggests a retry that cannot succeed.
func TestAdvice(t *testing.T) {
	const other = `As it stands it can never be posted. Reword it, or make it shorter: claude-swarm irc send "#c" TEXT`
	const again = "try again: claude-swarm dead retry k7f3q9m2xd"
	advice := func(remedy Remedy, n Origin, reason string) string {
		o := &poster{link: remedied{newStub(), remedy}, mail: &mail{name: "irc"}}
		return o.advice(&dropbox.Message{ID: "k7f3q9m2xd"}, n, "#c", reason)
	}
	for _, tc := range []struct {
		remedy Remedy
		reason string
		want   string
	}{
		{OtherChannel, fmt.Sprintf("%s %d times while it was being sent (%v)", hungUpOn, 2, errors.New("the server says ERROR: is not a channel")), other},
		{OtherWords, "no text", other},
		{BeingAllowedToTalk, "it did not take it", "Once the bridge may speak there, " + again},
		{BeingOperator, "it did not take it", "Once the bridge is an operator there, " + again},
		{BeingLetIn, "cannot get into #c", "Once the channel lets the bridge in, " + again},
		{FewerChannels, "cannot get into #c", "Once the bridge has left another channel (claude-swarm irc part CHANNEL), " + again},
		{BeingThere, "it did not take it", `Once the bridge is in that channel (claude-swarm irc join "#c"), ` + again},
		{BeingThere, notJoined + "not there", "Once the channel lets the bridge in, " + again},
		{AnyRemedy, notJoined + "the server did not answer the request to join", "Once the channel lets the bridge in, " + again},
		{TheirComing, "it did not take it", "Once #c is there, " + again},
		{AnyRemedy, tooLate, `To have it posted after all, send it again: claude-swarm read k7f3q9m2xd --body | claude-swarm irc send "#c" -`},
		{AnyRemedy, "something else", "Once that is fixed, " + again},
	} {
		if got := advice(tc.remedy, Origin{}, tc.reason); got != tc.want {
			t.Errorf("after %q: %q, want %q", tc.reason, got, tc.want)
		}
	}
	if got := advice(OtherChannel, Origin{}, "no such channel"); strings.Contains(got, "retry") || !strings.Contains(got, "claude-swarm irc channels") {
		t.Errorf("after a channel that cannot be: %q", got)
	}
}

// Each order to join or leave a channel gets exactly one answer.
func TestOrdersAboutAChannelAreAnswered(t *testing.T) {
	r, _ := newListener(t, "", Options{})
	link, o := r.link.(*stubLink), r.listener.orders
	link.rooms["#project-x"] = &ChannelState{Name: "#project-x", Fixed: true, Wanted: true, In: true}
	ann := Text{Target: "ann", Private: true, Nick: "ann"}
	enter := func(channel string, e Entry) {
		t.Helper()
		then := link.joins[channel]
		if then == nil {
			t.Fatalf("nobody asked for %s", channel)
		}
		delete(link.joins, channel)
		then(e)
	}
	o.orderChannel(ann, join, "#a b", "")
	o.orderChannel(ann, join, "#Open", "")
	link.rooms["#open"] = &ChannelState{Name: "#Open", Wanted: true, In: true}
	enter("#open", Entry{In: true, Name: "#Open"})
	o.orderChannel(ann, join, "#OPEN", "")
	o.orderChannel(ann, join, "#shut", "")
	enter("#shut", Entry{Name: "#shut", Why: "banned", Advice: "#shut does not let me in: banned."})
	o.orderChannel(ann, join, "#away", "")
	enter("#away", Entry{Name: "#away", Dropped: true}) // the connection ended, so nobody gets an answer
	for _, channel := range []string{"#Project-X", "#nowhere", "#open", "#open"} {
		o.orderChannel(ann, part, channel, "")
	}
	want := []string{
		"ann: #a b cannot be", "ann: I am in #Open now.", "ann: I am already in #Open.", "ann: #shut does not let me in: banned.",
		"ann: #project-x is a configured channel, and the bridge stays there.",
		"ann: I am not in #nowhere. Try: swarm: join #nowhere", "ann: I have left #Open.", "ann: I am not in #open. Try: swarm: join #open",
	}
	if got := strings.Join(link.told, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("told\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
