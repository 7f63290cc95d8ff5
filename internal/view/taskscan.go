package view

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/merge"
)

// A taskScan collects what the files say about each trace.

type taskScan struct {
	*client.Client
	status swarm.Status
	since  time.Time // finished messages that were filed before need not be opened

	traces  map[string]*taskTrace
	booked  map[string]bool              // the turns in the ledger
	settled map[string]bool              // the messages whose turn ended well, by the ledger
	reasons map[string]map[string]string // why messages were given up, by mailbox and id
}

// A taskTrace is what a scan has found about one trace.

type taskTrace struct {
	taskFacts
	agents         []string  // who worked on it or has a message of it
	last           string    // the agent of its last turn
	began, ended   time.Time // when its first and its last turn ended
	usd            float64
	turns, failed  int
	unknown        int            // turns whose cost is unknown
	from, subject  string         // of the first message, by the ledger
	first          *dropbox.Found // the first message, if the scan has seen it
	result         string         // the newest result in the lead's mailbox
	resultAt       time.Time
	asked          []string // the questions for whose answer a running turn waits
	branch, commit string   // of its last turn in a working tree, if possible one with verifiers
	undone         string   // the commit that took its merge back, or ""
	capped, capWhy string   // the command that raises its cap, and why
}

func (s *taskScan) of(trace string) *taskTrace {
	t := s.traces[trace]
	if t == nil {
		t = &taskTrace{}
		s.traces[trace] = t
	}
	return t
}

func (t *taskTrace) involve(agent string) {
	if agent != "" && !slices.Contains(t.agents, agent) {
		t.agents = append(t.agents, agent)
	}
}

// read reads the ledger first: a message that is finished during the scan is then seen as one

// that the ledger does not name, and not twice.

func (s *taskScan) read() error {
	err := journal.ReadLedger(s.Home.Ledger(), func(l journal.LedgerLine) bool {
		trace := cmp.Or(l.Trace, l.Message)
		if trace == "" {
			return true // a turn of the supervisor, or a compaction
		}
		t := s.of(trace)
		s.booked[l.Turn] = true
		if l.Outcome == journal.OutcomeUnbooked {
			t.usd += l.CostUSD
			return true
		}
		t.turn(l.Agent, l.At, l.Outcome, l.CostUSD, l.IsCostUnknown())
		t.judged(l)
		if journal.EndedWell(l.Outcome) {
			s.settled[l.Message] = true
		}
		if l.Message == trace {
			t.from, t.subject = l.From, l.Subject
			t.denied = l.Outcome == OutcomeRefused
		}
		return true
	})
	if err != nil {
		return err
	}
	s.caps()
	if err := s.merges(); err != nil {
		return err
	}
	seen := map[string]dropbox.Found{} // unfinished and lost messages, at the place where the scan saw them last
	for f, err := range s.Store.All() {
		if err != nil {
			return err
		}
		if err := s.see(f, seen); err != nil {
			return err
		}
	}
	for _, f := range seen {
		if f.Mailbox != dropbox.Lead {
			if err := s.unfinished(f); err != nil {
				return err
			}
		}
	}
	for _, f := range seen { // now all traces are known
		if f.Mailbox == dropbox.Lead {
			if err := s.forPerson(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// judged notes the branch and the verification of a turn. A turn without verifiers does not take

// away the proof of another agent's branch, and one that committed nothing not that of the commit.

func (t *taskTrace) judged(l journal.LedgerLine) {
	same := l.Branch == t.branch && l.Commit == t.commit
	switch {
	case l.Branch == "", t.word != "" && l.Verified == "" && l.Branch != t.branch, t.word != "" && same && l.Verified != journal.WorkVerified:
		return
	}
	t.branch, t.commit, t.word = l.Branch, l.Commit, l.Verified
}

// merges notes the tasks whose last commit a person merged, and whether they took that back.

func (s *taskScan) merges() error {
	all, err := merge.List(s.Home.MergeDir())
	if err != nil {
		return err
	}
	undone := map[string]string{} // what took the merge of a commit back, or ""
	for _, m := range all {
		if m.State == merge.Merged && m.Undoes == "" {
			undone[m.Commit] = m.Undone
		}
	}
	for _, t := range s.traces {
		if by, merged := undone[t.commit]; merged && t.commit != "" {
			t.merged, t.undone = by == "", by
		}
	}
	return nil
}

// isAgent reports whether a mailbox belongs to an agent.

func isAgent(mailbox string) bool { return dropbox.CheckAgent(mailbox) == nil }

// turn adds a turn that has ended.

func (t *taskTrace) turn(agent string, at time.Time, outcome string, usd float64, unknown bool) {
	t.involve(agent)
	t.turns++
	t.usd += usd
	if unknown {
		t.unknown++
	}
	if !journal.EndedWell(outcome) {
		t.failed++
	}
	t.end(agent, at)
}

// end notes when an agent ended a turn.

func (t *taskTrace) end(agent string, at time.Time) {
	if t.began.IsZero() || at.Before(t.began) {
		t.began = at
	}
	if !at.Before(t.ended) {
		t.ended, t.last = at, agent
	}
}

// see notes a message by its place, and opens a finished one only if the ledger does not name

// it. A message that moves during the scan is seen again at its new place.

func (s *taskScan) see(f dropbox.Found, seen map[string]dropbox.Found) error {
	id := f.Entry.ID
	person := f.Mailbox == dropbox.Lead
	if !person && !isAgent(f.Mailbox) && f.Mailbox != s.Store.Topics().Name() {
		return nil // a bridge, or another program
	}
	if f.State != dropbox.Done {
		if !person || f.State == dropbox.Waiting || f.State == dropbox.Claimed {
			seen[id] = f
		}
		return nil
	}
	delete(seen, id)
	if t := s.traces[id]; t != nil {
		t.first = &f
	}
	if person || s.settled[id] || f.Day < s.since.UTC().Format(time.DateOnly) {
		return nil
	}
	m, err := s.load(f)
	if m == nil || err != nil || !m.Type.Wakes() || m.Type == dropbox.Result && f.Mailbox == s.Store.Topics().Name() {
		return err
	}
	t := s.of(m.Trace)
	if m.ID == m.Trace {
		t.first = &f
	}
	return s.unbooked(t, f, m)
}

// unbooked adds the turns of a finished message that are not in the ledger, from its receipt. A

// message without one was filed by hand, or another agent took the work that it offers.

func (s *taskScan) unbooked(t *taskTrace, f dropbox.Found, m *dropbox.Message) error {
	box, err := s.box(f)
	if err != nil {
		return err
	}
	data, err := box.Receipt(f.Entry)
	if errors.Is(err, dropbox.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	r, err := journal.ParseReceipt(data)
	if err != nil || r.Turn == "" && m.Offer != "" { // damaged; or another agent took the work
		return nil
	}
	if m.ID == m.Trace {
		t.denied = r.Outcome == OutcomeRefused
	}
	if r.Into != "" || s.booked[r.Turn] || len(r.Attempts) == 0 {
		if isAgent(r.Agent) && r.Turn != "" {
			t.involve(r.Agent)
		}
		t.end(r.Agent, r.Ended)
		return nil
	}
	for i, a := range r.Attempts {
		if last := i == len(r.Attempts)-1; !last && s.booked[journal.TurnID(m.ID, i+1, 0)] {
			continue
		} else if last {
			a.End = r.Ended
			a.CostUnknown = a.CostUnknown || r.Attached
		}
		t.turn(r.Agent, a.End, a.Outcome, a.CostUSD, a.CostUnknown)
	}
	return nil
}

// load opens a message. It returns nil for a file that is not a message, or that has moved.

func (s *taskScan) load(f dropbox.Found) (*dropbox.Message, error) {
	m, err := s.Store.Load(f)
	if errors.Is(err, dropbox.ErrGone) || errors.Is(err, dropbox.ErrInvalid) || errors.Is(err, dropbox.ErrTooLarge) {
		return nil, nil
	}
	return m, err
}

// unfinished notes a message that waits, that a turn works on, or that was given up.

// box opens the mailbox of a message, or the publications.

func (s *taskScan) box(f dropbox.Found) (*dropbox.Mailbox, error) {
	if f.Mailbox == s.Store.Topics().Name() {
		return s.Store.Topics(), nil
	}
	return s.Store.Mailbox(f.Mailbox)
}

// published corrects a part that is published work or an offer of it. taken reports that the

// part is not one: an agent that has claimed the work does it, and the publication counts until

// then.

// now says what a turn does with a part, or why the part waits.

// caps notes the tasks that are at their cap.

// lost notes a message that was given up or refused. A message that was taken back while it

// waited counts only if it is the one of the person.

// reasonsIn reads why the dead letters or the refused messages of a mailbox are there.

// forPerson notes a question or a result in the lead's mailbox.

// maxAskedText is the maximum width, in columns, of a question in the reason why a task waits.

// answerable reports whether the agent that asked still needs the answer. A turn that no longer

// waits went on without it, unless it paused its agent.

// task returns the task of a trace, without what its first message says.

// hide removes what an agent may not see of a task: the text of other agents' mail, and the

// commands, which are for people.

// begin adds what the first message of a task says. ok is false if the trace does not begin

// with a message from a person that asks for something.
