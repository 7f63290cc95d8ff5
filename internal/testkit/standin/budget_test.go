package standin_test

import (
	"os"
	"path/filepath"
	"testing"
)

// A cap applies to a process. The turn ends after the request that uses up the cap, and
// the next turn is refused. The next process of the session starts counting from zero.
func TestACap(t *testing.T) {
	for _, version := range []string{"2.1.330", "2.1.197"} {
		t.Run(version, func(t *testing.T) {
			p := newPlace(t)
			p.env = []string{"STANDIN_VERSION=" + version}
			for script, want := range map[string]struct{ stop, text string }{
				"@cost 0.6\n@say ready":                  {"end_turn", ""},
				"@cost 0.6\nhello":                       {"end_turn", ""},
				"@cost 0.6\n@sh true\n@sh true":          {"tool_use", ""},
				"@cost 0.6\n@say I look\n@sh touch over": {"tool_use", ""},
				"@cost 0.4\n@sh true\n@say ready":        {"end_turn", "ready"},
			} {
				lines, _ := p.turn(script, "--max-budget-usd", "0.5")
				r := last(t, lines)
				subtype, terminal := "error_max_budget_usd", "budget_exhausted"
				if version == "2.1.197" {
					terminal = ""
				}
				if want.text != "" {
					subtype, terminal = "success", "completed"
				}
				if r.str("subtype") != subtype || r.str("stop_reason") != want.stop || r.str("result") != want.text || r.str("terminal_reason") != terminal {
					t.Errorf("%q: the result is %v", script, r)
				}
			}
			if _, err := os.Stat(filepath.Join(p.dir, "over")); err == nil {
				t.Error("a tool ran after the cap")
			}
			r := p.start(append(stream, "--session-id", sessA, "--max-budget-usd", "0.5")...)
			for i, c := range []struct {
				prompt, subtype string
				cost            string
			}{{"@cost 0.25", "success", "0.25"}, {"@cost 0.25", "error_max_budget_usd", "0.5"}, {"@cost 0.25", "error_max_budget_usd", "0.5"}} {
				r.send("", c.prompt)
				if got := last(t, r.until("result/"+c.subtype)); got.str("total_cost_usd") != c.cost {
					t.Errorf("prompt %d: the result is %v, want %s at %s", i+1, got, c.subtype, c.cost)
				}
			}
			if _, status := r.end(); status != 1 {
				t.Errorf("status %d, want 1", status)
			}
			lines, _ := p.turn("@cost 0.25\n@say ready", "--resume", sessA, "--max-budget-usd", "0.5")
			if got := last(t, lines); got.str("subtype") != "success" {
				t.Errorf("the next process: %v", got)
			}
		})
	}
	p := newPlace(t)
	if _, code := p.turn("hello", "--max-budget-usd", "0"); code != 1 {
		t.Errorf("a cap of 0: status %d, want 1", code)
	}
}
