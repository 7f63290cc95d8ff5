package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/git"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// A Diff is what an agent changed in a turn, in the turns of a message, or in a task.
type Diff struct {
	V       int        `json:"v"`
	Agent   string     `json:"agent"`
	ID      string     `json:"id,omitempty"` // of the turn, the message or the task; "" for the agent's newest turn
	Turns   []TurnDiff `json:"turns"`        // oldest first
	Files   int        `json:"files"`        // number of different files
	Added   int        `json:"added"`        // lines
	Deleted int        `json:"deleted"`
}

// A TurnDiff is what one turn changed. If it ran in a worktree, git tells that, for all attempts
// at the message together; otherwise the recorded output of the client does.
type TurnDiff struct {
	Turn    string    `json:"turn"`
	Message string    `json:"message"`
	Subject string    `json:"subject,omitempty"` // the subject or the beginning of the text
	Begun   time.Time `json:"begun,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Outcome string    `json:"outcome"` // as in a history, or running
	Branch  string    `json:"branch,omitempty"`
	Base    string    `json:"base,omitempty"`
	Commit  string    `json:"commit,omitempty"`

	Files []FileDiff `json:"files"` // in the order of the first writes
	// Others are the command lines and tools that ran and may have changed more. Git tells
	// their changes, too, so it is then empty.
	Others []string `json:"others,omitempty"`
	// Named are the files in the receipt about which nothing else is known.
	Named []string `json:"named,omitempty"`
	// Missing says why the changes are not known, or only partly; "" if they are.
	Missing string `json:"missing,omitempty"`
}

// OutcomeRunning is the outcome of a turn that has not ended.
const OutcomeRunning = "running"

// A NoTurnError reports that an agent had no turn for a message.
type NoTurnError struct {
	Agent, ID string // ID is "" if the agent had no turn at all
	To        string // the mailbox with the message; "" if it is unknown
}

func (e *NoTurnError) Error() string {
	if e.ID == "" {
		return e.Agent + " has had no turn yet"
	}
	return fmt.Sprintf("%s has had no turn for %s", e.Agent, e.ID)
}

// DiffOf returns what an agent changed. id is a turn, a message, also by part of its id, or a
// task, by the id of its first message; "" means the agent's newest turn. dir is the folder to
// which paths are relative. With full, patches of any length are included. The error is a
// [*NoTurnError], or one of [client.Client.Find].
func DiffOf(ctx context.Context, c *client.Client, dir, agent, id string, full bool) (*Diff, error) {
	d := differ{Client: c, dir: dir, agent: agent, full: full}
	var err error
	if d.records, err = c.Home.RecordsOf(agent); err != nil {
		return nil, fmt.Errorf("records of turns: %w", err)
	}
	out := &Diff{V: 1, Agent: agent, Turns: []TurnDiff{}}
	var turns []pastDiff
	if turns, out.ID, err = d.choose(id); err != nil {
		return nil, err
	}
	files := map[string]bool{}
	for _, t := range turns {
		td, err := d.turn(ctx, t)
		if err != nil {
			return nil, err
		}
		out.Turns = append(out.Turns, td)
		for _, f := range td.Files {
			files[f.Path] = true
			out.Added += f.Added
			out.Deleted += f.Deleted
		}
	}
	out.Files = len(files)
	return out, nil
}

// A differ finds the turns of one agent, and what they changed.
type differ struct {
	*client.Client
	dir, agent string
	full       bool
	records    []*journal.Record // of the agent, oldest first
}

// A pastDiff is a turn to show. Its record or its receipt may be missing, but not both.
type pastDiff struct {
	record  *journal.Record
	receipt *journal.Receipt // of the message, if this turn was its last
	subject string
}

// choose returns the turns that an id means, and the full id.
func (d *differ) choose(id string) ([]pastDiff, string, error) {
	if id == "" {
		if len(d.records) > 0 {
			return []pastDiff{d.past(d.records[len(d.records)-1])}, "", nil
		}
		h, err := HistoryOf(d.Client, d.agent, time.Time{}, 1)
		if err != nil {
			return nil, "", err
		}
		if len(h.Turns) == 0 || h.Turns[0].Receipt == nil {
			return nil, "", &NoTurnError{Agent: d.agent}
		}
		return []pastDiff{{receipt: h.Turns[0].Receipt, subject: h.Turns[0].Subject}}, "", nil
	}
	if i := slices.IndexFunc(d.records, func(r *journal.Record) bool { return r.Turn == id }); i >= 0 {
		return []pastDiff{d.past(d.records[i])}, id, nil
	}
	found, err := d.Find(id)
	if errors.Is(err, dropbox.ErrNotFound) { // the records may be kept longer than the message
		if turns := d.recorded(id, id); len(turns) > 0 {
			return turns, id, nil
		}
	}
	if err != nil {
		return nil, id, err
	}
	id = found.Entry.ID
	trace := id
	if m, err := d.Store.Load(found); err == nil {
		trace = cmp.Or(m.Trace, id)
	}
	receipt, _ := d.Receipt(found) // nil if there is none
	if receipt != nil && receipt.Into != "" && found.Mailbox == d.agent {
		return d.choose(receipt.Into) // an urgent message was handled in the turn of another
	}
	var turns []pastDiff
	switch {
	case id == trace:
		if turns, err = d.task(found, trace); err != nil {
			return nil, id, err
		}
	case found.Mailbox == d.agent:
		turns = d.recorded(id, "")
		if len(turns) == 0 && receipt != nil {
			turns = []pastDiff{{receipt: receipt, subject: d.subject(id)}}
		}
	default:
		turns = d.recorded("", trace)
	}
	if len(turns) == 0 {
		return nil, id, &NoTurnError{Agent: d.agent, ID: id, To: found.Mailbox}
	}
	return turns, id, nil
}

// recorded returns the recorded turns for a message or a trace.
func (d *differ) recorded(message, trace string) (turns []pastDiff) {
	for _, r := range d.records {
		if message != "" && r.Message == message || trace != "" && r.Trace == trace {
			turns = append(turns, d.past(r))
		}
	}
	return turns
}

// task returns the agent's turns in a task. The records of some may have been removed.
func (d *differ) task(found dropbox.Found, trace string) ([]pastDiff, error) {
	turns := d.recorded(found.Entry.ID, trace)
	known := map[string]bool{}
	for _, t := range turns {
		known[t.record.Message] = true
	}
	all, err := TraceOf(d.Client, found)
	if err != nil {
		return nil, err
	}
	for _, m := range all.Messages {
		if m.To == d.agent && m.Receipt != nil && m.Receipt.Into == "" && m.Receipt.Turn != "" && !known[m.ID] {
			turns = append(turns, pastDiff{receipt: m.Receipt, subject: m.Subject})
		}
	}
	slices.SortStableFunc(turns, func(a, b pastDiff) int { return a.began().Compare(b.began()) })
	return turns, nil
}

func (t pastDiff) began() time.Time {
	if t.record != nil {
		return t.record.Begun
	}
	if n := len(t.receipt.Attempts); n > 0 {
		return t.receipt.Attempts[n-1].Start
	}
	return t.receipt.Ended
}

// past adds what the message of a record tells.
func (d *differ) past(r *journal.Record) pastDiff {
	t := pastDiff{record: r, subject: d.subject(r.Message)}
	if found, err := d.Store.Find(r.Message); err == nil {
		if receipt, err := d.Receipt(found); err == nil && receipt.Turn == r.Turn {
			t.receipt = receipt
		}
	}
	return t
}

func (d *differ) subject(message string) string {
	found, err := d.Store.Find(message)
	if err != nil {
		return "" // removed
	}
	m, err := d.Store.Load(found)
	if err != nil {
		return ""
	}
	return m.Gist()
}

// turn returns what a turn changed.
func (d *differ) turn(ctx context.Context, p pastDiff) (TurnDiff, error) {
	t := p.head()
	hide := d.Home.Secrets().Redactor().Text
	t.Subject = hide(t.Subject)
	if t.Base != "" && t.Commit != "" {
		files, err := d.commitDiff(ctx, t.Base, t.Commit)
		if err == nil {
			t.Files = gitDiffs(files, hide, d.full)
			return t, nil
		}
		t.Missing = hide("git does not tell the changes: " + err.Error())
	}
	place := placeIn(d.dir)
	if err := d.read(p.record, &t, place, hide); err != nil {
		return t, err
	}
	if p.receipt == nil {
		return t, nil
	}
	for _, name := range p.receipt.Files {
		name = hide(place(name))
		if !slices.ContainsFunc(t.Files, func(f FileDiff) bool { return f.Path == name }) {
			t.Named = append(t.Named, name)
		}
	}
	return t, nil
}

// head returns everything but the changes.
func (p pastDiff) head() TurnDiff {
	t := TurnDiff{Subject: p.subject, Begun: p.began(), Files: []FileDiff{}}
	if r := p.record; r != nil {
		t.Turn, t.Message, t.Ended, t.Outcome = r.Turn, r.Message, r.Ended, string(r.End)
	}
	if r := p.receipt; r != nil {
		t.Turn, t.Message, t.Ended, t.Outcome = r.Turn, r.ID, r.Ended, r.Outcome
		t.Branch, t.Base, t.Commit = r.Branch, r.Base, r.Commit
	}
	if t.Outcome == "" {
		t.Outcome = "cut off"
		if p.record.Process.Alive() {
			t.Outcome = OutcomeRunning
		}
	}
	return t
}

// commitDiff asks git what changed from one commit to another.
func (d *differ) commitDiff(ctx context.Context, base, commit string) ([]git.FileDiff, error) {
	repo, err := git.Find(ctx, "", os.Environ(), d.dir)
	if err != nil {
		return nil, err
	}
	return repo.Diff(ctx, base, commit)
}

// notKept is the reason for a turn whose output was removed.
const notKept = "the recorded output of this turn is no longer kept (log.max_age_days, and at most 1,000 turns)"

// read reads the recorded output of a turn. rec may be nil.
func (d *differ) read(rec *journal.Record, t *TurnDiff, place, hide func(string) string) error {
	miss := func(why string) { t.Missing = strings.TrimPrefix(t.Missing+"; "+why, "; ") }
	switch {
	case rec == nil:
		miss(notKept)
		return nil
	case rec.Via == journal.ViaAttach:
		miss("the turn ran in a person's session, which is not recorded")
		return nil
	}
	kind := backends.Kind(rec.Backend)
	if kind == nil || kind.Recorded == nil {
		miss("its client " + rec.Backend + " is unknown")
		return nil
	}
	stream, err := rec.OpenStream(d.Home, d.records)
	if errors.Is(err, fs.ErrNotExist) {
		miss(notKept)
		return nil
	} else if err != nil {
		return err
	}
	defer stream.Close()
	work, err := kind.Recorded(stream)
	if err != nil {
		return fmt.Errorf("recorded output of %s: %w", rec.Turn, err)
	}
	t.Files = fileDiffs(work.Changes, place, hide, d.full)
	for _, other := range work.Others {
		t.Others = append(t.Others, hide(other))
	}
	if work.Unread > 0 {
		miss(fmt.Sprintf("%d lines of the recorded output could not be read", work.Unread))
	}
	return nil
}
