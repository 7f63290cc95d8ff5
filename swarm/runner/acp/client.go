package acp

import (
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Client describes one kind of program that speaks the protocol: what the daemon needs
// to know about it, and the details that the protocol does not define. The zero value of
// a field below Kind means that the program follows the protocol.
type Client struct {
	Kind runner.Kind
	Args []string // added to every command; {servers} is the path of the servers' file
	// Env contains variables that are added to the client's environment. A variable that
	// is already set keeps its value unless the value here contains {servers}.
	Env    map[string]string
	Tested string // the version that our tests run, from clients.lock

	ModeVar    string     // the variable that sets the initial mode; if "", a request sets it
	ModelArgs  []string   // the arguments that set the model; they contain {model}
	ModelVar   string     // the variable that sets the model; if ModelArgs and ModelVar are both empty, a request sets it
	Servers    serversWay // where the client reads its MCP servers from
	LateTools  bool       // the client starts MCP servers only with the first prompt, so its tools are checked at the end of the turn
	LateReplay bool       // the replay may continue after the answer to session/load
	FreshLoads bool       // session/load destroys a session that was created in the current minute
	WholeDiffs bool       // the diffs of edits contain the whole file, before and after
	Stays      bool       // the client does not exit when its input is closed
	Tokens     tokensIn   // which field of a result contains its token counts

	// Notes contains prefixes of the answer pieces that the program, not the model, has
	// written.
	Notes []string
	// Errors contains regular expressions. If an answer or its last piece matches one of
	// them, and the result has no token counts, then the answer is an error. The first
	// group can match an HTTP status.
	Errors []string
	// Limits contains regular expressions for errors that indicate a limit of the
	// account, in addition to those that apply to every client.
	Limits []string
	// Silence is the time without output after which we assume that the model does not
	// respond. It must be longer than the period for which the program silently retries a
	// request. 0 means no limit.
	Silence time.Duration
	// Protocol is the protocol version that we request; 0 means version 1.
	Protocol int
	// Start is how long the program may take to answer initialize; 0 means Timing.Connect.
	Start time.Duration
}

// serversWay specifies where a client reads its list of MCP servers.
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

// tokensIn specifies the field of a result that contains its token counts.
type tokensIn int

const (
	inUsage tokensIn = iota // in usage
	inQuota                 // in _meta.quota
)

// isNote reports whether the program, not the model, wrote a piece of an answer.
func (c *Client) isNote(text string) bool {
	for _, note := range c.Notes {
		if strings.HasPrefix(text, note) {
			return true
		}
	}
	return false
}
