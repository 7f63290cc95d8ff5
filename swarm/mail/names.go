package mail

import (
	"cmp"
	"slices"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Names say who leads, and what the person is called.
type Names struct {
	Lead     string   // the agent that gets the lead's mail; "" means the person
	LeadName string   // another name of the person besides lead, or ""
	CCLead   []string // agents whose messages to others are copied to the lead
}

// LeadFor says which mailbox gets the messages that the agent named from sends to the
// lead, and the daemon's messages to the lead about that agent: the mailbox of the agent
// that the configuration names as the lead, or the person's. For the agent that leads, the
// lead is the person. LeadFor is not called for an answer to a message from the lead: such
// an answer goes to the person.
func (n Names) LeadFor(from string) string {
	if n.Lead == "" || from == n.Lead {
		return dropbox.Lead
	}
	return n.Lead
}

// Leads reports whether an address is the lead's: lead itself, another name for it
// ([dropbox.IsLead]), or the name that the configuration gives the person. Messages to it
// go to [Names.LeadFor].
func (n Names) Leads(address string) bool {
	return dropbox.IsLead(address) || address != "" && address == n.LeadName
}

// Called returns the name that people and agents use for the owner of a mailbox: for the
// lead, the person's configured name; for others, the mailbox's name.
func (n Names) Called(mailbox string) string {
	if mailbox == dropbox.Lead {
		return cmp.Or(n.LeadName, mailbox)
	}
	return mailbox
}

// CopyFor returns the recipient of copies of an agent's messages to others, or "". A
// message that goes to the lead anyway, or only to people behind a bridge, needs no copy.
func (n Names) CopyFor(from string, to ...string) string {
	lead := n.LeadFor(from)
	others := slices.ContainsFunc(to, func(name string) bool { return !dropbox.IsBridge(name) })
	if !others || !slices.Contains(n.CCLead, from) || slices.Contains(to, lead) {
		return ""
	}
	return lead
}
