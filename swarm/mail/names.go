package mail

import (
	"cmp"
	"slices"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Names say who leads, and what the person is called.
type Names struct {
	Lead     string   // the agent that gets the lead's mail; "" is the person
	LeadName string   // what the person is called besides lead; "" is nothing
	CCLead   []string // agents of whose messages to others the lead gets a copy
}

// LeadFor says whose mailbox gets what from sends to the lead: that of the agent
// that the configuration names, or the person's. The agent's own lead is the person. An
// answer to somebody who wrote as the lead goes to the person without asking.
func (n Names) LeadFor(from string) string {
	if n.Lead == "" || from == n.Lead {
		return dropbox.Lead
	}
	return n.Lead
}

// Leads tells whether an address is that of the lead: lead itself, another name of it
// ([dropbox.IsLead]), or the name that the configuration gives the person. What is sent
// there goes to [Names.LeadFor].
func (n Names) Leads(address string) bool {
	return dropbox.IsLead(address) || address != "" && address == n.LeadName
}

// Called is what people and agents call the owner of a mailbox: the lead by the name
// that the configuration gives the person, everybody else by the mailbox.
func (n Names) Called(mailbox string) string {
	if mailbox == dropbox.Lead {
		return cmp.Or(n.LeadName, mailbox)
	}
	return mailbox
}

// CopyFor says who gets a copy of what an agent sends to others; "" is nobody. What goes
// to the lead anyway, or to people behind a bridge alone, needs none.
func (n Names) CopyFor(from string, to ...string) string {
	lead := n.LeadFor(from)
	others := slices.ContainsFunc(to, func(name string) bool { return !dropbox.IsBridge(name) })
	if !others || !slices.Contains(n.CCLead, from) || slices.Contains(to, lead) {
		return ""
	}
	return lead
}
