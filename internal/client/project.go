package client

import (
	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// A Project is the information about a swarm that a client needs: its folders, agents and
// rules.
type Project struct {
	Home   journal.Home
	Store  *dropbox.Store      // closed by the caller
	Agents []string            // in the order of the configuration
	Tags   map[string][]string // the agents with each tag, in the same order
	Lead   string              // the agent that gets the lead's mail; "" for the person

	LeadName string   // another name for the person; "" for none
	CCLead   []string // agents whose messages to others are copied to the lead
	Rules    policy.Policy
	IRC      *Channels // nil if IRC is not configured
	// Reading determines which files each agent may send. An agent without an entry may
	// send only files in its mailbox and files that are already attached to a message.
	Reading map[string]Reading
}

// lead returns the names of the lead in the configuration.
func (p Project) lead() mail.Names {
	return mail.Names{Lead: p.Lead, LeadName: p.LeadName, CCLead: p.CCLead}
}

// Called returns the name that people and agents use for the owner of a mailbox; see
// [mail.Names.Called].
func (p Project) Called(mailbox string) string { return p.lead().Called(mailbox) }

// AllCalled returns the result of [Project.Called] for each mailbox.
func (p Project) AllCalled(mailboxes []string) []string {
	var names []string
	for _, m := range mailboxes {
		names = append(names, p.Called(m))
	}
	return names
}

// OpenStore opens the mailboxes of a project. The caller must close the store.
func OpenStore(file *config.File) (*dropbox.Store, error) {
	return dropbox.Open(file.DeadDropDir, file.StoreOptions())
}

// ProjectOf makes a project from its configuration.
func ProjectOf(file *config.File, store *dropbox.Store) Project {
	p := Project{Home: journal.HomeOf(file.Dir), Store: store, Agents: file.Names(), Tags: file.Tags(), Lead: file.Lead, LeadName: file.LeadName, CCLead: file.CCLead(), Rules: PolicyOf(file), IRC: channelsOf(file), Reading: map[string]Reading{}}
	for _, a := range file.Agents {
		p.Reading[a.Name] = ReadingOf(a)
	}
	return p
}

// PolicyOf returns the policy of a project. Its lists contain only names of agents,
// because the configuration has already replaced each role with the agents that have it.
func PolicyOf(file *config.File) policy.Policy {
	c := file.Policy
	p := policy.Policy{
		MaxBody: c.MaxBodyBytes, PerSender: c.SenderPerMin, PerThread: c.ThreadPerMin, MaxHops: c.MaxHops,
		MaxReturns: c.MaxReturns, MaxEchoes: c.MaxEchoes, Sentinel: c.StopSentinel,
		RefuseUnproven: c.Unproven == config.UnprovenRefuse, Agents: file.Names(), Access: map[string]policy.Access{},
	}
	for _, t := range c.AllowedTypes {
		p.Types = append(p.Types, dropbox.Type(t))
	}
	of := func(list *[]string) []string {
		if list == nil {
			return nil
		}
		return append([]string{}, *list...)
	}
	for agent, a := range c.ACL {
		p.Access[agent] = policy.Access{Publish: of(a.Publish), Subscribe: of(a.Subscribe), Direct: of(a.Direct), NoBroadcast: !a.Broadcast}
	}
	return p
}
