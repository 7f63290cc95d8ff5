package ircbridge

import (
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// Name is the name of the bridge to IRC, of its mailbox, of its folder below the daemon's
// folder, and of its key in a message's front matter. Title is what people call the
// network.
const (
	Name  = "irc"
	Title = "IRC"
)

// Folder returns the folder of the bridge's files, below the daemon's folder.
func Folder(home string) string { return bridge.Folder(home, Name) }

// names interprets names and text as a server does.
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

// IsChannel implements [bridge.Names]. It uses the characters with which channel names
// begin on most servers.
func (names) IsChannel(target string) bool { return isChannel(target) }

// isChannel reports whether a target is a channel when no server has announced which
// characters its channel names begin with.
func isChannel(target string) bool {
	return target != "" && strings.IndexByte("#&+!", target[0]) >= 0
}

// TaskFor reads a line that gives a task, as in "TASK: @coder fix the build", and returns
// the agents and the task. tags are the tags of the agents. ok is false for other lines.
func TaskFor(text string, agents []string, tags map[string][]string) (to []string, what string, ok bool) {
	return bridge.TaskFor(text, agents, tags, anyNames)
}

// WithoutHead cuts TASK: and the agents, or nicks with @, off the start of a line. Other
// lines stay unchanged.
func WithoutHead(line string, agents []string) string {
	return bridge.WithoutHead(line, agents, anyNames)
}
