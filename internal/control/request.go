package control

import (
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The requests, each with the fields that it uses.
const (
	reqStatus    = "status"    // agents
	reqStart     = "start"     // agent, by
	reqStop      = "stop"      // agent, by, now; answered when the agent's turn has ended
	reqPause     = "pause"     // agent, by, why, for, questions
	reqResume    = "resume"    // agent, by
	reqDrain     = "drain"     // agent, by
	reqUndrain   = "undrain"   // agent, by
	reqAbort     = "abort"     // agent, by, why; answered when the agent's turn has ended
	reqInterrupt = "interrupt" // agent, by, message; answered when the agent's turn has ended
	reqCompact   = "compact"   // agent, by; done before the agent's next message
	reqClear     = "clear"     // agent, by; done before the agent's next message
	reqRaise     = "raise"     // scope, usd, turns, for, by; adds to a cap of the budget
	reqReload    = "reload"    // by
	reqShutdown  = "shutdown"  // by, now; answered immediately; the connection stays open until the daemon ends
	reqWhispers  = "whispers"  // no fields; before the response, the server sends the whispers for the agent in whose turn the client is running
	reqWhoAmI    = "whoami"    // claim; answered with the caller as the daemon sees it
	reqSubscribe = "subscribe" // agent, text, raw; starts a stream
)

// A request is one line from a client. It contains the fields of all request types; each
// type uses only some of them.
type request struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	V       int    `json:"v,omitempty"`       // only for hello
	Version string `json:"version,omitempty"` // only for hello

	Agents    []string `json:"agents,omitempty"`
	Agent     string   `json:"agent,omitempty"`
	Message   string   `json:"message,omitempty"`
	By        string   `json:"by,omitempty"`
	Why       string   `json:"why,omitempty"`
	For       span     `json:"for,omitzero"`
	Now       bool     `json:"now,omitempty"`
	Accept    bool     `json:"accept,omitempty"`
	PauseOnly bool     `json:"pause_only,omitempty"`
	Text      bool     `json:"text,omitempty"`
	Raw       bool     `json:"raw,omitempty"`
	Scope     string   `json:"scope,omitempty"`
	USD       float64  `json:"usd,omitempty"`
	Turns     int      `json:"turns,omitempty"`

	Questions []swarm.PauseQuestion `json:"questions,omitempty"`
	Claim     journal.Claim         `json:"claim,omitzero"`
}
