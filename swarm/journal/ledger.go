package journal

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A LedgerLine describes one attempt that ended, whether well or badly.
type LedgerLine struct {
	V       int       `json:"v"`
	At      time.Time `json:"at"` // when the attempt ended
	Turn    string    `json:"turn"`
	Agent   string    `json:"agent"`
	Message string    `json:"message"`
	Trace   string    `json:"trace,omitempty"` // the id of the first message of its task
	From    string    `json:"from"`
	Subject string    `json:"subject,omitempty"`
	Via     string    `json:"via,omitempty"` // "attach" if the turn ran in a person's own session
	Outcome string    `json:"outcome"`
	Reason  string    `json:"reason,omitempty"`
	Seconds float64   `json:"seconds"`
	Tokens  Tally     `json:"tokens"`
	CostUSD float64   `json:"cost_usd"`
	// CostUnknown is set if the client reported only part of the cost, or none of it.
	// CostUSD is the known part.
	CostUnknown bool           `json:"cost_unknown,omitempty"`
	Billing     runner.Billing `json:"billing,omitempty"`      // how the client is billed, if the client reports it
	SessionUSD  float64        `json:"session_usd,omitempty"`  // the session's total, as the client reported it in the last result of the turn; 0 if unknown
	ReservedUSD float64        `json:"reserved_usd,omitempty"` // the amount that the budget reserved for the turn
	Client      string         `json:"client,omitempty"`       // as [ClientName]
	Model       string         `json:"model,omitempty"`
	Session     string         `json:"session,omitempty"`
	Context     Context        `json:"context,omitzero"`  // of the session at the end of the turn
	Text        string         `json:"text,omitempty"`    // the last words of the turn, on one line
	ByLead      bool           `json:"by_lead,omitempty"` // its message was verified to be from the lead
	Branch      string         `json:"branch,omitempty"`  // as in [Receipt]
	Commit      string         `json:"commit,omitempty"`  // as in [Receipt]
	// Verified is [Verification].Word; "" if the agent has no verifiers.
	Verified string `json:"verified,omitempty"`
}

// ClientName names the kind of a client and its version, such as "codex 2.6.0". The version
// is omitted if the client did not report it.
func ClientName(backend, version string) string { return strings.TrimSpace(backend + " " + version) }

// IsCostUnknown reports whether the cost of the turn is unknown, either because its client
// did not report it in full or because the turn ran in a person's own session.
func (l LedgerLine) IsCostUnknown() bool { return l.CostUnknown || l.Via == ViaAttach }

// MaxLastText is the maximum width, in columns, of the last words of a turn in the ledger
// and the status.
const MaxLastText = 200

// ReadLedger calls yield for every line of a ledger, oldest first, until yield returns
// false. It skips lines that a crash truncated or damaged. A missing ledger counts as
// empty.
func ReadLedger(path string, yield func(LedgerLine) bool) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	_, err = readLines(f, yield)
	return err
}

// readLines does the work of [ReadLedger]. It returns the size, in bytes, of the lines that it
// read, without a last line that has no newline yet.
func readLines(src io.Reader, yield func(LedgerLine) bool) (size int64, err error) {
	r := bufio.NewReaderSize(src, maxLedgerLine)
	for part := int64(0); ; {
		data, err := r.ReadSlice('\n')
		part += int64(len(data))
		var l LedgerLine
		if err != bufio.ErrBufferFull && json.Unmarshal(data, &l) == nil && l.Turn != "" {
			l.Outcome = ofNow(l.Outcome, l.Reason)
			if !yield(l) {
				return size, nil
			}
		}
		for err == bufio.ErrBufferFull { // no ledger line is that long, so the disk lost data
			data, err = r.ReadSlice('\n')
			part += int64(len(data))
		}
		if err == io.EOF {
			return size, nil
		} else if err != nil {
			return size, err
		}
		size, part = size+part, 0
	}
}

// maxLedgerLine is a size, in bytes, that is larger than any line that the daemon writes.
const maxLedgerLine = 256 << 10

// Ledger is the ledger of a running daemon. It is safe for concurrent use.
type Ledger struct {
	home Home
	mu   sync.Mutex
	file *os.File // the ledger's file, for Restore and CatchUp; nil if lines cannot be added
	// read is the size, in bytes, of the beginning of the file in which CatchUp need not look
	// for lines of other processes.
	read int64
	// secrets contains the secrets that are removed from every line; nil means no
	// secrets.
	secrets *tokens.Source
	sums    map[string]*agentSum
	// heard is called with each line that is added to the sums; it may be nil.
	heard func(line LedgerLine, old bool)
	// known and older contain the most recent turns in the ledger. If a crash or a full
	// disk interrupted the filing of a turn, the turn is filed again but must not count
	// twice.
	known, older map[string]bool
	// unbooked contains the lines with the outcome [OutcomeUnbooked], by their turn.
	unbooked map[string]LedgerLine
	// recent contains the messages that were done in the last amendDays days, and the
	// turns that failed in that time, for [Ledger.Amend].
	recent map[string]bool
}

// amendDays is the number of days for which [Ledger.Amend] compares the ledger with
// done/: today and yesterday. A power cut loses at most the last half minute.
const amendDays = 2

// countedFor is the time for which a turn counts toward policy.turns_per_hour.
const countedFor = time.Hour

// maxKnown limits the size of known, and of older. Only the last turn of an agent can be
// filed again, so older turns can be forgotten.
const maxKnown = 10_000

// agentSum adds up one agent's turns and their cost, in US dollars.
type agentSum struct {
	turns int
	cost  Cost
	day   string // UTC day to which cost.Today belongs
	last  LedgerLine

	booked booked
}

// OpenLedger reads the ledger, and checks that lines can be added. Unless heard is nil,
// it is called with each line: first with the lines in the file, with old set, and later
// with each added line, once for each turn. heard must not use the ledger. The caller
// closes the ledger.
func OpenLedger(home Home, heard func(line LedgerLine, old bool)) (*Ledger, error) {
	path := home.Ledger()
	l := &Ledger{home: home, secrets: home.Secrets(), sums: map[string]*agentSum{}, known: map[string]bool{}, recent: map[string]bool{}, unbooked: map[string]LedgerLine{}}
	since := time.Now().AddDate(0, 0, -amendDays)
	// A line that is added while the file is read is known when CatchUp reads it again.
	read, err := l.wholeSize()
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	err = ReadLedger(path, func(line LedgerLine) bool {
		l.know(line.Turn)
		l.count(line)
		if heard != nil {
			heard(line, true)
		}
		switch {
		case line.At.Before(since):
		case line.Outcome == OutcomeUnbooked:
			l.unbooked[line.Turn] = line
		case EndedWell(line.Outcome):
			l.recent[line.Message] = true
		default:
			l.recent[line.Turn] = true
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	// If the ledger cannot be written, the daemon must fail at startup and not in its
	// first turn.
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	l.read, l.heard = read, heard
	return l, nil
}

// ReadSums reads only the sums of a ledger. Lines cannot be added to the result.
func ReadSums(home Home) (*Ledger, error) {
	l := &Ledger{sums: map[string]*agentSum{}}
	if err := ReadLedger(home.Ledger(), func(line LedgerLine) bool { l.count(line); return true }); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return l, nil
}

// ViaAttach marks the turns of a person's own session.
const ViaAttach = "attach"

// AppendLedger adds a line from a process other than the daemon. The daemon may add lines
// at the same time.
func AppendLedger(home Home, line LedgerLine) error {
	return (&Ledger{home: home, secrets: home.Secrets()}).write(line)
}

// write appends a line to the file. If a crash or a full disk truncated the last line,
// write first terminates that line. The new line is not durable immediately. See
// [Ledger.Amend].
func (l *Ledger) write(line LedgerLine) error {
	line.V = 1
	data, err := json.Marshal(line)
	if err == nil {
		err = whileLocked(l.lockFile(), func() error { // an attached session may add a line at the same time
			return l.home.files.Append(l.home.Ledger(), durable.Options{Volatile: true}, l.secrets.Hidden(data))
		})
	}
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

func (l *Ledger) lockFile() string { return filepath.Join(l.home.dir, "ledger.lock") }

// Add appends a line unless its turn already has one. If the total of the line's session shows
// a cost that no turn contained, Add first appends a line with that cost; see [Ledger.Unbooked].
func (l *Ledger) Add(line LedgerLine) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known[line.Turn] || l.older[line.Turn] {
		return nil
	}
	if sum := l.sums[line.Agent]; sum != nil {
		if more, ok := sum.booked.unbooked(line); ok {
			if err := l.append(more); err != nil {
				return err
			}
			l.unbooked[more.Turn] = more
		}
	}
	return l.append(line)
}

// append appends a line and counts it. The caller holds the mutex.
func (l *Ledger) append(line LedgerLine) error {
	if err := l.write(line); err != nil {
		return err
	}
	l.know(line.Turn)
	l.count(line)
	if l.heard != nil {
		l.heard(line, false)
	}
	return nil
}

// Has reports whether a turn has a line. It remembers only the most recent turns.
func (l *Ledger) Has(turn string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known[turn] || l.older[turn]
}

func (l *Ledger) know(turn string) {
	if len(l.known) >= maxKnown {
		l.known, l.older = map[string]bool{}, l.known
	}
	l.known[turn] = true
}

func (l *Ledger) count(line LedgerLine) {
	sum := l.sums[line.Agent]
	if sum == nil {
		sum = &agentSum{}
		l.sums[line.Agent] = sum
	}
	if day := utcDay(line.At); day != sum.day {
		sum.day, sum.cost.Today, sum.cost.TodayUnknown = day, 0, 0
	}
	sum.cost.add(line)
	sum.booked = sum.booked.after(line)
	if line.Outcome != OutcomeUnbooked {
		sum.turns++
		sum.last = line
	}
}

// Last returns an agent's most recent line.
func (l *Ledger) Last(agent string) (LedgerLine, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum := l.sums[agent]
	if sum == nil {
		return LedgerLine{}, false
	}
	return sum.last, true
}

// Turns returns how many turns of an agent have a line.
func (l *Ledger) Turns(agent string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if sum := l.sums[agent]; sum != nil {
		return sum.turns
	}
	return 0
}

// Cost returns the cost of an agent, today and in total.
func (l *Ledger) Cost(agent string, now time.Time) Cost {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum := l.sums[agent]
	if sum == nil {
		return Cost{}
	}
	return sum.costAt(now)
}

// costAt returns the cost, with that of today only if today is the day of the last line.
func (s *agentSum) costAt(now time.Time) Cost {
	c := s.cost
	if s.day != utcDay(now) {
		c.Today, c.TodayUnknown = 0, 0
	}
	return c
}

// CostOfOthers returns the sum of the costs of all agents in the ledger except the named
// ones, today and in total.
func (l *Ledger) CostOfOthers(agents []string, now time.Time) Cost {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all Cost
	for name, sum := range l.sums {
		if !slices.Contains(agents, name) {
			all = all.Plus(sum.costAt(now))
		}
	}
	return all
}

func utcDay(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// LineOf returns the ledger line for a turn that ended well.
func LineOf(m *dropbox.Message, r *Receipt) LedgerLine {
	l := LedgerLine{
		At: r.Ended, Turn: r.Turn, Agent: r.Agent, Message: m.ID, Trace: cmp.Or(m.Trace, m.ID), ReservedUSD: r.ReservedUSD, From: m.From, Subject: m.Subject,
		Outcome: r.Outcome, Tokens: r.Tokens, Client: r.Client, Model: r.Model, Session: r.Session, SessionUSD: r.SessionUSD,
		Billing: r.Billing, Context: r.Context, Text: screen.Short(r.Text, MaxLastText),
		ByLead: r.Proven && m.From == dropbox.Lead,
	}
	if r.Attached {
		l.Via = ViaAttach
	}
	l.Branch, l.Commit = r.Branch, r.Commit
	if r.Verification != nil {
		l.Verified = r.Verification.Word
	}
	if n := len(r.Attempts); n > 0 {
		last := r.Attempts[n-1]
		l.Seconds, l.CostUSD = last.Took().Seconds(), last.CostUSD
		l.CostUnknown = last.CostUnknown
	}
	return l
}

// Context says how full an agent's session is, in tokens. A number is 0 if it is unknown.
type Context struct {
	Tokens int `json:"tokens" yaml:"tokens"` // tokens in use; 0 if unknown
	Limit  int `json:"limit" yaml:"limit"`   // tokens that fit; 0 if unknown
}

// nearlyFull is the percentage above which a session's context counts as nearly full.
const nearlyFull = 80

// Percent returns how full the session is, in percent, rounded down. It returns -1 if that
// is unknown.
func (c Context) Percent() int {
	if c.Tokens == 0 || c.Limit == 0 {
		return -1
	}
	return int(int64(c.Tokens) * 100 / int64(c.Limit))
}

// IsNearlyFull reports whether more than 80 percent of the context is in use.
func (c Context) IsNearlyFull() bool {
	return c.Limit > 0 && int64(c.Tokens)*100 > int64(c.Limit)*nearlyFull
}
