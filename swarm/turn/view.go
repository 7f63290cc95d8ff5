package turn

import (
	"math"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A View contains the facts that the status shows about an agent's turns and its client.
// Only the agent's goroutine changes it, except for [View.Attached], but it is safe for
// concurrent use.
type View struct {
	mu      sync.Mutex
	p       Picture
	limitOf string // the model whose context limit is known, without the part in brackets
}

// A Picture is a snapshot of a View.
type Picture struct {
	Message     *MessageStatus // the message of the running turn; nil if no turn is running
	Progress    *Progress      // of the running turn; nil if no turn is running
	Description string         // one-line description of the running task
	PID         *int           // pid of the running turn's client
	Streams     bool           // the running turn shows its text while the agent is writing it
	Retries     string         // reason why the running turn's client is retrying an API call; "" if it is not retrying
	Warm        *WarmStatus    // the client that is waiting for the next message; nil if there is none

	Session string
	Client  string // kind and version of the client; "" if unknown
	Model   string
	Billing runner.Billing // how the client pays
	Context journal.Context
	Last    *LastText

	Turns int      // number of turns that have begun: those in the ledger and the running one
	Begun *float64 // start of the last turn, in seconds since 1970
}

// MessageStatus describes the message of a running turn.
type MessageStatus struct {
	ID      string    `json:"id"`      // its id
	From    string    `json:"from"`    // its sender
	Subject string    `json:"subject"` // its subject; the beginning of the text if it has none
	Since   time.Time `json:"since"`   // when the turn began
	Folder  string    `json:"folder"`  // the working tree of the turn, relative to the project; "" if it has none
	Branch  string    `json:"branch"`  // the branch of the working tree; "" if the turn has none
}

// Progress is what a running turn has done and cost so far.
type Progress struct {
	// Steps is the number of responses of the agent's model in the main conversation, as
	// the supervisor counts them.
	Steps int `json:"steps"`
	// CostUSD is the cost in US dollars as the client last reported it, so the turn has cost
	// at least this much; null if the client has not reported it yet.
	CostUSD *float64 `json:"cost_usd"`
}

// WarmStatus describes a client that is waiting for the next message of its agent. Memory
// and processor time are totals for the client's processes, including those that its turns
// left running; a waiting client should use almost no processor time.
type WarmStatus struct {
	PID        int       `json:"pid"`         // its process id
	Since      time.Time `json:"since"`       // start of the wait
	RSSBytes   int64     `json:"rss_bytes"`   // memory in bytes, rounded down to whole MiB, with the processes that its turns left running
	CPUSeconds float64   `json:"cpu_seconds"` // processor time in seconds since the wait began, rounded down to 0.1 s, with those processes

	mark   string
	before time.Duration // processor time used before Since
}

// Measure sets the memory and the processor time.
func (w *WarmStatus) Measure() {
	u := runner.UsageOf(w.mark)
	w.RSSBytes = u.RSS >> 20 << 20
	w.CPUSeconds = math.Floor(max(0, u.CPU-w.before).Seconds()*10) / 10
}

// LastText is the last text that an agent wrote, shortened to one line.
type LastText struct {
	At      time.Time `json:"at"`                // when it was written
	Text    string    `json:"text"`              // the text, on one line
	Outcome string    `json:"outcome,omitempty"` // refused, if the turn ended with that outcome; otherwise absent
}

func (l *LastText) String() string {
	switch {
	case l.Outcome == "":
		return l.Text
	case l.Text == "":
		return l.Outcome
	}
	return l.Outcome + ": " + l.Text
}

// Recalled returns the picture of an agent as it was when an earlier daemon ended. The
// parameter l is the newest line about the agent in the ledger, and turns is the number
// of lines about the agent.
func Recalled(l journal.LedgerLine, turns int) Picture {
	began := float64(l.At.UnixMilli())/1000 - l.Seconds
	p := Picture{Turns: turns, Client: l.Client, Model: l.Model, Billing: l.Billing, Context: l.Context, Begun: &began}
	if l.Text != "" {
		p.Last = &LastText{At: l.At, Text: l.Text}
	}
	if l.Outcome == journal.OutcomeRefused {
		p.Last = &LastText{At: l.At, Text: l.Text, Outcome: l.Outcome}
	}
	return p
}

// Recall replaces the current picture with the picture from an earlier daemon.
func (v *View) Recall(p Picture) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.p, v.limitOf = p, plainModel(p.Model)
}

// Attached records a turn of a person's own session that has ended. The parameter l is its
// line in the ledger.
func (v *View) Attached(l journal.LedgerLine) {
	then := Recalled(l, 0)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.p.Turns++
	v.p.Begun = then.Begun
	if then.Last != nil {
		v.p.Last = then.Last
	}
}

// Begin records that a turn has begun.
func (v *View) Begin(m *MessageStatus, description string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.p.Message, v.p.Description, v.p.Progress = m, description, &Progress{}
	v.p.Turns++
	began := float64(m.Since.UnixMilli()) / 1000
	v.p.Begun = &began
}

// Refused records that the turn has ended with the outcome [journal.OutcomeRefused].
func (v *View) Refused(at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	last := LastText{At: at.UTC()}
	if l := v.p.Last; l != nil && v.p.Begun != nil && float64(l.At.UnixMilli())/1000 >= *v.p.Begun {
		last = *l
	}
	last.Outcome = journal.OutcomeRefused
	v.p.Last = &last
}

// End records that the turn has ended.
func (v *View) End() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.p.Message, v.p.Progress, v.p.PID, v.p.Description, v.p.Retries, v.p.Streams = nil, nil, nil, "", "", false
}

// Picture returns a copy of the current picture.
func (v *View) Picture() Picture {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.p
	if p.Warm != nil {
		copied := *p.Warm
		p.Warm = &copied
	}
	if p.Progress != nil {
		p.Progress = new(*p.Progress)
	}
	return p
}

// steps records how many steps the running turn has taken.
func (v *View) steps(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.p.Progress != nil {
		v.p.Progress.Steps = n
	}
}

// spent records what the running turn has cost so far, in US dollars.
func (v *View) spent(usd float64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.p.Progress != nil {
		v.p.Progress.CostUSD = &usd
	}
}

// process records the pid of the running turn's client. The parameter pid is 0 once the
// client has ended, while the daemon is still filing the turn.
func (v *View) process(pid int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.p.PID = nil
	if pid != 0 {
		v.p.PID = &pid
	}
}

// streams records whether the running turn shows its text while the agent is writing it.
func (v *View) streams(does bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.p.Streams = does
}

// retries records why the running turn's client is retrying an API call. The parameter
// why is "" if the client is not retrying.
func (v *View) retries(why string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.p.Retries = why
}

// setWarm records the client that is waiting. The parameter w is nil if no client is
// waiting.
func (v *View) setWarm(w *WarmStatus) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.p.Warm = w
}

// learn records the facts that the client reported about itself. Empty values and zeros
// mean "not reported".
func (v *View) learn(session, model string, tokens, limit int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if session != "" {
		v.p.Session = session
	}
	if model != "" {
		v.p.Model = model
	}
	if tokens > 0 {
		v.p.Context.Tokens = tokens
	}
	if limit > 0 {
		v.p.Context.Limit = limit
	}
}

// client records the kind and the version of the client, and its model. The parameter
// model is "" if the client did not report a model.
func (v *View) client(name, model string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.p.Client = name
	if model != "" {
		v.p.Model = model
	}
}

// billing records how the client pays, if the client has reported it.
func (v *View) billing(b runner.Billing) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if b != runner.BillingUnknown {
		v.p.Billing = b
	}
}

// limitFor returns the context limit to use when the client reports the given limit, in
// tokens. The parameter named reports whether the configuration specifies the model. If
// it does not, Claude Code 2.1.197 uses claude-opus-4-8[1m], but in a resumed session it
// calls that model claude-opus-4-8 and reports a smaller limit. If named is false,
// limitFor therefore keeps the largest limit reported for the model.
func (v *View) limitFor(limit int, named bool) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	if limit == 0 {
		return 0
	}
	model := plainModel(v.p.Model)
	if !named && model == v.limitOf {
		limit = max(limit, v.p.Context.Limit)
	}
	v.limitOf = model
	return limit
}

// plainModel returns the name of a model without the part in brackets.
func plainModel(model string) string {
	plain, _, _ := strings.Cut(model, "[")
	return plain
}

// forgot records that the client's conversation was dropped.
func (v *View) forgot() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.p.Session, v.p.Context.Tokens = "", 0
}

// compacted records that the client compacted its context, whose size is unknown until
// the next request.
func (v *View) compacted() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.p.Context.Tokens = 0
}

// said records the agent's latest text.
func (v *View) said(at time.Time, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.p.Last = &LastText{At: at.UTC(), Text: screen.Short(text, journal.MaxLastText)}
}
