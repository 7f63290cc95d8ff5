package swarm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// Alerts wake a lead agent. The person gets the alerts about the lead, all alerts while
// the lead cannot work, and the answers to the person's own messages.
func TestAnAgentThatLeads(t *testing.T) {
	const refused = "@status 401" // this stops an agent immediately
	f := newField(t, "planner", "coder")
	f.plan.Lead = "planner"
	f.start()

	if m := f.answer(f.send("coder", "@say hello")); !strings.Contains(string(m.Body), "hello") {
		t.Errorf("the person's answer = %q", m.Body)
	}

	f.send("coder", refused)
	f.until("the planner works on the alert", func() bool {
		return slices.ContainsFunc(f.bodies(), func(b string) bool { return strings.Contains(b, "coder is stopped") })
	})
	for _, m := range f.mail(dropbox.Lead) {
		if strings.Contains(m.Subject, "coder is stopped") {
			t.Error("the person was told of coder too")
		}
	}

	f.untilState("planner", swarm.Idle)
	f.send("planner", refused)
	f.told("planner is stopped")
	if err := f.daemon.StartAgent("coder", "lead"); err != nil { // its message is refused again
		t.Fatal(err)
	}
	f.told("coder is stopped")
}

func TestLeadFor(t *testing.T) {
	for _, test := range []struct{ lead, from, want string }{
		{"", "coder", "lead"},
		{"", "lead", "lead"},
		{"planner", "coder", "planner"},
		{"planner", "lead", "planner"}, // the person writes to the lead
		{"planner", "planner", "lead"},
	} {
		if got := (mail.Names{Lead: test.lead}).LeadFor(test.from); got != test.want {
			t.Errorf("lead %q: what %s sends to lead goes to %s, want %s", test.lead, test.from, got, test.want)
		}
	}
}
