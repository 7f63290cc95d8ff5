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

// A State is the state of an agent. The package comment contains a diagram of most of the
// states.
type State string

const (
	Starting State = "starting" // finishing the work of an earlier daemon
	Idle     State = "idle"     // has nothing to do
	Queued   State = "queued"   // has mail and is waiting for a free slot
	Working  State = "working"  // a turn is running
	Asking   State = "asking"   // a turn is running and waiting for the answer to its question
	Backoff  State = "backoff"  // waiting after a failure
	Limited  State = "limited"  // waiting until the usage limit of its account resets
	Off      State = "off"      // outside its hours; mail waits
	Parked   State = "parked"   // a budget is used up; mail waits for a person or for the next day
	Paused   State = "paused"   // paused by a person, an agent or the daemon; mail waits
	Stopped  State = "stopped"  // stopped by a person, an agent or the breaker; mail waits
	Away     State = "attached" // a person's own session, not the daemon, handles its mail
)

// Lasting reports whether an agent in this state begins no turn until a person acts, a limit
// ends or its hours begin. A wait after a failure does not count, because it is short.
func (s State) Lasting() bool {
	switch s {
	case Limited, Off, Parked, Paused, Stopped:
		return true
	}
	return false
}

// Resting reports whether an agent in this state begins no turn now, although there may be
// mail and a free slot for it.
func (s State) Resting() bool { return s == Backoff || s.Lasting() }

// Status is a snapshot of the whole swarm, as `status --json` prints it. All times are in
// UTC. docs/status.schema.json is generated from this type and from the comments of its
// fields.
type Status struct {
	V       int            `json:"v"`                 // version of this format: 1
	Project string         `json:"project"`           // folder of the project
	Daemon  *DaemonStatus  `json:"daemon"`            // null if no daemon is running; the status is then read from the files
	Halted  bool           `json:"halted"`            // the file HALT exists, so no agent begins a turn
	Reason  string         `json:"halted_why"`        // the content of HALT, or ""
	Trouble []Problem      `json:"trouble,omitempty"` // problems with the daemon, its files or its mailboxes; absent if there are none
	Agents  []AgentStatus  `json:"agents"`            // all agents, or those that the request names
	Mixed   bool           `json:"mixed"`             // the agents have clients of different kinds
	Lead    LeadStatus     `json:"lead"`              // the person, and the agent that leads
	Gate    GateStatus     `json:"gate"`              // refused messages and halted conversations
	IRC     *IRCStatus     `json:"irc"`               // the bridge to IRC; null if IRC is not configured
	Budget  *budget.Report `json:"budget"`            // null if there is no cap
	// Judge is the cost of the supervisor's model so far. It is zero in the output of
	// `status AGENT`.
	Judge journal.Cost `json:"supervisor_usd"`
	// Removed is the cost of the agents that are no longer in the configuration. It is zero in
	// the output of `status AGENT`.
	Removed journal.Cost `json:"removed_usd"`
}

// OnlyAgents removes the costs that belong to none of the agents in st. It is for a status
// of named agents.
func (st *Status) OnlyAgents() { st.Judge, st.Removed = journal.Cost{}, journal.Cost{} }

// A Problem is a problem with the daemon, its files or its mailboxes.
type Problem struct {
	Why  string `json:"why"`  // the problem
	Next string `json:"next"` // command to type; "" if no command helps or if why already contains it
}

// UnmarshalJSON also accepts a plain string, the form that earlier versions wrote.
func (p *Problem) UnmarshalJSON(data []byte) error {
	*p = Problem{}
	if json.Unmarshal(data, &p.Why) == nil {
		return nil
	}
	type fields Problem // a type without the UnmarshalJSON method
	return json.Unmarshal(data, (*fields)(p))
}

// IRCStatus is the state of the bridge to IRC.
type IRCStatus struct {
	Server    string     `json:"server"`    // name of the server
	Apart     bool       `json:"apart"`     // the bridge is a separate process
	Running   bool       `json:"running"`   // a bridge is running
	Connected bool       `json:"connected"` // the bridge is connected to the server
	Since     *time.Time `json:"since"`     // time of the connection, or of its loss; null if the bridge never ran
	Why       string     `json:"why"`       // reason why it is not connected
	NextTry   *time.Time `json:"next_try"`  // time of the next attempt to connect; null if there is none
	Next      string     `json:"next"`      // command to type; "" if there is nothing to type
	Nick      string     `json:"nick"`      // nick of the bridge
	Channels  []string   `json:"channels"`  // channels that the bridge has joined
	Waiting   int        `json:"waiting"`   // messages waiting to be posted
	Unproven  int        `json:"unproven"`  // messages that have been posted but whose arrival has not been confirmed
	Questions int        `json:"questions"` // questions waiting for an answer on IRC
	Warnings  []string   `json:"warnings"`  // problems that a person should look at
}

// DaemonStatus describes the running daemon.
type DaemonStatus struct {
	PID     int       `json:"pid"`     // its process id
	Since   time.Time `json:"since"`   // when it started
	Version string    `json:"version"` // version of the program
	// Stopping means that no more turns begin, and the daemon exits after the running turns.
	Stopping bool `json:"stopping"`
	// Goroutines is the number of goroutines in the daemon. If the number keeps growing,
	// the daemon leaks goroutines.
	Goroutines int `json:"goroutines"`
}

// LeadStatus contains the counts of the mail waiting for the person, and the name of the
// lead agent.
type LeadStatus struct {
	Unread    int    `json:"unread"`    // unread messages for the person
	Questions int    `json:"questions"` // unanswered questions, whether or not they were read, among the newest 500 messages
	Agent     string `json:"agent"`     // the agent that gets mail addressed to lead; "" if the person gets it
	Name      string `json:"name"`      // another name for the person in addition to lead, or ""
}

// A QuestionStatus describes a question whose answer the running turn is waiting for.
type QuestionStatus struct {
	ID    string    `json:"id"`    // id of the question
	Of    string    `json:"of"`    // who was asked: the lead, an agent, or a channel or nick on IRC
	Text  string    `json:"text"`  // its beginning, on one line; for a permission, the tool call
	Since time.Time `json:"since"` // when the agent asked
	Until time.Time `json:"until"` // time at which the turn continues without an answer
}

// AgentStatus is a snapshot of one agent. It always contains all keys, so that a program
// can rely on them. An unknown value is empty or null.
type AgentStatus struct {
	Name    string   `json:"name"`    // its name in the configuration
	Role    string   `json:"role"`    // its role in the configuration, or ""
	Tags    []string `json:"tags"`    // its tags; a message to @TAG goes to every agent with that tag
	Backend string   `json:"backend"` // the kind of its client
	// Channels are the IRC channels in which the agent and people talk, main channel
	// first: those of the configuration, or the project's channel; empty without IRC.
	Channels []string   `json:"channels"`
	State    State      `json:"state"` // what it is doing
	Since    *time.Time `json:"since"` // start of the state; for working, of the turn; for asking, of the wait; null if unknown, as without a daemon
	Why      string     `json:"why"`   // reason for the state
	Next     string     `json:"next"`  // what happens next, or the command to type
	// Question is the question whose answer an asking agent is waiting for; null for any
	// other agent.
	Question *QuestionStatus `json:"question"`
	// Message is the message of the running turn; null if no turn is running.
	Message *turn.MessageStatus `json:"message"`
	// Turn is what the running turn has done and cost so far; null if no turn is running.
	Turn    *turn.Progress `json:"turn"`
	Waiting mail.Waiting   `json:"waiting"` // the numbers of messages that wait, by priority
	Drops   int            `json:"drops"`   // files dropped into the mailbox but not yet delivered; 10,000 means that many or more
	Dead    int            `json:"dead"`    // dead letters, without cancelled messages
	PID     *int           `json:"pid"`     // process id of the running turn's client; null if no client is running
	Session string         `json:"session"` // session of the client, or "" if unknown
	Client  string         `json:"client"`  // kind and version, such as "claude 2.1.330"; without the version if it is unknown
	Model   string         `json:"model"`   // model of the client, or "" if unknown
	// Billing is how the client of the last turn is billed, as it reported; "" if unknown.
	Billing runner.Billing  `json:"billing"`
	Context journal.Context `json:"context"` // how full the session is
	// ContextNext is the command that makes room in a context that is nearly full; "" if
	// the context is not nearly full, or if its size is unknown.
	ContextNext string         `json:"context_next"`
	CostUSD     journal.Cost   `json:"cost_usd"` // cost of its turns
	Last        *turn.LastText `json:"last"`     // its last words; null if there are none
	// Warm is the client that is waiting for the next message; null if there is no such
	// client, or if it is working.
	Warm *turn.WarmStatus `json:"warm"`
	// Limit is the account limit that parks the agent; null if no limit applies.
	Limit *LimitStatus `json:"limit"`
	// Off says when an agent that is off resumes work; null for any other agent.
	Off *OffStatus `json:"off"`
	// Overtime is the time until which a person's order lets the agent work outside its
	// hours; null if there is no such order.
	Overtime *time.Time `json:"overtime"`
	// Drain is the drain that keeps the agent from beginning tasks; null without a drain.
	Drain *DrainStatus `json:"drain"`

	Running        bool     `json:"running"`         // a turn is running
	UrgentWaits    bool     `json:"urgent_waits"`    // the client of the running turn reads no mail during a turn
	Streams        bool     `json:"streams"`         // the running turn shows its text while the agent is writing it
	Paused         bool     `json:"paused"`          // paused by a person, an agent or the daemon
	CircuitOpen    bool     `json:"circuit_open"`    // stopped by the breaker
	TurnCount      int      `json:"turn_count"`      // number of turns that have begun: all turns in the ledger, also failed ones and those of earlier daemons, and the running one
	LastActivation *float64 `json:"last_activation"` // start of the last turn, in seconds since 1970; null if there was no turn
	// LastActivationAt is last_activation in the form of all other times.
	LastActivationAt *time.Time `json:"last_activation_at"`
	Activity         string     `json:"activity"`    // working, paused or idle: a shorter form of state
	Description      string     `json:"description"` // one-line description of the running task
}

// LimitStatus is the account limit, or the outage, that parks an agent.
type LimitStatus struct {
	Account string    `json:"account"` // the same for all agents of the account, and not secret
	Until   time.Time `json:"until"`   // time of this agent's next attempt
	Hint    string    `json:"hint"`    // what a person can do about the limit; "" if there is nothing to do
}

// DrainStatus is a drain: the agent finishes the tasks that have begun, and begins no other.
type DrainStatus struct {
	By    string    `json:"by"`    // who ordered it
	Since time.Time `json:"since"` // when it was ordered
	// Tasks are the ids of the begun tasks that may still need a turn of the agent. Without
	// such tasks the agent is drained. Tasks is null if no daemon is running.
	Tasks []string `json:"tasks"`
}

// OffStatus says when an agent's hours begin again.
type OffStatus struct {
	Until time.Time `json:"until"` // when its hours begin
}
