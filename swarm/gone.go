package swarm

import (
	"fmt"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// A GoneAgent is an agent that has mail in its mailbox, but has left the configuration in
// force, or is not in it yet.
type GoneAgent struct {
	Name    string
	Waiting int
	Unread  bool // the configuration file names it, but the daemon has not read that entry
}

// Problem describes the agent to a person, with the commands to type.
func (g GoneAgent) Problem() Problem {
	waits := "1 message waits"
	if g.Waiting != 1 {
		waits = fmt.Sprintf("%d messages wait", g.Waiting)
	}
	if g.Unread {
		return Problem{
			Why:  fmt.Sprintf("%s in %s, whose entry in claude-swarm.yaml the daemon has not read yet", waits, g.Name),
			Next: "claude-swarm reload",
		}
	}
	return Problem{
		Why:  fmt.Sprintf("%s in %s, which is no longer in claude-swarm.yaml", waits, g.Name),
		Next: fmt.Sprintf("claude-swarm remove %s --to OTHER | --keep", g.Name),
	}
}

// Gone lists the agents that are not among names, but have unfinished mail. It omits mail
// that a person decided to keep ([journal.Home.KeepMail]).
func Gone(home journal.Home, store *dropbox.Store, names []string) ([]GoneAgent, error) {
	here := map[string]bool{}
	for _, name := range names {
		here[name] = true
	}
	isGone := func(mailbox string) bool {
		if !mail.IsAgent(mailbox) || here[mailbox] {
			return false
		}
		return !home.KeepsMail(mailbox)
	}
	var gone []GoneAgent
	err := store.Unfinished(isGone, func(box *dropbox.Mailbox, _ dropbox.Entry) bool {
		if n := len(gone); n == 0 || gone[n-1].Name != box.Name() {
			gone = append(gone, GoneAgent{Name: box.Name()})
		}
		gone[len(gone)-1].Waiting++
		return true
	})
	if err != nil {
		return nil, err
	}
	return gone, nil
}

// costBeside returns the costs that belong to none of the agents: that of the supervisor's
// model, and that of the agents that have been removed.
func costBeside(l *journal.Ledger, agents []string, now time.Time) (judge, removed journal.Cost) {
	return l.Cost(JudgeName, now), l.CostOfOthers(append(agents, JudgeName), now)
}

// gone is like Gone for the configuration in force, and marks the agents that the
// configuration file names.
func (s *Swarm) gone() ([]GoneAgent, error) {
	list, err := Gone(s.home, s.store, specNames(s.Plan().Agents))
	if len(list) == 0 || s.opts.InFile == nil {
		return list, err
	}
	named := s.opts.InFile()
	for i := range list {
		list[i].Unread = slices.Contains(named, list[i].Name)
	}
	return list, err
}

// goneTrouble returns the problems with these agents, which the status shows.
func goneTrouble(gone []GoneAgent) []Problem {
	var list []Problem
	for _, g := range gone {
		list = append(list, g.Problem())
	}
	return list
}

func specNames(specs []Spec) []string {
	var names []string
	for _, s := range specs {
		names = append(names, s.Name)
	}
	return names
}

// TellGone tells the lead about mail in the mailboxes of agents that are gone. It does so
// once each time an agent leaves. It is safe for concurrent use.
func (s *Swarm) TellGone() {
	s.telling.Lock()
	defer s.telling.Unlock()
	gone, err := s.gone()
	if err != nil {
		s.log.Warn("mailboxes of agents that are gone could not be read", keyErr, err)
		return
	}
	for _, g := range gone {
		if g.Unread || s.stillLeaves(g.Name) {
			continue // the status says that its entry must be read, or its turn must end first
		}
		since, err := s.home.GoneSince(g.Name)
		if err != nil {
			s.log.Warn("the removal of an agent could not be recorded", keyAgent, g.Name, keyErr, err)
			continue // the next folder check tries again
		}
		wrong := g.Problem()
		s.notices.Tell(notice.Gone{Agent: g.Name, Since: since, Why: wrong.Why, Next: wrong.Next})
	}
}

// Tell tells the lead a fact about a part of the daemon outside this package. It is safe for
// concurrent use.
func (s *Swarm) Tell(f notice.Fact) { s.notices.Tell(f) }

// stillLeaves reports whether an agent that was removed is still finishing its turn.
func (s *Swarm) stillLeaves(name string) bool {
	s.mu.Lock()
	gone := s.left[name]
	s.mu.Unlock()
	if gone == nil {
		return false
	}
	select {
	case <-gone:
		return false
	default:
		return true
	}
}

// forwardedTo is the prefix of a message's outcome if the message was forwarded to
// another agent.
const forwardedTo = "forwarded to "

// Forwarded returns the receipt of a message that a person forwarded to another agent (to).
// That agent gets it as the message with the given id.
func Forwarded(e dropbox.Entry, agent, to, id string) *journal.Receipt {
	return &journal.Receipt{ID: e.ID, Agent: agent, Via: mail.ViaMailbox, Outcome: forwardedTo + to + " as " + id, Ended: time.Now().UTC()}
}

// GivenBack returns the receipt of an offer of published work to an agent that is gone.
func GivenBack(e dropbox.Entry, agent string) *journal.Receipt {
	return &journal.Receipt{ID: e.ID, Agent: agent, Via: mail.ViaMailbox, Outcome: "given back, since " + agent + " was removed", Ended: time.Now().UTC()}
}
