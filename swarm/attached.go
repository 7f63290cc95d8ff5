package swarm

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// An Attached does the mail of an agent whose session a person runs: what the
// daemon does for the others, the hooks of that session's client do by it. The
// order at a good end is the daemon's: the receipt beside the message in cur/ is
// the commit point. It belongs to one goroutine; hooks that run at the same time
// wait for each other by a lock.
type Attached struct {
	agent *agent
}

// OpenAttached is ready to do the mail of an agent. gate is asked about every
// message that is claimed, as the daemon does; nil stops loops alone. The caller
// closes the Attached, and the store.
func OpenAttached(home Home, store *dropbox.Store, name string, gate Gate, log *slog.Logger) (*Attached, error) {
	tokens, err := home.Tokens(name)
	if err != nil {
		return nil, err
	}
	if err := home.Make(); err != nil {
		return nil, err
	}
	if err := store.MakeMailbox(name); err != nil {
		return nil, err
	}
	box, err := store.Mailbox(name)
	if err != nil {
		return nil, err
	}
	// As much of the daemon as the mail of one agent needs: nobody listens, and the
	// lead is the person.
	h := &house{
		home: home, store: store, log: log, gate: gate, books: &books{tokens: tokens},
		feed: new(feed), trouble: new(trouble), plan: func() Plan { return Plan{} },
	}
	a := &agent{house: h, name: name, box: box, log: log}
	a.diary = newDiary(home, name, LogPolicy{}, h.feed, func(err error) { log.Warn("diary", keyErr, err) })
	return &Attached{agent: a}, nil
}

// Close lets the agent's log go.
func (s *Attached) Close() { s.agent.diary.close() }

// A StopEvent is what the client tells its Stop hook.
type StopEvent struct {
	PID     int    // of the hook
	Session string // the client's
	Active  bool   // the turn that ends was itself begun by a Stop hook
	Last    string // what the assistant said last

	// Continue gives the next message to the session at once; else its person is
	// only told that there is mail.
	Continue bool
	// Cap is how many turns in a row may be begun so. The client ignores the hook
	// above its own cap, and a message that it ignored would be lost from sight.
	Cap int
}

// A StopReply is what the hook answers.
type StopReply struct {
	Prompt string // the session is to go on with this; "" for nothing
	Notice string // a line for the person; "" for nothing
}

// Begin binds a session to the agent: from now on it gets its mail. What an
// earlier session left is put back. While another one runs, it keeps the mail, and
// the notice says so.
func (s *Attached) Begin(pid int, session string) (notice string, err error) {
	unlock, err := s.agent.home.lockBinding(s.agent.name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	b, other, err := s.bind(pid, session)
	if err != nil || other != nil {
		return s.taken(other), err
	}
	if b.Message == "" {
		if err := s.putBackLeft(); err != nil {
			return "", err
		}
	}
	n, err := s.waiting()
	if n > 0 {
		notice = fmt.Sprintf("%s has mail: %s waiting.", s.agent.name, messages(n))
	}
	return notice, err
}

func (s *Attached) taken(other *Binding) string {
	if other == nil {
		return ""
	}
	return fmt.Sprintf("%s is attached to another session (pid %d), which gets its mail.", s.agent.name, other.Process.PID)
}

// bind returns the binding of the client that called the hook. Where another
// client has the agent and lives, it returns that one's as other.
func (s *Attached) bind(pid int, session string) (b, other *Binding, err error) {
	client, err := clientAbove(pid)
	if err != nil {
		return nil, nil, err
	}
	have, err := s.agent.home.lastBinding(s.agent.name)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case have != nil && have.Process == client:
		b = have
	case have != nil && have.Process.Alive():
		return nil, have, nil
	default:
		b = &Binding{Agent: s.agent.name, Process: client, Since: time.Now().UTC()}
		if err := s.putBackLeft(); err != nil {
			return nil, nil, err
		}
	}
	b.Session = session
	return b, nil, b.write(s.agent.home)
}

// Stop is the end of a turn of the session. The message that it worked on is done:
// receipt, answer, filed. Then comes the next one, within the cap.
func (s *Attached) Stop(ev StopEvent) (reply StopReply, err error) {
	unlock, err := s.agent.home.lockBinding(s.agent.name)
	if err != nil {
		return reply, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	b, other, err := s.bind(ev.PID, ev.Session)
	if err != nil || other != nil {
		return reply, err
	}
	if b.Message != "" {
		// A turn that the person began ends without our having begun it: the one
		// that worked on the message was broken off.
		done := ev.Active || b.Asked
		if err := s.settle(b, ev.Last, done); err != nil {
			return reply, err
		}
	}
	if !ev.Active {
		b.Blocks = 0
	}
	if ev.Continue && b.Blocks < ev.Cap {
		if reply.Prompt, err = s.next(b); err != nil {
			return reply, err
		}
		if reply.Prompt != "" {
			b.Blocks++
			return reply, b.write(s.agent.home)
		}
	}
	n, err := s.waiting()
	if n > 0 {
		reply.Notice = fmt.Sprintf("%s has mail: %s waiting. Type /inbox.", s.agent.name, messages(n))
	}
	return reply, errors.Join(err, b.write(s.agent.home))
}

// Fetch gives the person's session its next message, as a prompt; "" when nothing
// waits. The end of the turn files it. Where no Stop hook runs that would tell of
// the end, fileLast files the one that was fetched before.
func (s *Attached) Fetch(pid int, session string, fileLast bool) (prompt string, err error) {
	unlock, err := s.agent.home.lockBinding(s.agent.name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	b, other, err := s.bind(pid, session)
	if err != nil {
		return "", err
	}
	if other != nil {
		return "", errors.New(s.taken(other))
	}
	if b.Message != "" {
		if err := s.settle(b, "", fileLast && b.Asked); err != nil {
			return "", err
		}
	}
	if prompt, err = s.next(b); err != nil || prompt == "" {
		return "", errors.Join(err, b.write(s.agent.home))
	}
	b.Asked = true
	return prompt, b.write(s.agent.home)
}

// End is the end of the session: what it did not finish waits again.
func (s *Attached) End(pid int) (err error) {
	unlock, err := s.agent.home.lockBinding(s.agent.name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	b, err := s.agent.home.lastBinding(s.agent.name)
	if b == nil || err != nil {
		return err
	}
	if client, err := clientAbove(pid); err != nil || client != b.Process {
		return err
	}
	return errors.Join(s.putBackLeft(), os.Remove(s.agent.home.bindingFile(s.agent.name)))
}

// next claims the message that is first in line, and what rides along with it.
func (s *Attached) next(b *Binding) (string, error) {
	entries, err := s.agent.box.List()
	if err != nil {
		return "", err
	}
	var notes []*dropbox.Claim
	for _, e := range entries {
		if m, err := s.agent.box.Read(e); err == nil && !m.Type.Wakes() {
			continue
		}
		c, err := s.agent.box.Claim(e)
		switch {
		case errors.Is(err, dropbox.ErrGone):
			continue
		case errors.Is(err, dropbox.ErrHalted):
			return "", nil
		case err != nil:
			return "", err
		}
		if why := s.unfit(c); why != "" {
			if err := s.agent.bury(c, why); err != nil {
				return "", err
			}
			continue
		}
		if refused, err := s.agent.gated(c); err != nil {
			return "", err
		} else if refused {
			continue
		}
		if notes, err = s.notes(entries); err != nil {
			return "", err
		}
		return s.begin(b, c, notes)
	}
	return "", nil
}

// unfit says why a message cannot be worked on; "" when it can.
func (s *Attached) unfit(c *dropbox.Claim) string {
	switch {
	case c.Bad != nil:
		return c.Bad.Error()
	case c.Message.Expired(time.Now()):
		return "expired"
	case c.Begun > maxBegun:
		return fmt.Sprintf("begun %d times without an end", maxBegun)
	}
	return ""
}

// maxRiders bounds what rides along with one message.
const maxRiders = 10

func (s *Attached) notes(entries []dropbox.Entry) (notes []*dropbox.Claim, err error) {
	for _, e := range entries {
		m, err := s.agent.box.Read(e)
		if err != nil || m.Type.Wakes() || len(notes) == maxRiders {
			continue
		}
		c, err := s.agent.box.Claim(e)
		if err == nil && c.Bad == nil {
			notes = append(notes, c)
		} else if err != nil && !errors.Is(err, dropbox.ErrGone) {
			return notes, err
		}
	}
	return notes, nil
}

// begin writes down that the session works on a message, and makes its prompt.
func (s *Attached) begin(b *Binding, c *dropbox.Claim, notes []*dropbox.Claim) (string, error) {
	m := c.Message
	p := prompt{Agent: s.agent.name, Tools: true, Message: letter{Message: m, Proven: s.agent.proves(m), Via: viaMailbox}}
	rec := &record{
		Turn: turnID(m.ID, c.Begun, 0), Agent: s.agent.name, Message: m.ID, Thread: orElse(m.Thread, m.ID), Trace: orElse(m.Trace, m.ID),
		Hops: m.Hops, Path: m.Path, Session: b.Session, Begun: time.Now().UTC(),
	}
	if c.Begun > 1 {
		if old, err := readRecord(s.agent.home, turnID(m.ID, c.Begun-1, 0)); err == nil {
			p.CutOff = later(old.Begun, old.Ended)
		}
	}
	for _, n := range notes {
		p.Notes = append(p.Notes, letter{Message: n.Message, Proven: s.agent.proves(n.Message), Via: viaMailbox})
		rec.Notes = append(rec.Notes, n.ID)
	}
	if err := rec.write(s.agent.home); err != nil {
		return "", err
	}
	b.Message, b.Turn, b.Notes, b.Asked = m.ID, rec.Turn, rec.Notes, false
	return p.text(randomMark), b.write(s.agent.home)
}

// settle ends the work on a message: well, or broken off, and then it waits again.
func (s *Attached) settle(b *Binding, last string, done bool) error {
	if !done {
		b.Message, b.Turn, b.Notes = "", "", nil
		return s.putBackLeft()
	}
	claimed, err := s.agent.box.Claimed()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(claimed, func(e dropbox.Entry) bool { return e.ID == b.Message })
	if i >= 0 { // else a person took it away meanwhile
		if err := s.commit(claimed[i], b, last); err != nil {
			return fmt.Errorf("message %s: %w", b.Message, err)
		}
	}
	b.Message, b.Turn, b.Notes = "", "", nil
	return s.putBackLeft()
}

func (s *Attached) commit(e dropbox.Entry, b *Binding, last string) error {
	a := s.agent
	c, err := a.box.Open(e)
	if err != nil || c.Message == nil {
		return errors.Join(err, c.Bad)
	}
	begun := time.Now().UTC()
	if rec, err := readRecord(a.home, b.Turn); err == nil {
		begun = rec.Begun
	}
	now := time.Now().UTC()
	r := &Receipt{
		ID: e.ID, Turn: b.Turn, Agent: a.name, Backend: "claude", Session: b.Session, Via: viaMailbox, Proven: a.proves(c.Message),
		Outcome: string(runner.Done), Ended: now, Notes: b.Notes, Text: cut(last, 4096),
		Attempts: []Attempt{{Start: begun, End: now, Outcome: string(runner.Done)}},
	}
	sent, err := sentIn(a.home, b.Turn)
	if err != nil {
		return err
	}
	for _, n := range sent {
		r.Sent = append(r.Sent, n.ID)
	}
	r.Answer = a.owed(c.Message, r, sent, runner.Outcome{Text: last})
	data, err := r.Encode()
	if err != nil {
		return err
	}
	if err := a.box.Commit(e, data); err != nil {
		return err
	}
	return s.finish(e, c.Message, r)
}

// finish does what is left after the commit point. It is harmless to repeat. The
// ledger gets its line from the receipt at the daemon's next start.
func (s *Attached) finish(e dropbox.Entry, m *dropbox.Message, r *Receipt) error {
	a := s.agent
	if err := s.fileNotes(r); err != nil {
		return err
	}
	if _, err := a.answer(m, r); err != nil {
		return err
	}
	if err := a.closeOffer(m, r); err != nil {
		return err
	}
	return a.box.Finish(e)
}

func (s *Attached) fileNotes(r *Receipt) error {
	claimed, err := s.agent.box.Claimed()
	if err != nil {
		return err
	}
	for _, e := range claimed {
		if !slices.Contains(r.Notes, e.ID) {
			continue
		}
		data, err := (&Receipt{ID: e.ID, Turn: r.Turn, Agent: r.Agent, Via: viaMailbox, Outcome: "rode along", Ended: r.Ended}).Encode()
		if err == nil {
			err = s.agent.box.Commit(e, data)
		}
		if err == nil {
			err = s.agent.box.Finish(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// putBackLeft finishes what has a receipt in cur/, and puts the rest back: nothing
// of this agent is being worked on.
func (s *Attached) putBackLeft() error {
	box := s.agent.box
	committed, err := box.Receipts()
	if err != nil {
		return err
	}
	for _, e := range committed {
		if err := s.finishLeft(e); err != nil {
			return err
		}
	}
	claimed, err := box.Claimed()
	if err != nil {
		return err
	}
	for _, e := range claimed {
		if _, err := box.PutBack(e, false); err != nil && !errors.Is(err, dropbox.ErrGone) {
			return err
		}
	}
	return nil
}

func (s *Attached) finishLeft(e dropbox.Entry) error {
	if e.Name == "" {
		return s.agent.box.Finish(e)
	}
	data, err := s.agent.box.Receipt(e)
	if err != nil {
		return err
	}
	r, err := ParseReceipt(data)
	if err != nil {
		return err
	}
	c, err := s.agent.box.Open(e)
	if err != nil {
		return err
	}
	if c.Message == nil || r.Outcome != string(runner.Done) {
		return s.agent.box.Finish(e)
	}
	return s.finish(e, c.Message, r)
}

func (s *Attached) waiting() (int, error) {
	entries, err := s.agent.box.Peek()
	return len(entries), err
}

func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}

// attachedStatus says which session does the mail of an attached agent, and what
// to do where none does.
func attachedStatus(home Home, name string) (why, next string) {
	if b, err := home.BindingOf(name); err == nil && b != nil {
		return fmt.Sprintf("a session of your own does its mail: pid %d", b.Process.PID), ""
	}
	return "no session of your own is attached as " + name, "claude-swarm attach --as " + name
}
