package mail

import (
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// TellNotice tells a fact with a notice and mail for the lead.
func (s *Service) TellNotice(agent, key string, n journal.Notice, subject, body string) {
	s.Notices.Tell(notice.Old{Agent: agent, Key: key, Notice: n, Subject: subject, Body: body})
}

// Raise tells a fact with a notice only.
func (s *Service) Raise(key string, n journal.Notice, about, details string) error {
	return s.Notices.Add(notice.Old{Agent: n.Agent, Key: key, Notice: n})
}

// Unpaused tells that an agent can start turns again.
func (s *Service) Unpaused(agent string, since time.Time, why, by string) {
	n := journal.Notice{Word: journal.Unpaused, Agent: agent, Why: why, By: by}
	s.Note(s.Raise(fmt.Sprintf("unpaused:%s:%s", agent, since.UTC().Format(time.RFC3339Nano)), n, "", ""))
}
