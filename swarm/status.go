package swarm

import (
	"encoding/json"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// A State is the state of an agent; the package comment draws most of the states.
type State string

const (
	Starting State = "starting" // finishing the work of an earlier daemon
	Idle     State = "idle"     // nothing to do
	Queued   State = "queued"   // has mail, and waits for a free slot among the running turns
	Working  State = "working"  // a turn runs
	Asking   State = "asking"   // a turn is running, and waits for the answer to its question
	Backoff  State = "backoff"  // waits after a failure
	Limited  State = "limited"  // waits until the usage limit of its account resets
	Off      State = "off"      // outside its hours; mail waits
	Parked   State = "parked"   // a budget is used up; mail waits for a person, or for the next day
	Paused   State = "paused"   // by a person, an agent or the daemon; mail waits
	Stopped  State = "stopped"  // by a person, an agent or the breaker; mail waits
	Away     State = "attached" // a person's own session handles its mail, without the daemon
)

// Status is a picture of the whole swarm at one moment, as `status --json`
// prints it. The times are UTC.
type Status struct {
	V       int            `json:"v"`
	Project string         `json:"project"`
	Daemon  *DaemonStatus  `json:"daemon"` // nil if no daemon is running
	Halted  bool           `json:"halted"`
	Reason  string         `json:"halted_why"`        // the text of HALT
	Trouble []Problem      `json:"trouble,omitempty"` // what is wrong with the daemon, its files or its mailboxes
	Agents  []AgentStatus  `json:"agents"`
	Mixed   bool           `json:"mixed"` // the agents of the swarm have clients of different kinds
	Lead    LeadStatus     `json:"lead"`
	Gate    GateStatus     `json:"gate"`
	IRC     *IRCStatus     `json:"irc"`    // nil if IRC is not configured
	Budget  *budget.Report `json:"budget"` // nil if there is no cap
	// Judge is what the supervisor's model has cost. It is zero if the caller asks for
	// particular agents.
	Judge journal.Cost `json:"supervisor_usd"`
}

// A Problem is one thing that is wrong with the daemon, its files or its mailboxes.
type Problem struct {
	Why  string `json:"why"`
	Next string `json:"next"` // what to type; "" if nothing helps or if Why already says it
}

// UnmarshalJSON also accepts a plain string, the form that earlier versions wrote.
func (p *Problem) UnmarshalJSON(data []byte) error {
	*p = Problem{}
	if json.Unmarshal(data, &p.Why) == nil {
		return nil
	}
	type fields Problem // a type without this method
	return json.Unmarshal(data, (*fields)(p))
}

// IRCStatus is the state of the bridge to IRC.
type IRCStatus struct {
	Server    string     `json:"server"`
	Apart     bool       `json:"apart"`   // the bridge is a separate process
	Running   bool       `json:"running"` // a bridge is running
	Connected bool       `json:"connected"`
	Since     *time.Time `json:"since"`     // of the connection, or of its loss; nil if the bridge never ran
	Why       string     `json:"why"`       // why it is not connected
	NextTry   *time.Time `json:"next_try"`  // when it tries to connect again; nil if it does not
	Next      string     `json:"next"`      // what to type; "" if there is nothing to type
	Nick      string     `json:"nick"`      // of the bridge
	Channels  []string   `json:"channels"`  // that the bridge has joined
	Waiting   int        `json:"waiting"`   // messages that wait to be posted
	Unproven  int        `json:"unproven"`  // messages that were posted, but are not proven to have arrived
	Questions int        `json:"questions"` // questions that wait for an answer on IRC
	Warnings  []string   `json:"warnings"`
}

// DaemonStatus describes the daemon that is running.
type DaemonStatus struct {
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
	Version string    `json:"version"`
	// Stopping says that no more turns begin, and that the daemon ends after the running
	// ones.
	Stopping bool `json:"stopping"`
	// Goroutines is the number of goroutines in the daemon. A number that only grows
	// indicates a defect.
	Goroutines int `json:"goroutines"`
}

// LeadStatus counts the mail that waits for the person, and names the agent that leads.
type LeadStatus struct {
	Unread    int    `json:"unread"`
	Questions int    `json:"questions"` // unanswered, read or not
	Agent     string `json:"agent"`     // the agent that gets mail sent to lead; "" if the person gets it
	Name      string `json:"name"`      // another name of the person besides lead, or ""
}

// A QuestionStatus is a question that the running turn waits for.
type QuestionStatus struct {
	ID    string    `json:"id"`
	Of    string    `json:"of"` // who was asked: the lead, an agent, or a channel or nick on IRC
	Text  string    `json:"text"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until"` // when the turn continues without an answer
}

// AgentStatus is a picture of one agent. Every picture has all keys, so that a program can
// rely on them: an unknown value is empty or null.
type AgentStatus struct {
	Name    string   `json:"name"`
	Role    string   `json:"role"`
	Tags    []string `json:"tags"`
	Backend string   `json:"backend"`
	// Channels are the IRC channels in which the agent and people talk, main channel
	// first.
	Channels []string   `json:"channels"`
	State    State      `json:"state"`
	Since    *time.Time `json:"since"` // of the state, or of the running turn; nil if it is not known
	Why      string     `json:"why"`   // why it is in this state
	Next     string     `json:"next"`  // what happens next, or what to type
	// Question is what an asking agent waits for; null for any other agent.
	Question *QuestionStatus `json:"question"`
	// Message is the message of the running turn.
	Message *turn.MessageStatus `json:"message"`
	Waiting mail.Waiting        `json:"waiting"`
	Drops   int                 `json:"drops"` // files dropped into the mailbox and not delivered yet, up to [dropbox.MaxDrops]
	Dead    int                 `json:"dead"`
	PID     *int                `json:"pid"` // of the running turn's CLI
	Session string              `json:"session"`
	Client  string              `json:"client"` // its kind and version, such as "claude 2.1.330"; the version only if it is known
	Model   string              `json:"model"`
	// Billing is api or subscription, as the client reported in its last turn; "" when
	// unknown.
	Billing runner.Billing  `json:"billing"`
	Context journal.Context `json:"context"`
	CostUSD journal.Cost    `json:"cost_usd"`
	Last    *turn.LastText  `json:"last"`
	// Warm is the client that stays for the next message; null if there is none, or if it
	// is working.
	Warm *turn.WarmStatus `json:"warm"`
	// Limit is the limit of the agent's account, which parks the agent; null if no limit
	// applies.
	Limit *LimitStatus `json:"limit"`
	// Off says when an agent that is off works again; null for any other agent.
	Off *OffStatus `json:"off"`
	// Overtime is the time until which a person's order lets the agent work outside its
	// hours; null without such an order.
	Overtime *time.Time `json:"overtime"`

	Running        bool     `json:"running"`      // a turn runs
	UrgentWaits    bool     `json:"urgent_waits"` // a turn is running whose client reads no mail during a turn
	Streams        bool     `json:"streams"`      // the running turn shows its text while the agent is writing it
	Paused         bool     `json:"paused"`       // by a person, an agent or the daemon
	CircuitOpen    bool     `json:"circuit_open"` // stopped by the breaker
	TurnCount      int      `json:"turn_count"`   // number of turns that have begun: all turns in the ledger, and the running one
	LastActivation *float64 `json:"last_activation"`
	Activity       string   `json:"activity"`    // working, paused or idle
	Description    string   `json:"description"` // of the running task, one line
}

// LimitStatus is the account limit, or the outage, that parks an agent.
type LimitStatus struct {
	Account string    `json:"account"` // the same for all its agents, and not secret
	Until   time.Time `json:"until"`   // when this agent tries again
	Hint    string    `json:"hint"`    // what a person can do about it; "" if there is nothing to do
}

// OffStatus says when the hours of an agent begin again.
type OffStatus struct {
	Until time.Time `json:"until"`
}
