package swarm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// Bounds of what is told of a message, in bytes: an alert is not an attachment, and
// its body has to fit.
const (
	maxTold   = 6 << 10
	maxReason = 1 << 10
)

// LeadFor says whose mailbox gets what from sends to the lead: that of the agent
// that the plan names, or the person's. The agent's own lead is the person. An
// answer to somebody who wrote as the lead goes to the person without asking.
func (p Plan) LeadFor(from string) string {
	if p.Lead == "" || from == p.Lead {
		return dropbox.Lead
	}
	return p.Lead
}

// Leads tells whether an address is that of the lead: lead itself, another name of it
// ([dropbox.IsLead]), or the name that the configuration gives the person. What is sent
// there goes to [Plan.LeadFor].
func (p Plan) Leads(address string) bool {
	return dropbox.IsLead(address) || address != "" && address == p.LeadName
}

// Called is what people and agents call the owner of a mailbox: the lead by the name
// that the configuration gives the person, everybody else by the mailbox.
func (p Plan) Called(mailbox string) string {
	if mailbox == dropbox.Lead {
		return orElse(p.LeadName, mailbox)
	}
	return mailbox
}

// CopyFor says who gets a copy of what an agent sends to others; "" is nobody. What goes
// to the lead anyway, or to people behind a bridge alone, needs none.
func (p Plan) CopyFor(from string, to ...string) string {
	lead := p.LeadFor(from)
	others := slices.ContainsFunc(to, func(name string) bool { return !dropbox.IsBridge(name) })
	if !others || !slices.Contains(p.CCLead, from) || slices.Contains(to, lead) {
		return ""
	}
	return lead
}

// tellLead sends the lead a message of the daemon's, once per key: something about
// an agent, or about the daemon itself when that is "". The person gets what
// concerns the agent that leads, and everything while that agent cannot work: else
// nobody would know. It goes by the list of events, so that a crash loses none. What
// cannot be written is said in the status, and tried again until it can.
func (h *house) tellLead(agent, key, subject, body string) {
	to := h.plan().LeadFor(agent)
	kind := dropbox.Status
	if to != dropbox.Lead && h.canWork(to) {
		kind = dropbox.Task // wakes the agent; the daemon is not answered
	} else {
		to = dropbox.Lead
	}
	ev := journal.Event{Kind: journal.Alert, Key: key, Agent: agent, To: to, At: time.Now().UTC(), Message: &journal.Message{
		From: dropbox.Swarm, To: []string{to}, Type: kind, Subject: screen.Short(subject, 200), Key: key, Body: cut(body, maxTold),
	}}
	if err := h.happened(ev); err != nil {
		h.log.Error("lead could not be told", keyAgent, agent, "subject", subject, keyErr, err)
		h.trouble.until("lead "+key, "the lead could not be told of: "+ev.Message.Subject, func() error { return h.happened(ev) })
	}
}

// leadListener delivers the alerts.
func (h *house) leadListener() Listener {
	return Listener{Name: "lead", Behind: "the lead could not be told of what happened", Hear: h.deliverAlerts}
}

func (h *house) deliverAlerts(_ context.Context, events []journal.Event) error {
	for _, ev := range events {
		if ev.Kind != journal.Alert || ev.Message == nil {
			continue
		}
		if err := h.deliverAlert(ev); undeliverable(err) {
			h.log.Error("lead could not be told", keyAgent, ev.Agent, "subject", ev.Message.Subject, keyErr, err)
		} else if err != nil {
			return fmt.Errorf("%s: %w", ev.Message.Subject, err)
		}
	}
	return nil
}

func (h *house) deliverAlert(ev journal.Event) error {
	m := ev.Message.Mail()
	d, err := h.deliver(dropbox.Swarm, ev.To, m)
	if errors.Is(err, dropbox.ErrNoMailbox) && ev.To != dropbox.Lead {
		// The agent that led has gone meanwhile.
		ev.To, m.To, m.Type = dropbox.Lead, []string{dropbox.Lead}, dropbox.Status
		d, err = h.deliver(dropbox.Swarm, ev.To, m)
	}
	if err != nil {
		return err
	}
	if !d.Duplicate {
		h.feed.publish(FeedEvent{Kind: FeedAlert, At: ev.At, Agent: ev.Agent, Text: m.Subject})
	}
	if ev.To == dropbox.Lead {
		return nil // what the person gets is seen in the mailbox
	}
	told := *m
	told.ID, told.Thread, told.Trace = d.ID, d.Thread, d.ID
	return h.arrived(&told, ev.To, ev.Agent)
}

// tellLead tells the lead something about this agent.
func (a *agent) tellLead(key, subject, body string) { a.house.tellLead(a.name, key, subject, body) }

// canWork tells whether the agent that leads takes up mail: it is neither
// stopped nor paused, and its account is not at its limit.
func (h *house) canWork(lead string) bool {
	spec, ok := h.plan().spec(lead)
	if !ok {
		return false
	}
	st := h.holds.Of(lead)
	_, _, limited := h.holds.LimitOf(accountOf(turn.BackendOf(h.deps.Backends, spec.Backend).Kind().Login, h.environ, spec), lead, time.Now())
	return st.Stopped == nil && st.Paused == nil && !limited
}
