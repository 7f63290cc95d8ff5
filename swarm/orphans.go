package swarm

import (
	"slices"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// endOrphans ends the processes of turns that no agent will take up, such as after a
// mailbox was deleted while its client worked, or an agent was removed from the
// configuration.
func (s *Swarm) endOrphans() {
	turns, err := s.home.Recorded()
	if err != nil {
		s.log.Warn("turns could not be looked at", keyErr, err)
		return
	}
	for _, turn := range turns {
		rec, err := journal.ReadRecord(s.home, turn)
		// This is asked last: the agents work already, and a turn counts as running before
		// the record has its process.
		if err != nil || rec.End != "" || !rec.Process.Alive() || s.hasClaimed(rec) || s.has(rec.Mark()) {
			continue
		}
		s.endLeft(rec.Mark())
	}
}

// hasClaimed reports whether the message of a turn, or of a later turn of the same client, is
// in cur/ of its agent, which takes it up if it has not yet.
func (s *Swarm) hasClaimed(rec *journal.Record) bool {
	m, err := s.member(rec.Agent)
	if err != nil {
		return false
	}
	claimed, err := m.inbox.Box.Claimed()
	return err != nil || slices.ContainsFunc(claimed, func(e dropbox.Entry) bool {
		if e.ID == rec.Message {
			return true
		}
		last, err := mail.LastRecord(m.home, e)
		return err != nil || last != nil && last.Mark() == rec.Mark()
	})
}

// has reports whether an agent works with the client with that mark.
func (s *Swarm) has(mark string) bool {
	return slices.ContainsFunc(s.members(), func(m *member) bool { return m.turns.Runs.HasMark(mark) })
}
