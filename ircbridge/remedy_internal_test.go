package ircbridge

import (
	"fmt"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// The link derives the remedy from the reason, so that no advice suggests a retry that
// cannot succeed. The test of the bridge's advice checks the wording that people read,
// and TestWhatIRCDoesNotTakeIsGivenUp checks the servers' refusals.
func TestRemedy(t *testing.T) {
	refused := func(code, text string) string {
		return (&irc.Rejected{Code: code, Target: "#c", Text: text}).Error()
	}
	for _, tc := range []struct {
		reason string
		want   bridge.Remedy
	}{
		{irc.ErrNoText.Error(), bridge.OtherWords},
		{irc.ErrTooLong.Error(), bridge.OtherWords},
		{fmt.Sprintf("%v: more than one target", irc.ErrMessage), bridge.OtherWords},
		{"IRC did not accept it: " + (&irc.Rejected{Code: "INVALID_UTF8", Text: "not UTF-8"}).Error(), bridge.OtherWords},
		{"IRC did not accept it: " + (&irc.Rejected{Code: "MULTILINE_MAX_BYTES", Text: "too big"}).Error(), bridge.OtherWords},
		{"IRC did not accept it: " + refused("404", "Cannot send to channel"), bridge.BeingAllowedToTalk},
		{"IRC did not accept it: " + refused("442", "You are not there"), bridge.BeingThere},
		{"IRC did not accept it: " + refused("401", "No such nick"), bridge.TheirComing},
		{"IRC did not accept the topic: " + refused("482", "You are not an operator"), bridge.BeingOperator},
		{notLetIn + "#c: " + refused("474", "Banned (for good)"), bridge.BeingLetIn},
		{notLetIn + "#c: " + refused("405", "Too many"), bridge.FewerChannels},
		{notLetIn + "#c: " + refused("403", "No such channel"), bridge.OtherChannel},
		{"something else", bridge.AnyRemedy},
		{"something (else) yet", bridge.AnyRemedy},
	} {
		if got := remedyOf(tc.reason); got != tc.want {
			t.Errorf("remedyOf(%q) = %v, want %v", tc.reason, got, tc.want)
		}
	}
}
