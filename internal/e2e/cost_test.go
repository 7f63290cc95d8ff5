package e2e_test

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/fakeapi"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// priced returns a reply of the scripted API. in, out and cached are the numbers of its
// input, output and cached input tokens, in thousands.
func priced(reply string, in, out, cached int) string {
	return fmt.Sprintf(`{%s,"usage":{"input_tokens":%d,"output_tokens":%d,"cache_read_input_tokens":%d}}`, reply, in*1000, out*1000, cached*1000)
}

// freeSide makes the client's small side requests, such as the request for a title, cost
// nothing.
const freeSide = `"side":{"name":"side","text":"A title","usage":{}}`

// spent returns the cost of the scripted API's answers at the list prices of
// claude-sonnet-4-6, in US dollars: 3, 15 and 0.3 per million tokens. usage maps the name
// of each reply to its tokens.
func (p *project) spent(usage map[string]fakeapi.Usage) (usd float64) {
	p.t.Helper()
	for name, times := range p.api.Stats().Answered {
		u, ok := usage[name]
		if !ok {
			p.t.Fatalf("the API gave a reply %q, whose price is not known", name)
		}
		usd += float64(times) * (3*float64(u.InputTokens) + 15*float64(u.OutputTokens) + 0.3*float64(u.CacheReadInputTokens)) / 1e6
	}
	return usd
}

// usageOf reads the usage of the replies in a scenario.
func usageOf(t testing.TB, scenario string) map[string]fakeapi.Usage {
	t.Helper()
	var s struct {
		Replies []struct {
			Name  string
			Usage fakeapi.Usage
		}
		Compact struct {
			Name  string
			Usage fakeapi.Usage
		}
	}
	if err := json.Unmarshal([]byte(scenario), &s); err != nil {
		t.Fatal(err)
	}
	usage := map[string]fakeapi.Usage{s.Compact.Name: s.Compact.Usage, "side": {}}
	for _, r := range s.Replies {
		usage[r.Name] = r.Usage
	}
	return usage
}

// checkCosts compares coder's cost, as reported in each place, with the API's count.
// receipts specifies whether there is a receipt for all of coder's work.
func (p *project) checkCosts(want float64, receipts bool) {
	p.t.Helper()
	got := map[string]float64{"status": p.agent("coder").CostUSD.Total}
	var history view.History
	if err := json.Unmarshal([]byte(p.swarm("history", "coder", "--json")), &history); err != nil {
		p.t.Fatal(err)
	}
	got["history"] = history.CostUSD
	if err := journal.ReadLedger(filepath.Join(p.dir, ".claude-swarm/ledger.jsonl"), func(l journal.LedgerLine) bool {
		if l.CostUSD < 0 {
			p.t.Errorf("the ledger has a turn of %v USD", l.CostUSD)
		}
		got["ledger"] += l.CostUSD
		return true
	}); err != nil {
		p.t.Fatal(err)
	}
	if receipts {
		files, err := filepath.Glob(filepath.Join(p.dir, ".dead-drop/coder/done/*/*.receipt.yaml"))
		if err != nil {
			p.t.Fatal(err)
		}
		for _, f := range files {
			r, err := journal.ReadReceipt(f)
			if err != nil {
				p.t.Fatal(err)
			}
			got["receipts"] += r.CostUSD
		}
	}
	for where, usd := range got {
		if math.Abs(usd-want) > 1e-6 {
			p.t.Errorf("%s: %.6f USD, the API counts %.6f", where, usd, want)
		}
	}
}

// idle waits until coder's state is idle: it has nothing to do, and its messages are
// filed.
func (p *project) idle() {
	p.t.Helper()
	p.until("coder is idle", func() bool { return p.agent("coder").State == swarm.Idle })
}

// Each turn is booked at its own cost, whether each turn runs in a separate process that
// resumes the session or one process runs several turns. The daemon restarts after the
// second turn.
func TestEveryTurnIsBookedWithItsOwnCost(t *testing.T) {
	t.Parallel()
	for _, linger := range []string{"0s", "10m"} {
		t.Run("linger "+linger, func(t *testing.T) {
			t.Parallel()
			scenario := `{"replies":[` +
				priced(`"name":"first","match":{"last_user_contains":"First task"},"text":"One."`, 20, 1, 10) + `,` +
				priced(`"name":"tool","match":{"last_user_contains":"Second task"},"content":[{"tool_use":{"name":"Bash","input":{"command":"echo worked"}}}]`, 2, 1, 20) + `,` +
				priced(`"name":"second","match":{"tool_result_contains":"worked"},"text":"Two."`, 3, 2, 30) + `,` +
				priced(`"name":"agent","match":{"last_user_contains":"Third task"},"content":[{"tool_use":{"name":"Agent","input":{"description":"Look","prompt":"Look for it closely","subagent_type":"general-purpose"}}}]`, 5, 1, 30) + `,` +
				priced(`"name":"helper","match":{"last_user_contains":"Look for it closely"},"text":"It is found."`, 8, 3, 0) + `,` +
				priced(`"name":"third","match":{"tool_result_contains":"It is found."},"text":"Three."`, 6, 1, 40) + `,` +
				priced(`"name":"rest","times":-1,"text":"Four."`, 1, 1, 50) + `],` + freeSide + `}`
			p := newProject(t, scenario, "  coder:\n    role: coder\n    linger: "+linger+"\n")
			usage := usageOf(t, scenario)
			p.start()
			for i, task := range []string{"First task", "Second task", "Third task", "Fourth task"} {
				before := p.spent(usage)
				r := p.receipt("coder", p.send("coder", task))
				if own := p.spent(usage) - before; own <= 0 || math.Abs(r.CostUSD-own) > 1e-6 {
					t.Errorf("turn %d is booked with %.6f USD, the API counts %.6f", i+1, r.CostUSD, own)
				}
				if i == 1 {
					p.idle()
					p.swarm("stop")
					p.start()
				}
			}
			p.idle()
			p.checkCosts(p.spent(usage), true)
		})
	}
}

// A turn that only compacts the session has no receipt, but the status, the history and
// the ledger include its cost.
func TestACompactionIsBooked(t *testing.T) {
	t.Parallel()
	scenario := `{"replies":[` +
		priced(`"name":"rest","times":-1,"text":"Done."`, 1, 1, 10) + `],` + freeSide + `,"compact":` +
		priced(`"name":"summary","text":"<summary>They worked on tasks.</summary>"`, 9, 2, 0) + `}`
	p := newProject(t, scenario, "  coder: {role: coder}\n")
	usage := usageOf(t, scenario)
	p.start()
	for _, task := range []string{"First task", "Second task"} {
		p.receipt("coder", p.send("coder", task))
	}
	p.swarm("compact", "coder")
	p.until("the compaction", func() bool { return p.api.Stats().Answered["summary"] == 1 })
	p.receipt("coder", p.send("coder", "Third task"))
	p.idle()
	p.checkCosts(p.spent(usage), false)
}

// If the client is killed in the middle of a turn, the cost of that turn is lost: no
// later process of the session reports the cost, so it is not booked. The next turn
// reports only its own cost.
func TestTheCostAfterAKilledClient(t *testing.T) {
	t.Parallel()
	scenario := `{"replies":[` +
		priced(`"name":"first","match":{"last_user_contains":"First task"},"text":"One."`, 20, 1, 10) + `,` +
		priced(`"name":"slow","match":{"last_user_contains":"Second task","not_contains":"begun before"},"content":[{"tool_use":{"name":"Bash","input":{"command":"echo yes > began; while :; do sleep 1; done"}}}]`, 7, 1, 20) + `,` +
		priced(`"name":"second","match":{"last_user_contains":"begun before"},"text":"Two."`, 3, 2, 30) + `,` +
		priced(`"name":"rest","times":-1,"text":"Three."`, 1, 1, 50) + `],` + freeSide + `}`
	p := newProject(t, scenario, "  coder: {role: coder}\n")
	usage := usageOf(t, scenario)
	p.start()
	p.receipt("coder", p.send("coder", "First task"))
	id := p.send("coder", "Second task")
	p.until("Bash works", func() bool { return p.read("began") != "" })
	client := p.agent("coder").PID
	if client == nil {
		t.Fatal("the status has no pid of the turn")
	}
	if err := syscall.Kill(*client, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r := p.receipt("coder", id)
	if len(r.Attempts) != 2 {
		t.Errorf("attempts = %+v", r.Attempts)
	}
	p.receipt("coder", p.send("coder", "Third task"))
	p.idle()
	lost := (3*7000 + 15*1000 + 0.3*20000) / 1e6 // cost of the request that was answered before the kill
	p.checkCosts(p.spent(usage)-lost, true)
}
