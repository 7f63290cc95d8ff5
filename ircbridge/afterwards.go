package ircbridge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// What reasons of ours begin with, or hold: by it one knows whether to try again, also
// after a crash, when nothing but the reason is left.
const (
	tooLate    = "it expired before it could be said"
	hungUpOn   = "the server hung up" // on a text that it does not bear
	notAName   = "cannot be the name of a channel"
	longName   = "the name of the channel has"
	notChannel = "is not a channel"
	notLetIn   = "cannot get into "
	notJoined  = "cannot join: "
)

// afterwards says to the sender of a message that was given up what to do about it:
// to try again only helps where something else can change.
func afterwards(m *dropbox.Message, n Origin, target, reason string) string {
	command := fmt.Sprintf("claude-swarm read %s --body | claude-swarm irc send ", m.ID)
	again := "claude-swarm dead retry " + m.ID
	code := codeOf(reason)
	is := func(codes ...string) bool { return slices.Contains(codes, code) }
	holds := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(reason, p) })
	}
	switch {
	case strings.HasPrefix(reason, tooLate):
		return "To have it said after all, send it again: " + command + fmt.Sprintf("%q -", target)
	case strings.HasPrefix(reason, hungUpOn), holds(irc.ErrNoText.Error(), irc.ErrTooLong.Error(), irc.ErrMessage.Error()),
		is("412", "417", "INVALID_UTF8"), strings.HasPrefix(code, "MULTILINE"):
		return fmt.Sprintf("As it stands it can never be said. Say it in other words, or shorter: claude-swarm irc send %q TEXT", target)
	case strings.HasSuffix(reason, staysIn):
		return "To be rid of it, take it out of irc: in claude-swarm.yaml, then claude-swarm reload. Agents need not leave it: what is said there wakes only who is named"
	case n.Do != "" && n.Do != DoJoin && n.Do != DoPart && n.Do != DoTopic:
		return "To ask for what it can: claude-swarm irc join, part or topic"
	case holds(notAName, longName, notChannel, irc.ErrTarget.Error()), is("403", "476", "479"):
		if n.Do != "" {
			return "Ask for a channel that there can be: claude-swarm irc channels lists those that it is in"
		}
		return "There it can never be said. Send it again to a channel that there is (claude-swarm irc channels): " + command + "CHANNEL -"
	case is("401"):
		return fmt.Sprintf("Once %s is there, try again: %s", target, again)
	case is("405"):
		return "Once the bridge has left another channel (claude-swarm irc part CHANNEL), try again: " + again
	case is("482"):
		return "Once the bridge is an operator there, try again: " + again
	case holds(notLetIn, notJoined):
		return "Once it lets the bridge in, try again: " + again
	case is("442"):
		return fmt.Sprintf("Once the bridge is in there (claude-swarm irc join %q), try again: %s", target, again)
	case is("404"):
		return "Once the bridge may speak there, try again: " + again
	}
	return "Once that is fixed, try again: " + again
}

// codeOf is the code of the server's answer with which a reason ends, as
// [irc.Rejected] writes it; "" where it does not.
func codeOf(reason string) string {
	at := strings.LastIndexByte(reason, '(')
	if at < 0 || !strings.HasSuffix(reason, ")") {
		return ""
	}
	return reason[at+1 : len(reason)-1]
}
