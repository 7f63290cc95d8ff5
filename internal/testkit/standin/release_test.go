package standin_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// costs returns the costs in a result: the total of the session or the process, and the
// cost since the last result.
func costs(t *testing.T, l line) (total, since float64) {
	t.Helper()
	var r struct {
		Total  float64 `json:"total_cost_usd"`
		Models map[string]struct{ CostUSD float64 }
		Since  map[string]struct{ CostUSD float64 } `json:"model_usage_since_last_result"`
	}
	data, err := json.Marshal(l)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil || l["type"] != "result" {
		t.Fatalf("%v: %v", err, l)
	}
	for _, m := range r.Since {
		since += m.CostUSD
	}
	return r.Total, since
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// TestTotalsGoOn checks that the total of a resumed session includes the earlier
// processes and restarts after /clear, and that the usage since the last result covers
// one turn.
func TestTotalsGoOn(t *testing.T) {
	p := newPlace(t)
	check := func(what string, l line, total, since float64, index int) {
		t.Helper()
		gotTotal, gotSince := costs(t, l)
		if !near(gotTotal, total) || !near(gotSince, since) || l["result_index"] != float64(index) {
			t.Errorf("%s: total %v, since %v, index %v; want %v, %v, %d", what, gotTotal, gotSince, l["result_index"], total, since, index)
		}
	}
	lines, _ := p.turn("@cost 0.25", "--session-id", sessA)
	check("first", last(t, lines), 0.25, 0.25, 0)
	lines, _ = p.turn("@model haiku\n@cost 0.5", "--resume", sessA)
	check("resumed", last(t, lines), 0.75, 0.5, 0)
	if models := last(t, lines)["modelUsage"].(map[string]any); len(models) != 2 {
		t.Errorf("modelUsage has the models %v", models)
	}
	lines, _ = p.turn("@cost 1", "--resume", sessA, "--fork-session")
	check("fork", last(t, lines), 1.75, 1, 0)

	r := p.start(append(stream, "--resume", sessA)...)
	r.send("", "@cost 2")
	check("resident", last(t, r.until("result/success")), 2.75, 2, 0)
	r.send("", "@cost 4")
	check("its second turn", last(t, r.until("result/success")), 6.75, 4, 1)
	r.send("", "/clear")
	lines = r.until("result/success")
	check("/clear", last(t, lines), 0, 0, 2)
	if kinds(lines) != "conversation_reset system/init result/success" {
		t.Errorf("/clear: %q", kinds(lines))
	}
	r.send("", "@cost 8")
	check("after /clear", last(t, r.until("result/success")), 8, 8, 3)

	p.env = []string{"STANDIN_VERSION=2.1.197"}
	lines, _ = p.turn("@cost 0.125", "--resume", sessA)
	if l := last(t, lines); l["total_cost_usd"] != 0.125 || l["model_usage_since_last_result"] != nil || l["result_index"] != nil {
		t.Errorf("2.1.197: %v", l)
	}
}

// TestLifecycle checks that each change of a prompt's state is printed immediately, with
// the prompt's uuid.
func TestLifecycle(t *testing.T) {
	brief := func(lines []line) string {
		names := map[string]string{uuidA: "A", uuidB: "B"}
		var all []string
		for _, l := range lines {
			switch k := l.kind(); {
			case k == "command_lifecycle":
				all = append(all, l.str("state")+"-"+names[l.str("command_uuid")])
			case k == "user/replay":
				all = append(all, "replay-"+names[l.str("uuid")])
			case l["type"] != "control_response":
				all = append(all, k)
			}
		}
		return strings.Join(all, " ")
	}
	check := func(what string, lines []line, want string) {
		t.Helper()
		if got := brief(lines); got != want {
			t.Errorf("%s:\n%s, want\n%s", what, got, want)
		}
	}
	p := newPlace(t)
	start := func(args ...string) *run {
		r := p.start(append(stream, args...)...)
		r.whole = true
		return r
	}
	r := start("--session-id", sessA)
	r.send(uuidA, "@say a")
	lines, _ := r.end()
	check("a turn", lines, "queued-A started-A system/init replay-A assistant result/success completed-A")

	r = start("--resume", sessA)
	r.send(uuidA, "@say a")
	lines, _ = r.end()
	check("known", lines, "replay-A completed-A")

	r = start()
	r.send(uuidA, "@say on\n@sleep 60")
	lines = r.until("assistant")
	fmt.Fprintln(r.stdin, `{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}`)
	rest, _ := r.end()
	check("interrupted", append(lines, rest...), "queued-A started-A system/init replay-A assistant user result/error_during_execution cancelled-A")

	r = start()
	r.send(uuidA, "@sh while ! test -e go-on; do sleep 0.01; done")
	lines = r.until("assistant")
	r.send(uuidB, "@say steered")
	for !strings.Contains(brief(lines), "queued-B") {
		lines = append(lines, r.until("command_lifecycle")...)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "go-on"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rest, _ = r.end()
	check("steered", append(lines, rest...), "queued-A started-A system/init replay-A assistant queued-B user replay-B started-B assistant completed-B result/success completed-A")

	r = start()
	r.send(uuidA, "@unborn")
	if lines, status := r.end(); len(lines) > 0 || status != 1 {
		t.Errorf("unborn: %v, %d", lines, status)
	}
	p.env = []string{"STANDIN_VERSION=2.1.197"}
	r = start()
	r.send(uuidA, "@say a")
	lines, _ = r.end()
	check("2.1.197", lines, "system/init replay-A assistant result/success")
}

// TestErrorsAsRecorded compares the lines about an API error with messages and fields
// recorded from the real program.
func TestErrorsAsRecorded(t *testing.T) {
	for _, version := range []string{"2.1.197", "2.1.330"} {
		for name, prompt := range map[string]string{
			"400": "", "401-key": "@status 401", "402": "", "403": "", "404": "", "408": "", "409": "", "429-key": "@status 429 retry-after 3600",
			"500": "", "502": "", "503": "", "504": "", "529": "@status 529 retry-after 3600", "five-hour": "@limited 1h",
		} {
			t.Run(version+"/"+name, func(t *testing.T) {
				p := newPlace(t)
				p.env = []string{"STANDIN_VERSION=" + version, "CLAUDE_CODE_MAX_RETRIES=0", "ANTHROPIC_BASE_URL=http://127.0.0.1:1"}
				if prompt == "" {
					prompt = "@status " + name
				}
				var real []line
				var model string // some errors name the model
				data, err := os.ReadFile(filepath.Join("../../../testdata/errors", version, name+".jsonl"))
				if err != nil {
					t.Fatal(err)
				}
				for raw := range bytes.Lines(data) {
					var l line
					if err := json.Unmarshal(raw, &l); err != nil {
						t.Fatal(err)
					}
					if l["subtype"] == "init" {
						model, _ = l["model"].(string)
					}
					real = append(real, l)
				}
				if model == "" {
					t.Fatalf("%s has no init line with a model", name)
				}
				lines, status := p.turn(prompt, "--model", model)
				if status != 1 {
					t.Errorf("status %d", status)
				}
				if got, want := said(lines), said(real); got != want {
					t.Errorf("said\n%s, the real one\n%s", got, want)
				}
			})
		}
	}
}

// said returns the lines about an error without the parts that differ between runs.
func said(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		if l["type"] != "assistant" && l["type"] != "result" {
			continue
		}
		for _, key := range []string{"type", "error", "is_error", "is_api_error_message", "api_error_status", "api_error_type", "api_error", "terminal_reason"} {
			fmt.Fprint(&b, key, " ", l[key], ", ")
		}
		fmt.Fprintln(&b, l["api_error_params"] != nil)
		text := l.str("result")
		if text == "" {
			text = l.text()
		}
		text, _, _ = strings.Cut(text, "(127.0.0.1")
		text, _, _ = strings.Cut(text, " · resets ")
		text, _, _ = strings.Cut(text, "API Error: 400 ")
		fmt.Fprintln(&b, text)
	}
	return b.String()
}

// TestHelp checks that the usage text lists the version's flags and that each flag is
// accepted.
func TestHelp(t *testing.T) {
	for version, has := range map[string]bool{"2.1.197": false, "2.1.330": true} {
		p := newPlace(t)
		p.env = []string{"STANDIN_VERSION=" + version}
		help := p.output("--help")
		if got := slices.Contains(strings.Fields(help), "--system-prompt-snapshot"); got != has {
			t.Errorf("%s: the help has --system-prompt-snapshot: %v", version, got)
		}
		if got := p.output("--version"); got != version+" (claude-swarm stand-in)\n" {
			t.Errorf("--version says %q", got)
		}
		for sc := bufio.NewScanner(strings.NewReader(help)); sc.Scan(); {
			flag, _, _ := strings.Cut(strings.TrimSpace(sc.Text()), " ")
			if flag == "--help" || !strings.HasPrefix(flag, "--") {
				continue
			}
			if got := p.output(flag, "1", "--version"); strings.Contains(got, "unknown option") {
				t.Errorf("%s: %s is not known", version, flag)
			}
		}
		_, status := p.turn("x", "--system-prompt-snapshot", "off")
		if (status == 0) != has {
			t.Errorf("%s: exit %d with --system-prompt-snapshot", version, status)
		}
	}
	p := newPlace(t)
	p.env = []string{"STANDIN_VERSION=1.0"}
	if got := p.output("--version"); !strings.Contains(got, "only 2.1.197 and 2.1.330 are played") {
		t.Errorf("another version: %q", got)
	}
}

// TestSystemTextIsRecorded checks that a resumed session keeps the system prompt of its
// first turn until a compaction, unless an option disables this.
func TestSystemTextIsRecorded(t *testing.T) {
	var system string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ System string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		system = body.System
		fmt.Fprint(w, `{"id":"m","content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn"}`)
	}))
	defer srv.Close()
	p := newPlace(t)
	ask := func(want string, args ...string) {
		t.Helper()
		p.env = append(p.env, "ANTHROPIC_BASE_URL="+srv.URL)
		if _, status := p.turn("hello", args...); status != 0 || !strings.HasSuffix(system, want) {
			t.Errorf("%v: exit %d, the system prompt is %q", args, status, system)
		}
	}
	ask("one", "--session-id", sessA, "--append-system-prompt", "one")
	ask("one", "--resume", sessA, "--append-system-prompt", "two")
	ask("three", "--resume", sessA, "--append-system-prompt", "three", "--system-prompt-snapshot", "off")
	p.turn("@compact", "--resume", sessA)
	ask("four", "--resume", sessA, "--append-system-prompt", "four")

	r := p.start(append(stream, "--resume", sessA, "--append-system-prompt", "five")...)
	fmt.Fprintln(r.stdin, `{"type":"control_request","request_id":"r1","request":{"subtype":"initialize","systemPromptSnapshot":false}}`)
	r.send("", "hello")
	if r.end(); !strings.HasSuffix(system, "five") {
		t.Errorf("initialize without a snapshot: %q", system)
	}
	p.env = []string{"STANDIN_VERSION=2.1.197"}
	ask("six", "--resume", sessA, "--append-system-prompt", "six")
}

// TestResultsDoNotBeginWithTheirType checks that only the results of the older version begin
// with their type, as in the real program.
func TestResultsDoNotBeginWithTheirType(t *testing.T) {
	for version, want := range map[string]bool{"2.1.197": true, "2.1.330": false} {
		p := newPlace(t)
		p.env = []string{"STANDIN_VERSION=" + version}
		out := p.output("-p", "--output-format", "json", "@say a")
		if !strings.Contains(out, `"type":"result"`) || strings.HasPrefix(out, `{"type":`) != want {
			t.Errorf("%s: %.200s", version, out)
		}
	}
}
