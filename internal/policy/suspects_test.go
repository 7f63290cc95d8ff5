package policy_test

import (
	"fmt"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/policy"
)

// An unproven message that appeared while agents were working does not count as a person's,
// so the lists of those agents apply to it. The message keeps its hops. The rate and echo
// rules do not refuse it, because a person may drop many files at once.
func TestAFileThatAppearsWhileAgentsWork(t *testing.T) {
	rules := policy.Default()
	rules.PerSender, rules.PerThread, rules.MaxEchoes = 3, 3, 3
	rules.Access = map[string]policy.Access{"coder": {Direct: []string{}}}
	dropped := func(suspects ...string) func(*policy.Question) {
		return func(q *policy.Question) {
			q.Message.From, q.Message.Hops, q.Message.Path = dropbox.Lead, 0, nil
			q.Proven, q.Suspects = false, suspects
		}
	}
	for _, c := range []struct {
		name string
		q    policy.Question
		rule policy.Rule
	}{
		{"nobody at work", ask(dropped()), ""},
		{"an agent without a list", ask(dropped("tester")), ""},
		{"an agent with a list", ask(dropped("coder")), policy.RuleACL},
		{"one of two has a list", ask(dropped("tester", "coder")), policy.RuleACL},
		{"to the agent itself", ask(dropped("coder"), to("coder")), ""},
		{"a result to anything", ask(dropped("coder"), typed(dropbox.Result), replyTo("bbbbbbbbbb")), policy.RuleACL},
		{"in another agent's name", ask(dropped("coder"), from("tester")), policy.RuleACL},
		{"proven to be the lead's", ask(dropped("coder"), func(q *policy.Question) { q.Proven = true }), ""},
	} {
		if v := rules.Decide(nil, c.q); v.Rule != c.rule || v.Pass != (c.rule == "") {
			t.Errorf("%s: %+v, want the rule %q", c.name, v, c.rule)
		}
	}
	gate := policy.NewGate(rules, nil)
	for n := range rules.PerThread { // an agent sends the maximum number of messages per minute
		q := ask(from("tester"))
		q.Message.ID = fmt.Sprintf("said%06d", n)
		q.Message.Body = fmt.Appendf(nil, "%c", 'a'+n)
		if v := gate.Ask(q); !v.Pass {
			t.Fatalf("message %d: %v", n+1, v)
		}
	}
	for n := range 100 {
		q := ask(dropped("tester"))
		q.Message.ID = fmt.Sprintf("%010d", n)
		if v := gate.Ask(q); !v.Pass {
			t.Fatalf("file %d: %v, want it to pass", n+1, v)
		}
	}
}
