package swarm

import (
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Bounds of what is told of a message, in bytes: an alert is no attachment, and
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

// tellLead sends the lead a message of the daemon's, once per key. The person
// gets what concerns the agent that leads, and everything while that agent
// cannot work: else nobody would know.
func (a *agent) tellLead(key, subject, body string) {
	to := a.plan().LeadFor(a.name)
	m := &dropbox.Message{
		From: dropbox.Swarm, Type: dropbox.Status, Subject: oneLine(subject, 200), Key: key, Priority: dropbox.Normal, Body: []byte(cut(body, maxTold)),
	}
	if to != dropbox.Lead && a.canWork(to) {
		m.Type = dropbox.Task // wakes the agent; the daemon is not answered
	} else {
		to = dropbox.Lead
	}
	m.To = []string{to}
	d, err := a.deliver(dropbox.Swarm, to, m)
	if !d.Duplicate {
		a.feed.publish(FeedEvent{Kind: FeedAlert, At: time.Now().UTC(), Agent: a.name, Text: subject})
	}
	if err != nil {
		a.log.Error("lead could not be told", "subject", subject, keyErr, err)
		a.trouble.set("lead", "the lead could not be told of: "+subject)
	}
}

// canWork tells whether the agent that leads takes up mail: it is neither
// stopped nor paused, and its account is not at its limit.
func (a *agent) canWork(lead string) bool {
	spec, ok := a.plan().spec(lead)
	if !ok {
		return false
	}
	st := a.books.standings.of(lead)
	_, limited := a.books.standings.limitOf(accountOf(a.environ, spec), time.Now())
	return st.Stopped == nil && st.Paused == nil && !limited
}
