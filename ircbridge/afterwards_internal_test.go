package ircbridge

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// Nobody is sent to a retry that is in vain. The rest is in what the servers refuse:
// TestWhatIRCDoesNotTakeIsGivenUp.
func TestAfterwards(t *testing.T) {
	const other = `As it stands it can never be said. Say it in other words, or shorter: claude-swarm irc send "#c" TEXT`
	const again = "try again: claude-swarm dead retry k7f3q9m2xd"
	for _, tc := range []struct{ reason, want string }{
		{fmt.Sprintf("%s %d times while it was said (%v)", hungUpOn, 2, errors.New("the server says ERROR: is not a channel")), other},
		{irc.ErrNoText.Error(), other},
		{irc.ErrTooLong.Error(), other},
		{fmt.Sprintf("%v: more than one target", irc.ErrMessage), other},
		{"IRC did not take it: " + (&irc.Rejected{Code: "INVALID_UTF8", Text: "not UTF-8"}).Error(), other},
		{"IRC did not take it: " + (&irc.Rejected{Code: "MULTILINE_MAX_BYTES", Text: "too big"}).Error(), other},
		{"IRC did not take it: " + (&irc.Rejected{Code: "404", Target: "#c", Text: "Cannot send to channel"}).Error(), "Once the bridge may speak there, " + again},
		{"IRC did not take the topic: " + (&irc.Rejected{Code: "482", Target: "#c", Text: "You are not an operator"}).Error(), "Once the bridge is an operator there, " + again},
		{notLetIn + "#c: " + (&irc.Rejected{Code: "474", Target: "#c", Text: "Banned (for good)"}).Error(), "Once it lets the bridge in, " + again},
		{notLetIn + "#c: " + (&irc.Rejected{Code: "405", Target: "#c", Text: "Too many"}).Error(), "Once the bridge has left another channel (claude-swarm irc part CHANNEL), " + again},
		{notJoined + "the server does not say whether we may", "Once it lets the bridge in, " + again},
		{"something else", "Once that is fixed, " + again},
		{"something (else) yet", "Once that is fixed, " + again},
	} {
		if got := afterwards(&dropbox.Message{ID: "k7f3q9m2xd"}, Origin{}, "#c", tc.reason); got != tc.want {
			t.Errorf("after %q: %q, want %q", tc.reason, got, tc.want)
		}
	}
	reason := notLetIn + "#c: " + (&irc.Rejected{Code: "403", Target: "#c", Text: "No such channel"}).Error()
	if got := afterwards(&dropbox.Message{ID: "k7f3q9m2xd"}, Origin{}, "#c", reason); strings.Contains(got, "retry") || !strings.Contains(got, "claude-swarm irc channels") {
		t.Errorf("after %q: %q", reason, got)
	}
}
