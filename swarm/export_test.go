package swarm

import (
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
)

// Waits returns the time of an agent's last failure and the end of the wait that followed
// it.
func (s *Swarm) Waits(agent string) (failed, until time.Time) {
	st := s.holds.Of(agent)
	if n := len(st.Failures); n > 0 {
		failed = st.Failures[n-1].At
	}
	return failed, st.Until
}

// Failures returns the number of remembered failures of an agent.
func (s *Swarm) Failures(agent string) int { return len(s.holds.Of(agent).Failures) }

// Questions returns the daemon's own questions to the person.
func (s *Swarm) Questions() *mail.Questions { return s.mail.Questions }

// Whisper gives an agent a verdict from the supervisor.
func (s *Swarm) Whisper(w supervisor.Whisper) { s.escalations.whisper(w) }

// Stuck carries out an escalation by the supervisor.
func (s *Swarm) Stuck(e supervisor.Escalation) { s.escalations.stuck(e) }

// Deeper returns the next thinking level above level.
func Deeper(level string) string { return deeper(level) }

// TellLitter tells the lead about litter in mailboxes, as a check at this time does.
func (s *Swarm) TellLitter(now time.Time) { s.strays.tellLitter(now) }

// Overrun interrupts the running turn of a stuck agent.
func (s *Swarm) Overrun(agent string) {
	if m, err := s.member(agent); err == nil {
		stuck := s.holds.Of(agent).StuckIn()
		m.control.overran(stuck.Message)
	}
}

// Note records that a record could not be written.
func (s *Swarm) Note(err error) { s.mail.Note(err) }
