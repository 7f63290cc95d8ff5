package mail

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// next claims the first message that a turn may work on, and the notes for its prompt. It
// returns the prompt, or "" if there is no such message.
func (s *Attached) next(b *journal.Binding, request string) (string, error) {
	entries, err := s.mail.Box.List()
	if err != nil {
		return "", err
	}
	draining, err := s.draining()
	if err != nil {
		return "", err
	}
	depends := NewDependencies(s.mail.Store)
	var notes []*dropbox.Claim
	for _, e := range entries {
		if m, err := s.mail.Box.Read(e); err == nil && !m.Type.Wakes() {
			continue
		} else if err == nil && draining != "" {
			begun, err := s.mail.Home.TaskBegun(cmp.Or(m.Trace, m.ID))
			if err != nil {
				return "", err
			} else if !begun {
				continue
			}
		}
		if m, err := s.mail.Box.Read(e); err == nil && len(m.DependsOn) > 0 {
			waits, err := depends.Of(m, 0)
			if err != nil {
				return "", err
			} else if waits != nil {
				continue
			}
		}
		s.mail.NoteArrival(e)
		c, err := s.mail.Box.Claim(e)
		switch {
		case errors.Is(err, dropbox.ErrGone):
			continue
		case errors.Is(err, dropbox.ErrHalted):
			return "", nil
		case err != nil:
			return "", err
		}
		j := &Job{Claim: c}
		if refused, err := s.mail.Refuse(j); err != nil {
			return "", err
		} else if refused {
			continue
		}
		if notes, err = s.notes(entries); err != nil {
			return "", err
		}
		return s.begin(b, j, notes, request)
	}
	return "", nil
}

// notes claims the notes for the prompt.
func (s *Attached) notes(entries []dropbox.Entry) (notes []*dropbox.Claim, err error) {
	size := 0
	for _, e := range entries {
		m, err := s.mail.Box.Read(e)
		if err != nil || m.Type.Wakes() || len(notes) == maxNotes || size+len(m.Body) > maxNoteSize && len(notes) > 0 {
			continue
		}
		s.mail.NoteArrival(e)
		c, err := s.mail.Box.Claim(e)
		switch {
		case errors.Is(err, dropbox.ErrGone):
			continue
		case errors.Is(err, dropbox.ErrHalted): // HALT appeared after the message was claimed
			return notes, nil
		case err != nil:
			return notes, err
		}
		if skipped, err := s.mail.skip(c); err != nil {
			return notes, err
		} else if skipped {
			continue
		}
		size += len(m.Body)
		notes = append(notes, c)
	}
	return notes, nil
}

// begin records that the session is working on a message, and returns the message's
// prompt.
func (s *Attached) begin(b *journal.Binding, j *Job, notes []*dropbox.Claim, request string) (string, error) {
	c, m := j.Claim, j.Claim.Message
	j.Notes, j.Via = notes, ViaMailbox
	p := s.mail.Prompt(j)
	p.Tools, p.Request = true, request
	if s.advise != nil {
		p.Advice = s.advise()
	}
	rec := &journal.Record{
		Turn: journal.TurnID(m.ID, c.Begun, 0), Agent: s.mail.Name, Message: m.ID, Thread: cmp.Or(m.Thread, m.ID), Trace: cmp.Or(m.Trace, m.ID),
		Hops: m.Hops, Path: m.Path, Session: b.Session, Via: journal.ViaAttach, Begun: time.Now().UTC(),
	}
	for _, n := range notes {
		rec.Notes = append(rec.Notes, n.ID)
	}
	if err := rec.Write(s.mail.Home); err != nil {
		return "", err
	}
	b.Message, b.Turn, b.Notes, b.Asked, b.Prompt = m.ID, rec.Turn, rec.Notes, false, b.Latest
	b.Before, b.Awaits = b.Tasks, false
	if err := b.Write(s.mail.Home); err != nil {
		return "", err
	}
	s.mail.Begun(m)
	return p.Text(), nil
}

// settle ends the work on a message. If done is true, the message is filed with its
// receipt. Otherwise its turn was interrupted, and the message is put back.
func (s *Attached) settle(b *journal.Binding, last string, done bool) error {
	if !done {
		if err := s.brokenOff(b); err != nil {
			return err
		}
		b.Forget()
		return s.putBackLeft()
	}
	claimed, err := s.mail.Box.Claimed()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(claimed, func(e dropbox.Entry) bool { return e.ID == b.Message })
	if i >= 0 { // if i < 0, a person has removed the message
		if err := s.commit(claimed[i], b, last); err != nil {
			return fmt.Errorf("message %s: %w", b.Message, err)
		}
	}
	b.Forget()
	return s.putBackLeft()
}

// brokenOff records the end of a turn that was interrupted.
func (s *Attached) brokenOff(b *journal.Binding) error {
	rec, err := journal.ReadRecord(s.mail.Home, b.Turn)
	if errors.Is(err, fs.ErrNotExist) || err == nil && rec.End != "" {
		return nil
	} else if err != nil {
		return err
	}
	rec.End, rec.Reason, rec.Ended = runner.Stopped, "interrupted in the session", time.Now().UTC()
	if err := rec.Write(s.mail.Home); err != nil {
		return err
	}
	return s.mail.Ledger.Add(rec.Line())
}

func (s *Attached) commit(e dropbox.Entry, b *journal.Binding, last string) error {
	in := s.mail
	last = in.Hidden.Text(last)
	c, err := in.Box.Open(e)
	if err != nil || c.Message == nil {
		return errors.Join(err, c.Bad)
	}
	now := time.Now().UTC()
	r := &journal.Receipt{
		ID: e.ID, Turn: b.Turn, Agent: in.Name, Backend: in.Backend(), Client: in.Backend(), Session: b.Session, Via: ViaMailbox, Attached: true, Proven: in.Proves(c.Message),
		Outcome: string(runner.Done), Ended: now, CostUnknown: true, Notes: b.Notes, Text: screen.Truncate(last, 4096),
	}
	tried, err := journal.Records(in.Home, e.ID, c.Begun)
	if err != nil {
		return err
	}
	begun := now
	for _, rec := range tried {
		if rec.Turn == b.Turn {
			begun = rec.Begun
			continue
		}
		earlier := rec.Attempt()
		r.Attempts = append(r.Attempts, earlier)
		r.CostUSD += earlier.CostUSD
	}
	r.Attempts = append(r.Attempts, journal.Attempt{Start: begun, End: now, Outcome: string(runner.Done), CostUnknown: true})
	sent, err := journal.SentIn(in.Home, b.Turn)
	if err != nil {
		return err
	}
	for _, n := range sent {
		r.Sent = append(r.Sent, n.ID)
	}
	r.Answer = in.owed(c.Message, r, sent, runner.Outcome{Text: last})
	data, err := r.Encode()
	if err != nil {
		return err
	}
	if err := in.Box.Commit(e, data); err != nil {
		return err
	}
	// After a crash before this point, the daemon creates the line from the receipt at
	// its next start.
	if err := in.Ledger.Add(journal.LineOf(c.Message, r)); err != nil {
		in.Log.Warn("a line could not be added to the ledger; the daemon adds it when it starts", keyErr, err)
	}
	return in.settled(e, c.Message, r)
}

// putBackCut puts back messages that a hook had claimed but not recorded in the binding
// when it was killed. This happens because the client kills the commands of a prompt's !
// lines if a person cancels the prompt. The caller must check that the session is not
// working on a message. If a client of the daemon is still running for this agent,
// putBackCut does nothing.
func (s *Attached) putBackCut() error {
	live, err := s.mail.Home.LiveClients()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(live, func(c journal.Client) bool { return c.Agent == s.mail.Name }) {
		return nil
	}
	return s.putBackLeft()
}

// putBackLeft finishes the messages in cur/ that have a receipt, and puts back the
// others. The caller must check that no turn of this agent is running.
func (s *Attached) putBackLeft() error {
	box := s.mail.Box
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
		return s.mail.Box.Finish(e)
	}
	data, err := s.mail.Box.Receipt(e)
	if err != nil {
		return err
	}
	r, err := journal.ParseReceipt(data)
	if err != nil {
		return err
	}
	c, err := s.mail.Box.Open(e)
	if err != nil {
		return err
	}
	if c.Message == nil || !journal.EndedWell(r.Outcome) {
		return s.mail.Box.Finish(e)
	}
	return s.mail.settled(e, c.Message, r)
}
