package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// An Asked is a line of a turn's .asks file. It records that a process of the turn, or
// the daemon on behalf of the turn's client, is waiting for an answer, or is no longer
// waiting. The file is append-only. Several questions can be waiting at the same time,
// and after a crash a line may name a process that no longer exists.
type Asked struct {
	ID string `json:"id"`           // id of the question
	Of string `json:"of,omitempty"` // who is asked: an agent, the lead, or a channel or nick on IRC
	// Mailbox is set only if Of has no mailbox. The question was then sent to this
	// mailbox, which belongs to the bridge.
	Mailbox string         `json:"mailbox,omitempty"`
	Text    string         `json:"text,omitempty"` // the beginning of the question, on one line
	Since   time.Time      `json:"since,omitzero"`
	Until   time.Time      `json:"until,omitzero"`
	Process runner.Process `json:"process,omitzero"` // the process that is waiting
	// Call is the tool call for which the turn's client is asking permission, or "" for
	// any other question.
	Call string `json:"call,omitempty"`
	// Copy is the id of the first of several questions that need only one answer between
	// them. In the first question, and in a question that needs its own answer, it is "".
	Copy string `json:"copy,omitempty"`
	Over bool   `json:"over,omitempty"`
	// At is the time from which the question counts as over.
	At  time.Time `json:"at,omitzero"`
	Why string    `json:"why,omitempty"` // why it is over; "" if nobody needs to know
	// Late is set if nobody answered in time. It says what the asker then does: continue,
	// pause, deny or abort.
	Late string `json:"late,omitempty"`
	// Told says what the event list contains about the question: that it was asked
	// ([ToldAsked]), or that nobody answered it in time ([ToldLate]).
	Told string `json:"told,omitempty"`
}

// Values of Told.
const (
	ToldAsked = "asked"
	ToldLate  = "late"
)

// Asks gives access to the questions of one turn, which are the lines of its .asks file.
type Asks struct{ path string }

// Asks returns the questions of a turn.
func (h Home) Asks(turn string) Asks { return Asks{h.TurnFile(turn, ".asks")} }

// A Waiting is a question from the running turn that has not been answered yet.
type Waiting struct {
	asks  Asks
	id    string
	noted bool
}

// Asks records that the running turn will wait at most patience for the answer to a
// question. The caller sets ID and Of, and may set Mailbox, Text and Copy. The status
// shows the question, and the daemon tells people about it. The caller must end the wait
// by calling End or Late. Outside a turn, Asks does nothing.
func (id Identity) Asks(a Asked, patience time.Duration) *Waiting {
	if id.Turn == "" {
		return &Waiting{}
	}
	a.Since = time.Now().UTC()
	a.Until, a.Text = a.Since.Add(patience), screen.Short(screen.OneLine(strings.TrimSpace(a.Text)), maxAskedShown)
	w := &Waiting{asks: id.home.Asks(id.Turn), id: a.ID}
	w.noted = w.asks.Begin(a) == nil
	return w
}

// maxAskedShown is the maximum width, in columns, of the part of a question that the
// status shows.
const maxAskedShown = 200

// Noted reports whether the wait was recorded. If so, the daemon tells people about the
// question, and tells them again if nobody answers in time.
func (w *Waiting) Noted() bool { return w.noted }

// End records that the turn is no longer waiting. why says why the question no longer
// needs an answer. If why is "", the agent gets a later answer as ordinary mail. Only the
// first End or Late counts.
func (w *Waiting) End(why string) { w.end(Asked{Over: true, At: time.Now().UTC(), Why: why}) }

// Late records that nobody answered in time. The parameter "does" says what the asker
// does next. The agent gets a later answer as ordinary mail.
func (w *Waiting) Late(does string) { w.end(Asked{Over: true, At: time.Now().UTC(), Late: does}) }

func (w *Waiting) end(a Asked) {
	if w.id == "" {
		return
	}
	a.ID, w.id = w.id, ""
	if w.noted {
		_ = w.asks.writeLine(a) // if the line is missing, the status shows the question until the turn ends
	}
}

// Begin records that this process, as part of the turn, is waiting for the answer to a
// question.
func (s Asks) Begin(a Asked) (err error) {
	if a.Process, err = runner.Identify(os.Getpid()); err != nil {
		return err
	}
	return s.writeLine(a)
}

// End records that the turn is no longer waiting for the answer to a question, and why.
func (s Asks) End(question, why string) error {
	return s.writeLine(Asked{ID: question, Over: true, At: time.Now().UTC(), Why: why})
}

func (s Asks) writeLine(a Asked) error {
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	return errors.Join(err, f.Close())
}

// Longest returns the question that the turn has been waiting on the longest, or nil if
// it is not waiting for an answer.
func (s Asks) Longest() *Asked {
	for _, a := range s.Open() {
		if a.Process.Alive() {
			return &a
		}
	}
	return nil
}

// turnEnded is the default reason why a question is over.
const turnEnded = "that turn has ended"

// WhyOver returns the reason why the turn is no longer waiting for the answer to a
// question. It returns "" if the turn is still waiting.
func (s Asks) WhyOver(question string) (why string) {
	why = turnEnded
	for a := range s.lines() {
		switch {
		case a.ID != question || a.Told != "":
		case a.Over:
			why = cmp.Or(a.Why, turnEnded)
		case a.Process.Alive():
			why = ""
		}
	}
	return why
}

// Settled returns the reason why a question no longer needs an answer. It returns ""
// while an answer is still wanted, even after the turn has ended.
func (s Asks) Settled(question string) (why string) {
	for a := range s.lines() {
		if a.ID == question && a.Over {
			why = a.Why
		}
	}
	return why
}

// Open returns the questions that are not recorded as closed, oldest first. The process
// that asked may have ended.
func (s Asks) Open() []Asked {
	var open []Asked
	for a := range s.lines() {
		if a.Told != "" {
			continue
		}
		open = slices.DeleteFunc(open, func(o Asked) bool { return o.ID == a.ID })
		if !a.Over {
			open = append(open, a)
		}
	}
	return open
}

// Told records which event about a question is in the event list. See [Asked.Told].
func (s Asks) Told(question, what string) error { return s.writeLine(Asked{ID: question, Told: what}) }

// An AskedState is a question and its outcome.
type AskedState struct {
	Asked                    // Over, At, Why and Late are from the line that ended the question
	ToldAsked, ToldLate bool // which events about it are in the event list
}

// All returns all questions of the turn, oldest first.
func (s Asks) All() (all []AskedState) {
	for a := range s.lines() {
		i := slices.IndexFunc(all, func(q AskedState) bool { return q.ID == a.ID })
		switch {
		case i < 0:
			all = append(all, AskedState{Asked: a})
		case a.Told != "":
			all[i].ToldAsked = all[i].ToldAsked || a.Told == ToldAsked
			all[i].ToldLate = all[i].ToldLate || a.Told == ToldLate
		case a.Over:
			all[i].Over, all[i].At, all[i].Why, all[i].Late = true, a.At, a.Why, a.Late
		}
	}
	return all
}

// Waited returns how long the turn has waited for answers up to now. Overlapping waits
// count only once. An open question does not count if its process no longer exists.
func (s Asks) Waited(now time.Time) (sum time.Duration) {
	var until time.Time // waits up to this time have been counted
	for _, q := range s.All() {
		end := now
		switch {
		case q.Over:
			end = q.At
		case !q.Process.Alive():
			continue
		}
		begin := q.Since
		if begin.Before(until) {
			begin = until
		}
		if end.After(begin) {
			sum += end.Sub(begin)
			until = end
		}
	}
	return sum
}

// AskedSince lists the turns whose questions have changed since the given time.
func AskedSince(home Home, then time.Time) (turns []string, err error) {
	names, err := filesWith(home.Turns(), ".asks")
	for _, turn := range names {
		if info, err := os.Stat(home.TurnFile(turn, ".asks")); err == nil && info.ModTime().After(then) {
			turns = append(turns, turn)
		}
	}
	return turns, err
}

// lines returns the lines of the file.
func (s Asks) lines() iter.Seq[Asked] {
	return func(yield func(Asked) bool) {
		data, err := os.ReadFile(s.path)
		if err != nil {
			return
		}
		for line := range bytes.Lines(data) {
			var a Asked
			if json.Unmarshal(line, &a) == nil && !yield(a) { // skips a last line that a crash truncated
				return
			}
		}
	}
}
