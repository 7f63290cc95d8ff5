package ircbridge

import (
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// These strings are parts of the reasons that the link returns. They allow [remedyOf] to
// determine the remedy even after a crash, when only the reason is known.
const (
	notAName   = "cannot be the name of a channel"
	longName   = "the name of the channel has"
	notChannel = "is not a channel"
	notLetIn   = "cannot get into "
)

// remedyOf derives the remedy for a refusal from its reason.
func remedyOf(reason string) bridge.Remedy {
	code := codeOf(reason)
	is := func(codes ...string) bool { return slices.Contains(codes, code) }
	holds := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(reason, p) })
	}
	switch {
	case holds(irc.ErrNoText.Error(), irc.ErrTooLong.Error(), irc.ErrMessage.Error()), is("412", "417", "INVALID_UTF8"), strings.HasPrefix(code, "MULTILINE"):
		return bridge.OtherWords
	case holds(notAName, longName, notChannel, irc.ErrTarget.Error()), is("403", "476", "479"):
		return bridge.OtherChannel
	case is("401"):
		return bridge.TheirComing
	case is("405"):
		return bridge.FewerChannels
	case is("482"):
		return bridge.BeingOperator
	case holds(notLetIn):
		return bridge.BeingLetIn
	case is("442"):
		return bridge.BeingThere
	case is("404"):
		return bridge.BeingAllowedToTalk
	}
	return bridge.AnyRemedy
}

// codeOf returns the code of the server's answer at the end of a reason, as
// [irc.Rejected] writes it, or "" if the reason has no code.
func codeOf(reason string) string {
	at := strings.LastIndexByte(reason, '(')
	if at < 0 || !strings.HasSuffix(reason, ")") {
		return ""
	}
	return reason[at+1 : len(reason)-1]
}
