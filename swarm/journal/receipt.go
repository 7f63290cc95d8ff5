package journal

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Receipt records how the work on one message ended. It is stored next to the message
// in done/. The turn counts as done once the receipt is next to the message in cur/.
type Receipt struct {
	V        int       `yaml:"v" json:"v"`
	ID       string    `yaml:"id" json:"id"` // of the message
	Turn     string    `yaml:"turn,omitempty" json:"turn,omitempty"`
	Agent    string    `yaml:"agent" json:"agent"`
	Backend  string    `yaml:"backend,omitempty" json:"backend,omitempty"`
	Client   string    `yaml:"client,omitempty" json:"client,omitempty"` // as [ClientName]
	Model    string    `yaml:"model,omitempty" json:"model,omitempty"`
	Session  string    `yaml:"session,omitempty" json:"session,omitempty"`
	Via      string    `yaml:"via" json:"via"`                               // how the message arrived, if the daemon knows
	Attached bool      `yaml:"attached,omitempty" json:"attached,omitempty"` // the turn belonged to a person's own session
	Proven   bool      `yaml:"proven" json:"proven"`
	Outcome  string    `yaml:"outcome" json:"outcome"` // such as done, refused, rode along, or taken by AGENT
	Ended    time.Time `yaml:"ended" json:"ended"`
	Attempts []Attempt `yaml:"attempts,omitempty" json:"attempts,omitempty"`
	Tokens   Tally     `yaml:"tokens" json:"tokens"`
	CostUSD  float64   `yaml:"cost_usd" json:"cost_usd"` // of all attempts
	Context  Context   `yaml:"context" json:"context"`   // of the session at the end of the turn
	// CostUnknown is set if the client of an attempt reported only part of the cost, or
	// none of it. CostUSD is the known part.
	CostUnknown bool `yaml:"cost_unknown,omitempty" json:"cost_unknown,omitempty"`
	// SessionUSD is as in [LedgerLine].
	SessionUSD float64 `yaml:"session_usd,omitempty" json:"session_usd,omitempty"`
	// ReservedUSD is the amount that the budget reserved for the last attempt.
	ReservedUSD float64 `yaml:"reserved_usd,omitempty" json:"reserved_usd,omitempty"`

	// Billing says how the client is billed, if the client reports it.
	Billing runner.Billing `yaml:"billing,omitempty" json:"billing,omitempty"`

	// Decisions are the decisions about tool calls for which the client asked permission.
	// If the list is incomplete, Decided is the total number of decisions.
	Decisions []Decision `yaml:"decisions,omitempty" json:"decisions,omitempty"`
	Decided   int        `yaml:"decided,omitempty" json:"decided,omitempty"`

	ToolCalls   int      `yaml:"tool_calls" json:"tool_calls"`
	Denied      []string `yaml:"denied,omitempty" json:"denied,omitempty"`
	Compactions int      `yaml:"compactions,omitempty" json:"compactions,omitempty"`
	Sent        []string `yaml:"sent,omitempty" json:"sent,omitempty"`       // ids of messages sent in the turn
	Notes       []string `yaml:"notes,omitempty" json:"notes,omitempty"`     // ids of the notes that rode along
	Steered     []string `yaml:"steered,omitempty" json:"steered,omitempty"` // ids of urgent messages that were handled in the turn
	Into        string   `yaml:"into,omitempty" json:"into,omitempty"`       // id of the message in whose turn this message was handled
	Files       []string `yaml:"files,omitempty" json:"files,omitempty"`     // files written by the CLI's own tools
	// Branch is the branch of the working tree in which the turn ran, and Base and Commit are its
	// commits before the first attempt at the message and after the last one. All are empty without a working tree.
	Branch string `yaml:"branch,omitempty" json:"branch,omitempty"`
	Base   string `yaml:"base,omitempty" json:"base,omitempty"`
	Commit string `yaml:"commit,omitempty" json:"commit,omitempty"`
	// Verification says what the agent's verifiers found out about Commit; nil without verifiers.
	Verification *Verification `yaml:"verification,omitempty" json:"verification,omitempty"`
	Answer       *Answer       `yaml:"answer,omitempty" json:"answer,omitempty"`
	Text         string        `yaml:"text,omitempty" json:"text,omitempty"` // the last words of the turn
}

// An Attempt is one turn that was started for a message.
type Attempt struct {
	Start   time.Time `yaml:"start" json:"start"`
	End     time.Time `yaml:"end,omitempty" json:"end,omitzero"`
	Outcome string    `yaml:"outcome" json:"outcome"`
	Reason  string    `yaml:"reason,omitempty" json:"reason,omitempty"`
	CostUSD float64   `yaml:"cost_usd" json:"cost_usd"`
	// CostUnknown is as in [LedgerLine].
	CostUnknown bool `yaml:"cost_unknown,omitempty" json:"cost_unknown,omitempty"`
}

// Took returns the duration of the attempt. It is 0 if the end is not known.
func (a Attempt) Took() time.Duration {
	if a.End.IsZero() {
		return 0
	}
	return Took(a.Start, a.End)
}

// Took returns the duration of a turn by the system's clock, for its log, the ledger and the
// receipt alike. A turn begins when its record is written, also if a later daemon has followed
// its client to the end.
func Took(begun, ended time.Time) time.Duration { return max(0, ended.Round(0).Sub(begun.Round(0))) }

// MarshalJSON encodes an unknown cost as null.
func (a Attempt) MarshalJSON() ([]byte, error) {
	type plain Attempt
	return json.Marshal(struct {
		plain
		CostUSD *float64 `json:"cost_usd"`
	}{plain(a), KnownUSD(a.CostUSD, a.CostUnknown)})
}

// A Tally counts tokens.
type Tally struct {
	In         int `yaml:"in" json:"in"`
	Out        int `yaml:"out" json:"out"`
	CacheRead  int `yaml:"cache_read" json:"cache_read"`
	CacheWrite int `yaml:"cache_write" json:"cache_write"`
}

// An Answer is the result that the daemon owes the sender of a message. It is part of the
// receipt so that, after a crash, the next daemon delivers the same answer.
type Answer struct {
	To      string   `yaml:"to" json:"to"`
	Thread  string   `yaml:"thread" json:"thread"`
	Trace   string   `yaml:"trace" json:"trace"`
	Subject string   `yaml:"subject,omitempty" json:"subject,omitempty"`
	Hops    int      `yaml:"hops" json:"hops"`
	Path    []string `yaml:"path,omitempty" json:"path,omitempty"`
	Body    string   `yaml:"body" json:"body"`
	Refused string   `yaml:"refused,omitempty" json:"refused,omitempty"` // why the answer is not sent
}

func TallyOf(o runner.Outcome) Tally {
	return Tally{In: o.Tokens.Input, Out: o.Tokens.Output, CacheRead: o.Tokens.CacheRead, CacheWrite: o.Tokens.CacheWrite}
}

// Encode returns the receipt as YAML.
func (r *Receipt) Encode() ([]byte, error) {
	r.V = 1
	return yaml.Marshal(r)
}

// ParseReceipt reads a receipt.
func ParseReceipt(data []byte) (*Receipt, error) {
	r := new(Receipt)
	if err := yaml.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		a.Outcome = ofNow(a.Outcome, a.Reason)
	}
	return r, nil
}

// ReadReceipt reads a receipt from its file.
func ReadReceipt(path string) (*Receipt, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseReceipt(data)
}
