package view

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/screen"
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
func (s *taskScan) unfinished(f dropbox.Found) error {
	m, err := s.load(f)
	if m == nil || err != nil {
		return err
	}
	if !m.Type.Wakes() {
		return nil
	}
	p := TaskPart{ID: m.ID, Agent: f.Mailbox, State: TaskWaiting, Since: m.Created, Subject: m.Gist()}
	trace := m.Trace
	records, err := journal.Records(s.Home, m.ID, f.Entry.Begun)
	if err != nil {
		return err
	}
	var running *journal.Record
	for _, r := range records {
		// The daemon finds out to which task an unsigned message belongs when it claims it.
		trace, running = cmp.Or(r.Trace, trace), nil
		if r.End == "" {
			running = r
		}
	}
	t := s.of(trace)
	for _, r := range records {
		if r.End != "" && !s.booked[r.Turn] {
			t.turn(r.Agent, r.Ended, string(r.End), r.CostUSD, r.CostUnknown)
		}
	}
	if m.ID == trace {
		t.first = &f
	}
	switch f.State {
	case dropbox.Dead, dropbox.Refused:
		return s.lost(t, f, trace, p)
	case dropbox.Claimed:
		if ended, err := s.hasReceipt(f); ended || err != nil {
			t.involve(f.Mailbox) // the daemon is about to file it
			return err
		}
	}
	if taken, err := s.published(&p, f, m); taken || err != nil {
		return err
	}
	t.involve(p.Agent)
	s.now(t, f, running, &p)
	t.parts = append(t.parts, p)
	return nil
}

func (s *taskScan) hasReceipt(f dropbox.Found) (bool, error) {
	box, err := s.box(f)
	if err != nil {
		return false, err
	}
	return box.HasReceipt(f.Entry)
}

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
func (s *taskScan) published(p *TaskPart, f dropbox.Found, m *dropbox.Message) (taken bool, err error) {
	publication := f.Mailbox == s.Store.Topics().Name()
	if !publication && m.Offer == "" {
		return false, nil
	}
	by, err := s.ClaimedBy(cmp.Or(m.Offer, m.ID))
	switch {
	case err != nil:
		return false, err
	case publication && by == "":
		p.Agent, p.Why, p.Next = "", "nobody has claimed it on "+m.Topic, "claude-swarm claim "+p.ID+" --for AGENT"
	case publication:
		p.Agent, p.Why = by, by+" has claimed it"
		if by == dropbox.Lead {
			p.Next = "claude-swarm ack " + p.ID
		}
	default:
		return f.State == dropbox.Waiting && by != f.Mailbox, nil
	}
	return false, nil
}

// now says what a turn does with a part, or why the part waits.
func (s *taskScan) now(t *taskTrace, f dropbox.Found, running *journal.Record, p *TaskPart) {
	a, known := s.agent(p.Agent)
	mine := known && a.Message != nil && a.Message.ID == p.ID
	switch {
	case mine && a.State == swarm.Asking && a.Question != nil && strings.HasPrefix(a.Next, "claude-swarm "):
		p.State, p.Since, p.Why, p.Next = TaskAsking, a.Question.Since, a.Why, a.Next
		t.asked = append(t.asked, a.Question.ID)
		return
	case f.State == dropbox.Claimed && isAgent(f.Mailbox) && (mine || s.status.Daemon != nil || a.State == swarm.Away):
		p.State = TaskWorking
		if running != nil {
			p.Since = running.Begun.UTC()
		}
		return
	case t.capped != "":
		p.State, p.Why, p.Next = TaskParked, t.capWhy, t.capped
	case s.status.Halted:
		p.Why, p.Next = cmp.Or(s.status.Reason, "the swarm is halted"), "claude-swarm unhalt"
	case !isAgent(p.Agent): // nobody has claimed it, or the person has
	case !known:
		p.Why, p.Next = p.Agent+" is not in the configuration", "claude-swarm remove "+p.Agent
	default:
		if held := HoldupOf(a); held != nil {
			p.Why, p.Next = held.Why, held.Next
			if held.State == swarm.Parked {
				p.State = TaskParked
			}
		}
	}
}

func (s *taskScan) agent(name string) (swarm.AgentStatus, bool) {
	i := slices.IndexFunc(s.status.Agents, func(a swarm.AgentStatus) bool { return a.Name == name })
	if i < 0 {
		return swarm.AgentStatus{}, false
	}
	return s.status.Agents[i], true
}

// caps notes the tasks that are at their cap.
func (s *taskScan) caps() {
	if s.status.Budget == nil {
		return
	}
	for _, row := range s.status.Budget.Scopes {
		trace, ok := strings.CutPrefix(row.Scope, "task.")
		if !ok || len(row.Full) == 0 {
			continue
		}
		amount := "1"
		switch unit := row.Full[0]; {
		case unit == "usd" && row.Cap.USD != nil:
			amount = strconv.FormatFloat(*row.Cap.USD, 'f', -1, 64)
		case unit == "turns" && row.Cap.Turns != nil:
			amount = strconv.Itoa(*row.Cap.Turns) + "turns"
		case row.Cap.Seconds != nil:
			amount = (time.Duration(*row.Cap.Seconds) * time.Second).String()
		}
		t := s.of(trace)
		t.capWhy, t.capped = "the task is at its cap", "claude-swarm budget raise "+row.Scope+" "+amount
	}
}

// lost notes a message that was given up or refused. A message that was taken back while it
// waited counts only if it is the one of the person.
func (s *taskScan) lost(t *taskTrace, f dropbox.Found, trace string, p TaskPart) error {
	reasons := s.reasons[string(f.State)+"/"+f.Mailbox]
	if reasons == nil {
		var err error
		if reasons, err = s.reasonsIn(f); err != nil {
			return err
		}
		s.reasons[string(f.State)+"/"+f.Mailbox] = reasons
	}
	p.Why = firstLineOf(cmp.Or(reasons[p.ID], NoReason))
	p.State, p.Next = TaskFailed, "claude-swarm dead retry "+p.ID
	if f.State == dropbox.Refused {
		p.Next = "claude-swarm refused retry " + p.ID
	}
	if p.ID == trace {
		p.State = TaskGivenUp
	} else if p.Why == dropbox.CancelReason {
		return nil
	}
	if f.Mailbox == s.Store.Topics().Name() {
		p.Agent = ""
	}
	t.involve(p.Agent)
	t.parts = append(t.parts, p)
	return nil
}

func firstLineOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// reasonsIn reads why the dead letters or the refused messages of a mailbox are there.
func (s *taskScan) reasonsIn(f dropbox.Found) (map[string]string, error) {
	all := map[string]string{}
	box, err := s.box(f)
	if errors.Is(err, dropbox.ErrNoMailbox) {
		return all, nil // refused mail of an agent whose mailbox has been removed
	} else if err != nil {
		return nil, err
	}
	if f.State == dropbox.Refused {
		list, err := box.Refusals().List()
		for _, r := range list {
			all[r.ID] = r.Reason
		}
		return all, err
	}
	list, err := box.DeadLetters().List()
	for _, d := range list {
		all[d.ID] = d.Reason
	}
	return all, err
}

// forPerson notes a question or a result in the lead's mailbox.
func (s *taskScan) forPerson(f dropbox.Found) error {
	m, err := s.load(f)
	if m == nil || err != nil {
		return err
	}
	t := s.traces[m.Trace]
	if t == nil || !isAgent(m.From) {
		return nil // it belongs to no task, or the daemon sent it
	}
	switch m.Type {
	case dropbox.Result:
		if m.Created.After(t.resultAt) {
			t.result, t.resultAt = m.ID, m.Created
		}
	case dropbox.Question:
		if !slices.Contains(t.asked, m.ID) && s.answerable(m) {
			t.involve(m.From)
			t.parts = append(t.parts, TaskPart{
				ID: m.ID, Agent: m.From, State: TaskAsking, Since: m.Created, Subject: m.Gist(),
				Why: m.From + " asks: " + screen.Short(m.Gist(), maxAskedText), Next: "claude-swarm reply " + m.ID + ` "…"`,
			})
		}
	}
	return nil
}

// maxAskedText is the maximum width, in columns, of a question in the reason why a task waits.
const maxAskedText = 100

// answerable reports whether the agent that asked still needs the answer. A turn that no longer
// waits went on without it, unless it paused its agent.
func (s *taskScan) answerable(m *dropbox.Message) bool {
	if m.Turn == "" {
		return true
	}
	for _, a := range s.Home.Asks(m.Turn).All() {
		if a.ID == m.ID {
			return !a.Over || a.Late == client.AtPause
		}
	}
	return true
}

// task returns the task of a trace, without what its first message says.
func (s *taskScan) task(id string, found *taskTrace) (Task, error) {
	t := Task{
		ID: id, State: found.state(), Agents: append([]string{}, found.agents...), Since: found.ended.UTC(),
		CostUSD: found.usd, CostUnknown: found.unknown, Turns: found.turns, Failed: found.failed, Result: found.result, Parts: found.parts,
		Branch: found.branch, Verified: found.verified(),
	}
	slices.SortStableFunc(t.Parts, func(a, b TaskPart) int {
		states := TaskStates()
		return cmp.Or(slices.Index(states, a.State)-slices.Index(states, b.State), a.Since.Compare(b.Since), strings.Compare(a.ID, b.ID))
	})
	slices.Sort(t.Agents)
	t.Agent = found.last
	if len(t.Parts) > 0 && t.Parts[0].State == t.State {
		first := t.Parts[0]
		t.Agent, t.Why, t.Next = first.Agent, first.Why, first.Next
		if t.State.IsOpen() || t.Since.IsZero() {
			t.Since = first.Since
		}
	}
	if t.Since.IsZero() && found.first != nil {
		t.Since = found.first.Entry.Created // it was filed by hand before any turn
	}
	if s.Me.Name != dropbox.Lead {
		t.hide(s.Client)
		return t, nil
	}
	switch {
	case t.State == TaskFailed && t.Why == "" && found.word == journal.WorkFailed:
		t.Why, t.Next = "its verifiers are red", "claude-swarm diff "+t.Agent+" "+id
	case t.State == TaskVerified && found.undone != "": // git would not merge the same commits again
		t.Why, t.Next = "its merge was taken back", "git revert "+found.undone[:min(12, len(found.undone))]
	case t.State == TaskVerified:
		t.Next = "claude-swarm merge " + merge.NameOf(t.Branch)
	case t.State == TaskFailed && t.Why == "":
		t.Why, t.Next = "nothing was permitted", "claude-swarm trace "+id
	case t.State == TaskUnverified && t.Result != "":
		t.Next = "claude-swarm read " + t.Result
	}
	return t, nil
}

// hide removes what an agent may not see of a task: the text of other agents' mail, and the
// commands, which are for people.
func (t *Task) hide(c *client.Client) {
	t.Result, t.Next = "", ""
	for i := range t.Parts {
		p := &t.Parts[i]
		p.Next = ""
		if c.MaySee(p.Agent) == nil {
			continue
		}
		p.Subject = ""
		if !p.State.IsOpen() || p.State == TaskAsking {
			p.Why = "" // it quotes the mail
		}
	}
	t.Why = ""
	if len(t.Parts) > 0 && t.Parts[0].State == t.State {
		t.Why = t.Parts[0].Why
	}
}

// begin adds what the first message of a task says. ok is false if the trace does not begin
// with a message from a person that asks for something.
func (s *taskScan) begin(t *Task, found *taskTrace) (ok bool, err error) {
	byPerson := func(from string) bool { return from == dropbox.Lead || dropbox.IsBridge(from) }
	if found.from != "" && !byPerson(found.from) {
		return false, nil
	}
	if found.first == nil {
		if f, err := s.Store.Find(t.ID); err == nil {
			found.first = &f
		} else if !errors.Is(err, dropbox.ErrNotFound) {
			return false, err
		}
	}
	t.By, t.Subject, t.Asked = found.from, found.subject, found.began
	if found.first == nil {
		return t.By != "", nil // the message has been removed, but the ledger names it
	}
	t.Asked = found.first.Entry.Created
	m, err := s.Store.Load(*found.first)
	if errors.Is(err, dropbox.ErrGone) { // it has moved since
		m, err = s.Store.Message(t.ID)
	}
	switch {
	case errors.Is(err, dropbox.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, dropbox.ErrInvalid), errors.Is(err, dropbox.ErrTooLarge):
		return t.By != "", nil
	case err != nil:
		return false, err
	}
	if !byPerson(m.From) || m.Turn != "" || m.Type == dropbox.Result || !m.Type.Wakes() {
		return false, nil
	}
	t.By, t.Subject, t.Asked = m.From, m.Gist(), m.Created
	if dropbox.IsBridge(m.From) {
		if n, ok := bridge.OriginOf(m, m.From); ok {
			t.Nick = n.Nick
		}
	}
	return true, nil
}
