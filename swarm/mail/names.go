package mail

import (
	"cmp"
	"slices"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Names contains the names of the lead and the person.
type Names struct {
	Lead     string   // the agent that gets the lead's mail; "" means the person
	LeadName string   // an additional name for the person, or ""
	CCLead   []string // agents whose messages to others are copied to the lead
}

// LeadFor returns the mailbox for messages to the lead that are from the agent named from,
// or that are from the daemon and about that agent. It is the mailbox of the agent that
// the configuration names as the lead, or else the person's mailbox. For the lead agent,
// it is also the person's mailbox. LeadFor is not called for an answer to a message from
// the lead, because such an answer goes to the person.
func (n Names) LeadFor(from string) string {
	if n.Lead == "" || from == n.Lead {
		return dropbox.Lead
	}
	return n.Lead
}

// Leads reports whether an address belongs to the lead. Such an address is lead, another
// name for lead ([dropbox.IsLead]), or the person's configured name. Messages to such an
// address are delivered to [Names.LeadFor].
func (n Names) Leads(address string) bool {
	return dropbox.IsLead(address) || address != "" && address == n.LeadName
}

// Called returns the name that people and agents use for the owner of a mailbox. For the
// lead this is the person's configured name. For others it is the name of the mailbox.
func (n Names) Called(mailbox string) string {
	if mailbox == dropbox.Lead {
		return cmp.Or(n.LeadName, mailbox)
	}
	return mailbox
}

// CopyFor returns the recipient of copies of an agent's messages to others, or "". There
// are no copies of messages that the lead is a recipient of, or whose only recipients are
// people behind a bridge.
func (n Names) CopyFor(from string, to ...string) string {
	lead := n.LeadFor(from)
	others := slices.ContainsFunc(to, func(name string) bool { return !dropbox.IsBridge(name) })
	if !others || !slices.Contains(n.CCLead, from) || slices.Contains(to, lead) {
		return ""
	}
	return lead
}
