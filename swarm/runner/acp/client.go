package acp

import (
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Client is one kind of program that speaks the protocol: what the daemon knows of it, and
// what the protocol does not tell. The zero value of a field below Kind means that the program
// does as the protocol says.
type Client struct {
	Kind   runner.Kind
	Args   []string          // added to every command; {servers} is the path of the servers' file
	Env    map[string]string // added to its environment; values as in Args
	Tested string            // the version that our tests run

	ModeVar    string     // the variable that names the mode at the start; "" is session/set_mode
	ModelArgs  []string   // the arguments that name the model, with {model}
	ModelVar   string     // the variable that names it; where both are empty, a request does
	Servers    serversWay // where it takes MCP servers from
	LateTools  bool       // it starts MCP servers with the first prompt: their proof comes with the end of the turn
	LateReplay bool       // after session/load the replay may go on behind the answer
	FreshLoads bool       // session/load destroys a session that is not older than the present minute
	Stays      bool       // it does not end when its input is closed
	Tokens     tokensIn   // where a result has the tokens

	// Notes begin pieces of an answer that the program wrote itself, and not the model.
	Notes []string
	// Errors are regular expressions of answers that are errors where the result tells no
	// tokens. Their first group may have an HTTP status.
	Errors []string
	// Limits are those of errors that mean a limit of the account, besides the ones that hold
	// for every client.
	Limits []string
	// Silence is how long it may say nothing before the model counts as away: longer than the
	// program repeats a request by itself without a word. 0: any time.
	Silence time.Duration
	// Protocol is the version that we ask for; 0: the first.
	Protocol int
	// Start is the time in which it must answer initialize; 0: Timing.Connect.
	Start time.Duration
}

// serversWay says where a client takes its MCP servers from.
type serversWay int

const (
	inSession serversWay = iota // from session/new
	inFile                      // from the file {servers}
)

func (w serversWay) String() string {
	if w == inFile {
		return "a file"
	}
	return "the session"
}

// tokensIn says where a result has its tokens.
type tokensIn int

const (
	inUsage tokensIn = iota // in usage
	inQuota                 // in _meta.quota
)

// isNote tells whether a piece of an answer is the program's and not the model's.
func (c *Client) isNote(text string) bool {
	for _, note := range c.Notes {
		if strings.HasPrefix(text, note) {
			return true
		}
	}
	return false
}
