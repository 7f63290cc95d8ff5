package acp

import (
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Client describes one kind of program that speaks the protocol: the facts that the
// daemon knows about it, and the details that the protocol leaves open. The zero value of
// a field below Kind means that the program follows the protocol.
type Client struct {
	Kind runner.Kind
	Args []string // added to every command; {servers} is the path of the servers' file
	// Env has variables that are added to the client's environment. A variable that is
	// already in the environment keeps its value, unless the value here contains
	// {servers}.
	Env    map[string]string
	Tested string // the version that our tests run

	ModeVar    string     // the variable that names the mode at the start; if "", a request names it
	ModelArgs  []string   // the arguments that name the model, with {model}
	ModelVar   string     // the variable that names the model; if both are empty, a request names the model
	Servers    serversWay // where the client reads its MCP servers from
	LateTools  bool       // the client starts MCP servers only with the first prompt: its tools are checked at the end
	LateReplay bool       // the replay may continue after the answer to session/load
	FreshLoads bool       // session/load destroys a session that was made in the current minute
	Stays      bool       // the client does not end when its input is closed
	Tokens     tokensIn   // which part of a result contains its token counts

	// Notes are the beginnings of pieces of an answer that the program, not the model,
	// wrote.
	Notes []string
	// Errors are regular expressions for answers, or last pieces of answers, that are errors
	// if the result has no token counts. Their first group may match an HTTP status.
	Errors []string
	// Limits are regular expressions for errors that mean a limit of the account, in
	// addition to those for every client.
	Limits []string
	// Silence is the time without output after which we assume that the program's model
	// does not answer. It must be longer than the time for which the program silently
	// retries a request. 0 means no limit.
	Silence time.Duration
	// Protocol is the version that we ask for; 0 means the first.
	Protocol int
	// Start is how long the program may take to answer initialize; 0 means Timing.Connect.
	Start time.Duration
}

// serversWay names the source from which a client reads its MCP servers.
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

// tokensIn names the part of a result that contains its token counts.
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
