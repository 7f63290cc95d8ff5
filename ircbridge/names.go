package ircbridge

import (
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// Name is the name of the IRC bridge, of its mailbox, of its folder inside the daemon's
// folder, and of its key in a message's front matter. Title is the network's name as
// people know it.
const (
	Name  = "irc"
	Title = "IRC"
)

// Folder returns the folder for the bridge's files, inside home, the daemon's folder.
func Folder(home string) string { return bridge.Folder(home, Name) }

// names interprets names and text the way a server does.
type names struct{ irc.CaseMapping }

// anyNames is for a server that has not announced its case mapping.
var anyNames = names{irc.RFC1459}

var _ bridge.Names = names{}

// FindMention implements [bridge.Names].
func (n names) FindMention(text, name string) (start, end int) {
	return irc.FindMention(text, name, n.CaseMapping)
}

// Plain implements [bridge.Names].
func (names) Plain(text string) string { return irc.PlainText(text) }

// IsChannel implements [bridge.Names]. It uses the characters that begin channel names on
// most servers.
func (names) IsChannel(target string) bool { return isChannel(target) }

// isChannel reports whether a target is a channel. It is for use when there is no server
// to announce the channel prefixes.
func isChannel(target string) bool {
	return target != "" && strings.IndexByte("#&+!", target[0]) >= 0
}

// TaskFor parses a line that gives agents a task, as in "TASK: @coder fix the build", and
// returns the agents and the task. tags maps each tag to the agents that have it. ok is
// false for other lines.
func TaskFor(text string, agents []string, tags map[string][]string) (to []string, what string, ok bool) {
	return bridge.TaskFor(text, agents, tags, anyNames)
}

// WithoutHead removes TASK: and the agents' names, or nicks with an @, from the start of
// a line. It returns other lines unchanged.
func WithoutHead(line string, agents []string) string {
	return bridge.WithoutHead(line, agents, anyNames)
}
