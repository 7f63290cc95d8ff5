package journal

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Record describes one attempt at a message. It is written before the client starts,
// and made durable before the prompt is sent. A later daemon uses it to find a client
// that outlived this daemon. The receipt's list of earlier attempts is made from their
// records.
type Record struct {
	V       int      `json:"v"`
	Turn    string   `json:"turn"`
	Agent   string   `json:"agent"`
	Backend string   `json:"backend,omitempty"` // kind of client that runs the turn
	Message string   `json:"message"`           // id
	Thread  string   `json:"thread"`
	Trace   string   `json:"trace"`
	Hops    int      `json:"hops"`
	Path    []string `json:"path,omitempty"`
	UUID    string   `json:"uuid"` // of the prompt; the client runs each UUID only once
	Session string   `json:"session"`
	How     string   `json:"how"` // new, resume or continue
	Notes   []string `json:"notes,omitempty"`
	// Tree is the folder of the working tree in which the turn runs, relative to the project, with
	// slashes; "" if it runs in none. Branch is the tree's branch, and Base the commit of the branch
	// when the first attempt at the message began.
	Tree   string `json:"tree,omitempty"`
	Branch string `json:"branch,omitempty"`
	Base   string `json:"base,omitempty"`
	// Cwd is the absolute path of the folder in the tree in which the client works.
	Cwd    string `json:"cwd,omitempty"`
	Via    string `json:"via,omitempty"`     // ViaAttach if a person's session runs the turn
	ByLead bool   `json:"by_lead,omitempty"` // the message was verified to be from the lead
	// Reinjected says that the prompt contained the window. After a compaction in such a
	// turn, the daemon does not send the window again.
	Reinjected  bool           `json:"reinjected,omitempty"`
	Tools       bool           `json:"tools,omitempty"` // the client has the swarm's tools
	WindowBytes int            `json:"window_bytes"`    // maximum size of the agent's window
	Begun       time.Time      `json:"begun"`
	Process     runner.Process `json:"process"` // zero until the client is started
	// ReservedUSD is the amount that the budget reserved for the turn, in US dollars. It
	// is also the client's cap; 0 means no cap.
	ReservedUSD float64 `json:"reserved_usd,omitempty"`
	// ReservedTurns is 1 if the turn has a reservation in the budget. ReservedSeconds is
	// the maximum duration of the turn; 0 means no limit.
	ReservedTurns   int     `json:"reserved_turns,omitempty"`
	ReservedSeconds float64 `json:"reserved_seconds,omitempty"`
	// Client is the turn that started the client if that was an earlier turn, otherwise
	// "". From is the position in that turn's stream at which this turn begins.
	Client string       `json:"client,omitempty"`
	From   runner.Place `json:"from,omitzero"`

	// These fields describe the end of a turn that did not end well. For other turns, the
	// receipt describes the end.
	End     runner.End `json:"end,omitempty"`
	Reason  string     `json:"reason,omitempty"`
	Ended   time.Time  `json:"ended,omitzero"`
	CostUSD float64    `json:"cost_usd,omitempty"`
	// CostUnknown has the same meaning as in [LedgerLine].
	CostUnknown bool `json:"cost_unknown,omitempty"`
	// Verification is set if the turn ended well and a verifier was red, so the message waits again.
	Verification *Verification `json:"verification,omitempty"`
	Counted      bool          `json:"counted,omitempty"` // the turn counts as a failure of the message
	// Crash describes how the client ended if it exited on its own before the end of the
	// turn.
	Crash string `json:"crash,omitempty"`
}

// MaxTries is the number of clients that may refuse the session or the prompt within one
// claim. After that, the daemon does not start another client in that claim.
const MaxTries = 4

// TurnID returns the id of a turn for a message: k7f3q9m2xd-1 for the first client in the
// first claim of message k7f3q9m2xd, and k7f3q9m2xd-1-2 for the second client in the same
// claim. begun is the number of the claim, starting from 1, and try is the number of the
// client, starting from 0.
func TurnID(message string, begun, try int) string {
	if try == 0 {
		return fmt.Sprintf("%s-%d", message, begun)
	}
	return fmt.Sprintf("%s-%d-%d", message, begun, try+1)
}

// WriteVolatile writes the record before its client starts. The file outlives this
// process, so a later daemon can find the client. The file does not have to survive a
// power cut, because no client survives one. Before the prompt is sent, Write makes the
// record durable.
func (r *Record) WriteVolatile(home Home) error {
	r.V = 1
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(home.TurnFile(r.Turn, ".json"), data, 0o600)
}

// Write writes the record durably.
func (r *Record) Write(home Home) error {
	r.V = 1
	return home.files.WriteJSON(home.TurnFile(r.Turn, ".json"), r)
}

// Attempt returns the receipt's entry for a turn that did not end well.
func (r *Record) Attempt() Attempt {
	return Attempt{Start: r.Begun, End: r.Ended, Outcome: cmp.Or(string(r.End), "cut off"), Reason: r.Reason, CostUSD: r.CostUSD, CostUnknown: r.CostUnknown || r.Via == ViaAttach}
}

// Line returns the ledger line for a turn that did not end well, with the fields that the
// record contains.
func (r *Record) Line() LedgerLine {
	return LedgerLine{
		At: r.Ended, Turn: r.Turn, Agent: r.Agent, Message: r.Message, Via: r.Via, Outcome: string(r.End), Reason: r.Reason,
		Seconds: Took(r.Begun, r.Ended).Seconds(), CostUSD: r.CostUSD, CostUnknown: r.CostUnknown, Client: r.Backend, Session: r.Session,
		ByLead: r.ByLead, Trace: cmp.Or(r.Trace, r.Message), ReservedUSD: r.ReservedUSD,
	}
}

// ReservedFor returns how much longer the turn may run, with a minimum of one second. It
// returns 0 if there is no limit.
func (r *Record) ReservedFor(now time.Time) time.Duration {
	if r.ReservedSeconds <= 0 {
		return 0
	}
	end := r.Begun.Add(time.Duration(r.ReservedSeconds * float64(time.Second)))
	return max(end.Sub(now), time.Second)
}

// OpenRecords lists the records of turns that have a reservation in the budget and no
// recorded end. settled reports whether the ledger has a line for a turn.
func (h Home) OpenRecords(settled func(turn string) bool) ([]*Record, error) {
	turns, err := h.Recorded()
	if err != nil {
		return nil, err
	}
	var open []*Record
	for _, turn := range turns {
		if settled(turn) {
			continue
		}
		rec, err := ReadRecord(h, turn)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil && rec.End == "" && rec.ReservedTurns > 0 {
			open = append(open, rec)
		}
	}
	return open, nil
}

// Remove removes the record of a turn that did not begin.
func (r *Record) Remove(home Home) error {
	err := os.Remove(home.TurnFile(r.Turn, ".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ReadRecord reads the record of a turn. The error is [fs.ErrNotExist] if the turn has no
// record, or if the record is incomplete because the write was interrupted. No prompt was
// sent for such a turn.
func ReadRecord(home Home, turn string) (*Record, error) {
	data, err := os.ReadFile(home.TurnFile(turn, ".json"))
	if err != nil {
		return nil, err
	}
	r := new(Record)
	err = json.Unmarshal(data, r)
	r.End = runner.End(ofNow(string(r.End), r.Reason))
	if err != nil {
		return nil, fmt.Errorf("turn record %s: %w: %w", turn, fs.ErrNotExist, err)
	}
	return r, nil
}

// Records lists the records of the attempts at a message, oldest first. begun is how many
// times the message was claimed. Records that were removed because of their age are not
// in the list.
func Records(home Home, message string, begun int) ([]*Record, error) {
	var all []*Record
	for n := 1; n <= begun; n++ {
		tries, err := TriesOf(home, message, n)
		if err != nil {
			return nil, err
		}
		all = append(all, tries...)
	}
	return all, nil
}

// TriesOf lists the records of the clients that started within one claim.
func TriesOf(home Home, message string, begun int) ([]*Record, error) {
	var all []*Record
	for try := 0; ; try++ {
		r, err := ReadRecord(home, TurnID(message, begun, try))
		if errors.Is(err, fs.ErrNotExist) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
}

// clockSlack is how far a file's modification time may lag behind the real time, because
// file systems use a clock that ticks only every few milliseconds.
const clockSlack = 20 * time.Millisecond

// BegunBy reports whether the turn had begun by the time a file was written. written is
// the file's modification time.
func (r *Record) BegunBy(written time.Time) bool { return !written.Before(r.Begun.Add(-clockSlack)) }

// RecordsOf lists the records of an agent's turns that worked on a message, oldest first.
func (h Home) RecordsOf(agent string) ([]*Record, error) {
	turns, err := h.Recorded()
	if err != nil {
		return nil, err
	}
	var all []*Record
	for _, turn := range turns {
		rec, err := ReadRecord(h, turn)
		if errors.Is(err, fs.ErrNotExist) {
			continue // incomplete, or removed in the meantime
		} else if err != nil {
			return nil, err
		}
		if rec.Agent == agent && rec.Message != "" {
			all = append(all, rec)
		}
	}
	slices.SortStableFunc(all, func(a, b *Record) int { return cmp.Or(a.Begun.Compare(b.Begun), strings.Compare(a.Turn, b.Turn)) })
	return all, nil
}

// OpenStream opens the part of a client's output that belongs to a turn; later is the turns that
// may have begun in the same client. The caller must close it. The error is [fs.ErrNotExist] if
// the output is not kept, or was never recorded.
func (r *Record) OpenStream(home Home, later []*Record) (io.ReadCloser, error) {
	f, err := os.Open(home.Stream(r.Mark()))
	if err != nil {
		return nil, err
	}
	end := int64(math.MaxInt64)
	for _, l := range later {
		if l.Mark() == r.Mark() && l.From.Offset > r.From.Offset {
			end = min(end, l.From.Offset)
		}
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(f, r.From.Offset, end-r.From.Offset), f}, nil
}
