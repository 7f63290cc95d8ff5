package bridge

import (
	"fmt"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// advice returns the next step for the sender of a message that was given up. A retry
// helps only if something else changes first.
func (o *poster) advice(m *dropbox.Message, n Origin, target, reason string) string {
	name := o.mail.name
	command := fmt.Sprintf("claude-swarm read %s --body | claude-swarm %s send ", m.ID, name)
	again := "claude-swarm dead retry " + m.ID
	remedy := o.link.Remedy(reason)
	switch {
	case strings.HasPrefix(reason, tooLate):
		return "To have it posted after all, send it again: " + command + fmt.Sprintf("%q -", target)
	case blamesText(reason), remedy == OtherWords:
		return fmt.Sprintf("As it stands it can never be posted. Reword it, or make it shorter: claude-swarm %s send %q TEXT", name, target)
	case strings.HasSuffix(reason, staysIn):
		return fmt.Sprintf("To leave the channel, remove it from %s: in claude-swarm.yaml, then claude-swarm reload. Agents need not leave it: a message there wakes only those that it names", name)
	case n.Do != "" && n.Do != DoJoin && n.Do != DoPart && n.Do != DoTopic:
		return fmt.Sprintf("The bridge can join or part a channel, or set a topic: claude-swarm %s join, part or topic", name)
	}
	switch remedy {
	case AnyRemedy, BeingThere, BeingAllowedToTalk:
		if strings.Contains(reason, notJoined) {
			remedy = BeingLetIn
		}
	}
	switch remedy {
	case OtherChannel:
		if n.Do != "" {
			return fmt.Sprintf("Choose a valid channel: claude-swarm %s channels lists those that the bridge has joined", name)
		}
		return fmt.Sprintf("It can never be posted there. Send it again to a channel that exists (claude-swarm %s channels): ", name) + command + "CHANNEL -"
	case TheirComing:
		return fmt.Sprintf("Once %s is there, try again: %s", target, again)
	case FewerChannels:
		return fmt.Sprintf("Once the bridge has left another channel (claude-swarm %s part CHANNEL), try again: %s", name, again)
	case BeingOperator:
		return "Once the bridge is an operator there, try again: " + again
	case BeingLetIn:
		return "Once the channel lets the bridge in, try again: " + again
	case BeingThere:
		return fmt.Sprintf("Once the bridge is in that channel (claude-swarm %s join %q), try again: %s", name, target, again)
	case BeingAllowedToTalk:
		return "Once the bridge may speak there, try again: " + again
	}
	return "Once that is fixed, try again: " + again
}
