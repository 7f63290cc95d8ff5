package standin_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shapes contains the keys that are always present and those that are sometimes present,
// for each kind of line.
type shapes map[string]struct{ always, ever map[string]bool }

// add adds the keys of the line l.
func (s shapes) add(l line) {
	keys := map[string]bool{}
	paths("", map[string]any(l), keys)
	sort := sortOf(l)
	had, ok := s[sort]
	if !ok {
		had.always, had.ever = maps.Clone(keys), keys
	}
	maps.DeleteFunc(had.always, func(k string, _ bool) bool { return !keys[k] })
	maps.Copy(had.ever, keys)
	s[sort] = had
}

// paths collects the keys of v with the types of their values. It does not descend into
// parts that differ between calls.
func paths(at string, v any, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			name := at + "." + k
			switch at {
			case ".modelUsage", ".model_usage_since_last_result": // these keys are names of models
				name = at + ".*"
			case ".tool_use_result", ".event":
				continue
			}
			switch name {
			case ".message.content", ".permission_denials", ".tool_use_result", ".event":
				into[name] = true
				if list, ok := inner.([]any); ok {
					for _, item := range list {
						paths(name+"[]", item, into)
					}
				}
				continue
			}
			into[name+" "+kindOf(inner)] = true
			paths(name, inner, into)
		}
	}
}

// kindOf returns the JSON type of v; null matches any type.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "object"
	case []any:
		return "list"
	}
	return fmt.Sprintf("%T", v)
}

// sortOf returns the kind of a line. Lines of the same kind have the same keys.
func sortOf(l line) string {
	k := l.kind()
	switch {
	case l.str("message", "model") == "<synthetic>":
		k += " synthetic, error " + fmt.Sprint(l["error"] != nil)
	case k == "user" && l["isSynthetic"] == true:
		_, manual := l["isReplay"]
		k += " summary, manual " + fmt.Sprint(manual)
	case k == "user/replay":
		k += " stamped " + fmt.Sprint(l["timestamp"] != nil)
	case k == "result/success" && l["num_turns"] == 0.0:
		k += " of a command"
	case strings.HasPrefix(k, "result/"):
		k += " error " + fmt.Sprint(l["is_error"], l["terminal_reason"] != nil)
		if k == "result/error_during_execution error true true" {
			k += " " + l.str("terminal_reason")
		}
	case k == "system/status":
		k += " " + l.str("status") + l.str("compact_result")
	case k == "control_response":
		k += " " + l.str("response", "subtype")
	}
	if k == "assistant" || k == "user" {
		m, _ := l["message"].(map[string]any)
		if blocks, ok := m["content"].([]any); ok && len(blocks) > 0 {
			b := blocks[0].(map[string]any)
			k += " " + fmt.Sprint(b["type"])
			if b["type"] == "tool_result" {
				k += " failed " + fmt.Sprint(b["is_error"] == true)
			}
		}
	}
	return k
}

// recorded returns the shapes of all lines from the real program that are recorded in a
// folder.
func recorded(t *testing.T, dir string) shapes {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../../testdata", dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	s := shapes{}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		for r := bufio.NewReader(f); ; {
			raw, err := r.ReadBytes('\n')
			if err != nil {
				break
			}
			var l line
			// Lines from sub-agents have different keys, and the stand-in does not print such
			// lines.
			if err := json.Unmarshal(raw, &l); err == nil && l["parent_tool_use_id"] == nil {
				s.add(l)
			}
		}
		f.Close()
	}
	return s
}

// TestShapes compares each line of the stand-in with the recorded lines of the same kind.
// Each line must have every key that the real lines always have, no key that they never
// have, and values of the same types. Some kinds are recorded only for the older version.
func TestShapes(t *testing.T) {
	for version, dir := range map[string]string{"2.1.197": "transcripts", "2.1.330": "transcripts-330"} {
		t.Run(version, func(t *testing.T) { testShapes(t, version, recorded(t, dir), recorded(t, "transcripts")) })
	}
}

func testShapes(t *testing.T, version string, real, older shapes) {
	seen := map[string]bool{}
	for i, l := range everyLine(t, version) {
		sort := sortOf(l)
		seen[sort] = true
		if sort == "weather_report" || sort == "rubbish" {
			continue
		}
		want, ok := real[sort]
		known := ok // whether lines of this kind are recorded for this version
		if !ok {
			want, ok = older[sort]
		}
		if !ok {
			t.Errorf("line %d: no recorded line of the sort %q", i, sort)
			continue
		}
		got := map[string]bool{}
		paths("", map[string]any(l), got)
		for _, key := range slices.Sorted(maps.Keys(want.always)) {
			name, _, _ := strings.Cut(key, " ")
			// The stand-in accepts no messages from other sessions, so it has no socket for
			// them.
			if !got[key] && !got[name+" null"] && name != ".messaging_socket_path" {
				t.Errorf("%s: no %s", sort, key)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(got)) {
			name, kind, _ := strings.Cut(key, " ")
			if strings.HasPrefix(name, ".modelUsage.") { // the recorded API errors have no totals by model
				want.ever[key] = want.ever[key] || real["result/success error false true"].ever[key]
			}
			if strings.HasPrefix(name, ".message.content[].input.") {
				want.ever[key] = want.ever[key] || older[sort].ever[key] // the recordings of one version do not contain all tools
			}
			if known && !want.ever[key] && !(kind != "null" && want.ever[name+" null"]) {
				t.Errorf("%s: %s is not in the real ones", sort, key)
			}
		}
	}
	for _, sort := range []string{
		"system/init", "assistant text", "assistant thinking", "assistant tool_use", "user tool_result failed true",
		"user tool_result failed false", "user/replay stamped true", "user/replay stamped false", "result/success error false true",
		"result/success error true true", "result/error_during_execution error true false", "system/compact_boundary", "system/api_retry",
		"result/error_during_execution error true true aborted_tools", "user summary, manual true", "user summary, manual false",
		"system/hook_started", "system/hook_response", "stream_event", "control_response success", "result/success of a command",
		"rate_limit_event", "command_lifecycle", "conversation_reset", "system/permission_denied",
	} {
		if _, ok := real[sort]; !ok && version == "2.1.197" {
			continue // the older version has no such lines
		}
		if !seen[sort] {
			t.Errorf("no line of the sort %q was compared", sort)
		}
	}
}

// everyLine makes the stand-in print every kind of line.
func everyLine(t *testing.T, version string) []line {
	t.Helper()
	p := newPlace(t)
	p.env = []string{"STANDIN_VERSION=" + version}
	var all []line
	more := func(lines []line, _ int) { all = append(all, lines...) }

	more(p.turn("x", "--resume", sessA))
	more(p.turn("@think hm\n@say a\n@sh true\n@sh exit 1\n@write a b\n@edit a b => c\n@read a\n@deny Write x\n@compact\n@say b", "--session-id", sessA,
		"--settings", `{"hooks":{"SessionStart":[{"matcher":"compact","hooks":[{"type":"command","command":"echo hello"}]}]}}`))
	more(p.turn("@status 401", "--resume", sessA))
	more(p.turn("@status 429 retry-after 3600", "--resume", sessA))
	if version != "2.1.197" { // for 2.1.197, limits are recorded only in testdata/errors
		more(p.turn("@limited 1h", "--resume", sessA))
	}
	more(p.turn("/compact keep the names", "--resume", sessA))
	more(p.turn("/compact", "--continue"))
	more(p.turn("/nosuch", "--continue"))
	more(p.turn("/clear", "--continue"))
	more(p.turn("@say a", "--include-partial-messages"))

	r := p.start(stream...)
	r.whole = true
	r.send(uuidA, "@sh sleep 60")
	all = append(all, r.until("assistant")...)
	fmt.Fprintln(r.stdin, `{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}`)
	all = append(all, r.until("result/error_during_execution")...)
	r.send(uuidA, "again")
	more(r.end())
	return all
}
