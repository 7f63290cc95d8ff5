package runner

import (
	"strings"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// acts records whether a turn has acted. An act is a tool call that may change something
// outside the conversation: it writes a file, runs a command, or calls a tool of another
// MCP server. A call that only looks ([Tools.Looks]) or waits is not an act, and neither is
// a call about mail, whether it uses a tool of ours or claude-swarm in a command, because an
// agent that was denied everything can still report that. A call that starts a sub-agent is
// an act unless the stream shows the sub-agent's own calls, which then count instead.
type acts struct {
	denied    bool // at least one act was denied
	succeeded bool // at least one act succeeded
}

// only reports whether at least one act was denied and none succeeded.
func (a acts) only() bool { return a.denied && !a.succeeded }

// Acts reports whether a call may change something outside the conversation; see [acts].
func Acts(tools Tools, tool string, input []byte) bool {
	return !strings.HasPrefix(tool, "mcp__"+ToolServer+"__") && !tools.Looks(tool, input) && !tools.Waits(tool, input) &&
		!isOwnCommand(tools.Runs(tool, input))
}

// showsCalls records that the events of the sub-agent that a call started contain the
// sub-agent's calls.
func (a *Account) showsCalls(parent string, blocks []streamjson.Block) {
	c, ok := a.open[parent]
	if !ok || !c.act {
		return
	}
	for _, b := range blocks {
		if b.Kind == streamjson.BlockToolUse {
			c.act = false
			a.open[parent] = c
			return
		}
	}
}

// ownProgram is the name of our program in an agent's commands.
const ownProgram = "claude-swarm"

// isOwnCommand reports whether a command line only calls our program.
func isOwnCommand(line string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), ownProgram)
	return ok && strings.HasPrefix(rest, " ") && isSingleCommand(rest)
}

// isSingleCommand reports whether a command line contains no other command, no expansion and
// no redirection. Text in single quotes can contain anything; in double quotes, it cannot
// contain a command that the shell would run.
func isSingleCommand(line string) bool {
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote == '\'':
			if c == '\'' {
				quote = 0
			}
		case c == '\\':
			i++
		case c == '`', c == '$' && strings.HasPrefix(line[i:], "$("):
			return false
		case quote == '"':
			if c == '"' {
				quote = 0
			}
		case c == '\'', c == '"':
			quote = c
		case strings.IndexByte(";&|<>()\n", c) >= 0:
			return false
		}
	}
	return true
}
