package e2e_test

import (
	"math"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// The booked cost of an agent equals the cost of the API's answers after each kind of turn,
// at both ends of the supported range. TestEveryTurnIsBookedWithItsOwnCost,
// TestACompactionIsBooked and TestAWorkflow have further kinds: a restart of the daemon
// between the turns, a client that stays, a turn that only compacts, and workflows.
func TestEachKindOfTurnIsBooked(t *testing.T) {
	t.Parallel()
	wait := func(file string) string {
		return `"content":[{"tool_use":{"name":"Bash","input":{"command":"touch ` + file + `.began; until [ -e ` + file + ` ]; do sleep 0.1; done; echo over"}}}]`
	}
	// A prompt ends with its task. A new session's prompt repeats earlier tasks before that.
	task := func(words string) string {
		return `"last_user_regexp":"` + words + `\\s+--- [a-z2-7]+ ---\\s+Do this one task"`
	}
	const refusal = `"status":400,"error_type":"invalid_request_error","error_message":"no luck"`
	scenario := `{"replies":[` +
		`{"name":"error","match":{` + task("error at once") + `},"times":-1,` + refusal + `},` +
		priced(`"name":"middle","match":{`+task("error in the middle")+`},"times":-1,"content":[{"tool_use":{"name":"Bash","input":{"command":"echo middle"}}}]`, 4, 1, 0) + `,` +
		`{"name":"error in the middle","match":{"tool_result_contains":"middle"},"times":-1,` + refusal + `},` +
		priced(`"name":"found","match":{"last_user_regexp":"^Look closely"},"times":-1,"text":"It is found."`, 30, 1, 0) + `,` +
		priced(`"name":"agent","match":{`+task("sub-agent")+`},"content":[{"tool_use":{"name":"Agent","input":{"description":"look","prompt":"Look closely","subagent_type":"general-purpose"}}}]`, 1, 1, 0) + `,` +
		priced(`"name":"tool","match":{`+task("with a tool")+`},"content":[{"tool_use":{"name":"Bash","input":{"command":"echo hi"}}}]`, 2, 1, 5) + `,` +
		priced(`"name":"aborted","match":{`+task("to be aborted")+`},`+wait("never"), 3, 1, 0) + `,` +
		priced(`"name":"steered","match":{`+task("to be steered")+`},`+wait("steered"), 3, 1, 2) + `,` +
		priced(`"name":"interrupted","match":{`+task("to be interrupted")+`,"not_contains":"cut off at"},`+wait("interrupted"), 5, 1, 0) + `,` +
		priced(`"name":"large","match":{`+task("a large context")+`},"text":"It is large."`, 72, 1, 0) + `,` +
		`{"name":"limit","match":{` + task("a usage limit") + `},"status":429,"headers":{"retry-after":"1"}},` +
		priced(`"name":"rest","times":-1,"text":"Done."`, 1, 1, 10) + `],` + freeSide + `,"compact":` +
		priced(`"name":"summary","text":"<summary>They worked.</summary>"`, 70, 1, 0) + `}`
	p := newProject(t, scenario, "  coder: {compact_window: 100000, max_failures: 1, env: {CLAUDE_CODE_MAX_RETRIES: \"0\"}}\n")
	usage := usageOf(t, scenario)
	p.start()
	began := func(file string) {
		t.Helper()
		p.until("the tool of "+file, func() bool { return p.exists(file + ".began") })
	}
	for _, k := range []struct {
		name   string
		while  func() // what happens during the turn
		fails  bool
		unpaid bool // the API's answers cost nothing
	}{
		{name: "a new session"},
		{name: "a resumed session"},
		{name: "with a tool"},
		{name: "with a sub-agent"},
		{name: "an error at once", fails: true, unpaid: true},
		{name: "an error in the middle", fails: true},
		{name: "to be aborted", fails: true, while: func() {
			began("never")
			p.swarm("abort", "coder")
		}},
		{name: "to be steered", while: func() {
			began("steered")
			p.send("coder", "Mind the gap", "--now")
			p.write("steered", "")
		}},
		{name: "to be interrupted", while: func() {
			began("interrupted")
			p.send("coder", "This first", "--interrupt")
			p.write("interrupted", "")
		}},
		{name: "a large context"},
		{name: "with a compaction"},
		{name: "a usage limit"},
	} {
		before := p.spent(usage)
		id := p.send("coder", k.name)
		if k.while != nil {
			k.while()
		}
		state := "done"
		if k.fails {
			state = "dead"
		}
		p.until(k.name+" is "+state, func() bool { return p.filed("coder", state, id) })
		p.until("coder goes on", func() bool {
			st := p.agent("coder").State
			if st == swarm.Stopped { // too many failures
				p.swarm("start", "coder")
			}
			return st == swarm.Idle
		})
		want := p.spent(usage)
		if math.Abs(want-before) < 1e-9 != k.unpaid {
			t.Errorf("%s: the API counts %.6f USD", k.name, want-before)
		}
		if got := p.agent("coder").CostUSD.Total; math.Abs(got-want) > 1e-6 {
			t.Errorf("after %s: booked %.6f USD, the API counts %.6f", k.name, got, want)
		}
	}
	if n := p.api.Stats().Answered["summary"]; n != 1 {
		t.Errorf("%d compactions, want 1", n)
	}
	p.checkCosts(p.spent(usage), false)
}
