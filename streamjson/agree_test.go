package streamjson

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// oddLines are lines on which two readers of JSON are likely to differ.
var oddLines = []string{
	``, `{}`, `{"type":"assistant"}`, `{"type":"assistant"`, `{"type":"assistant",}`, `{"type":"assistant"}}`, ` {"type":"assistant"}`,
	`{"type" :"assistant"}`, `{"type":"assistant"} `, `{"type":"user","type":"result"}`, `{"session_id":"a","type":"result"}`,
	`{"type":"assistant","session_id":"a","session_id":"b","uuid":null,"uuid":7}`,
	`{"type":"assistant","message":{"content":[{"type":"text","text":"a"}],"id":"x"},"message":{"model":"m"}}`,
	`{"type":"assistant","message":{"content":[{"type":"text","text":"a","type":"thinking","thinking":"b"}]}}`,
	`{"type":"assistant","message":{"content":"plain","usage":{"input_tokens":1.5,"output_tokens":1e3,"cache_read_input_tokens":-0}}}`,
	`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"i","name":"n","input":{"a": [1 , 2]}}]}}`,
	`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"i","name":"n","input":null}]}}`,
	`{"type":"assistant","message":{"content":[{"type":"redacted_thinking","data":"x"},null,5]}}`,
	`{"type":"assistant","message":{"model":"<synthetic>"},"error":"rate_limit"}`,
	`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"i","content":[{"type":"text","text":""},{"type":"text","text":"b"}],"is_error":true}]}}`,
	`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"i","content":[{"type":"text","text":"a"},{"type":"image","source":{}}]}]}}`,
	`{"type":"user","message":{"content":[{"type":"tool_result","content":7}]},"isReplay":true,"isSynthetic":"yes"}`,
	`{"type":"user","message":{"content":"\u00e9\ud83d\ude00\ud83d x\udc00\ud83d\u0041 \"\\\/\b\f\n\r\t"}}`,
	`{"type":"user","message":{"content":"` + "\xff\xfe ok" + `"},"` + "\xff" + `":1}`,
	`{"type":"user","message":{"content":"` + "a\tb" + `"}}`, `{"type":"user","message":{"content":"\x"}}`, `{"type":"user","message":{"content":"\u12g4"}}`,
	`{"type":"user","x":01}`, `{"type":"user","x":1.}`, `{"type":"user","x":-}`, `{"type":"user","x":1e}`, `{"type":"user","x":tru}`, `{"type":"user","x":[1,]}`,
	`{"ty\u0070e":"user"}`, `{"type":"user","uu\u0069d":"x"}`, `{"Type":"user"}`, `{"type":"USER"}`, `{"type":"\u0075ser"}`,
	`{"type":"result","subtype":"success","subtype":"x","is_error":true,"is_error":null,"result":"a","modelUsage":{"m":{"contextWindow":5},"m":{"inputTokens":3},"k":{"contextWindow":9}}}`,
	`{"type":"result","model_usage_since_last_result":{"b":{"costUSD":0.1},"a":{"costUSD":0.2},"a":{"costUSD":0.3},"c":7}}`,
	`{"type":"result","model_usage_since_last_result":null}`, `{"type":"result","model_usage_since_last_result":{}}`,
	`{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"a"},7,{}]}`, `{"type":"command_lifecycle","command_uuid":"u","state":"queued"}`,
	`{"type":"result","duration_ms":1e400,"total_cost_usd":1e-400,"num_turns":99999999999999999999,"errors":["a",5],"permission_denials":[{"tool_name":"T","tool_input":[]}]}`,
	`{"type":"stream_event","event":{"delta":{"text":"x","type":"text_delta"}}}`, `{"type":"stream_event","event":{"delta":{"thinking":"x","type":"thinking_delta"}}}`,
	`{"type":"stream_event","event":{"delta":{"partial_json":"{","type":"input_json_delta"}}}`,
	`{"type":"system","subtype":"init","tools":["a","b"],"tools":null,"mcp_servers":[{"name":"x","status":"failed"}]}`,
	`{"type":"system","subtype":"init","subtype":"status"}`, `{"type":"system","session_id":"x","subtype":"status"}`, `{"type":"system"}`,
	`{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":5,"post_tokens":"x"}}`,
	`{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":515.53,"error_status":null,"error":null}`,
	`{"type":"system","subtype":"hook_","hook_event":"x"}`, `{"type":"system","subtype":"hook_mood","output":"x","exit_code":2}`,
	`{"type":"system","subtype":"task_updated","patch":{"status":"completed"},"description":"d","patch":{}}`,
	`{"type":"system","subtype":"task_started","task_type":"local_bash","is_backgrounded":false}`, `{"type":"system","subtype":"task_started","is_backgrounded":true}`,
	`{"type":"system","subtype":"task_started","is_backgrounded":null}`, `{"type":"system","subtype":"task_started","is_backgrounded":7}`,
	`{"type":"system","subtype":"mood\n"}`, `{"type":"mood","subtype":"x"}`, `{"type":5,"subtype":"x"}`,
	`{"type":"control_response","response":{"subtype":"success","request_id":"r"}}`, `{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool"}}`,
	`{"type":"control_cancel_request","request_id":"r"}`, `{"type":"user","x":` + deep(70) + `}`, `{"type":"user","x":` + deep(10) + `}`,
}

func deep(n int) string {
	return string(bytes.Repeat([]byte(`[{"a":`), n)) + "1" + string(bytes.Repeat([]byte(`}]`), n))
}

// fastOf decodes a line with the fast path alone, after another line, whose
// remains must not show.
func fastOf(line []byte) (Event, bool) {
	var p parser
	for _, before := range []string{
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"i","name":"n","input":{}}],"id":"m","model":"o","usage":{"input_tokens":9}},"session_id":"s","uuid":"u"}`,
		`{"type":"result","subtype":"s","errors":["e"],"permission_denials":[{"tool_name":"t"}],"modelUsage":{"z":{"contextWindow":7}},"session_id":"s"}`,
		`{"type":"system","subtype":"init","tools":["t"],"mcp_servers":[{"name":"n"}],"cwd":"c"}`,
		`{"type":"system","subtype":"task_updated","description":"d","patch":{"status":"s"}}`,
		`{"type":"user","isReplay":true}`,
	} {
		if !p.fast([]byte(before)) {
			panic("the fast path refuses " + before)
		}
	}
	ok := p.fast(line)
	return p.ev, ok
}

// checkAgreement holds the fast path against encoding/json.
func checkAgreement(t *testing.T, line []byte) (ok bool) {
	t.Helper()
	got, ok := fastOf(line)
	if !ok {
		return false
	}
	if !json.Valid(line) {
		t.Fatalf("the fast path accepts what is not JSON: %q", line)
	}
	if diff := cmp.Diff(decodeSlow(line), got); diff != "" {
		t.Fatalf("%q (-encoding/json +fast path):\n%s", line, diff)
	}
	return true
}

func transcripts(tb testing.TB) map[string][]byte {
	tb.Helper()
	paths, err := filepath.Glob("../testdata/transcripts*/*.jsonl")
	if err != nil || len(paths) < 60 {
		tb.Fatalf("transcripts: %d, %v", len(paths), err)
	}
	out := map[string][]byte{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		out[path] = data
	}
	return out
}

// Lines of the client that come once or twice a turn may be left to encoding/json:
// answers to questions, what became of a prompt, errors of the API, and results that
// do not begin with their type.
func TestFastPathTakesEveryLineOfTheClient(t *testing.T) {
	for name, data := range transcripts(t) {
		for line := range bytes.Lines(data) {
			line = bytes.TrimSuffix(line, []byte("\n"))
			if checkAgreement(t, line) {
				continue
			}
			switch ev := decodeSlow(line); {
			case ev.Kind == KindControl, ev.Kind == KindCommand:
			case ev.Kind == KindOther && !bytes.HasPrefix(line, []byte(`{"type":"system"`)):
			case ev.Kind == KindTask && ev.Task.Phase == "background":
			case ev.APIError != nil:
			case ev.Kind == KindResult && !bytes.HasPrefix(line, []byte(`{"type"`)):
			default:
				t.Errorf("%s: the fast path refuses %.200s", name, line)
			}
		}
	}
}

func TestFastPathAgreesOnOddLines(t *testing.T) {
	taken := 0
	for _, line := range oddLines {
		if checkAgreement(t, []byte(line)) {
			taken++
		}
	}
	if taken < 15 {
		t.Errorf("the fast path took %d of %d lines, so this test shows little", taken, len(oddLines))
	}
}

func FuzzFastPathAgrees(f *testing.F) {
	for _, line := range oddLines {
		f.Add([]byte(line))
	}
	for _, data := range transcripts(f) {
		for line := range bytes.Lines(data) {
			if len(line) < 4096 {
				f.Add(bytes.TrimSuffix(line, []byte("\n")))
			}
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) { checkAgreement(t, line) })
}

// FuzzBound holds the cutting of an escaped text against decoding it whole and
// cutting it then. Texts are blown up, so that short inputs are cut too.
func FuzzBound(f *testing.F) {
	f.Add([]byte(`plain text`), uint16(2000))
	f.Add([]byte(`\n\u001b[31m é \ud83d\ude00 \ud83d \\`), uint16(900))
	f.Add([]byte("€"), uint16(6000))
	f.Fuzz(func(t *testing.T, unit []byte, times uint16) {
		times = min(times, 8000)
		if len(unit) > 200 {
			return
		}
		line := append([]byte{'"'}, bytes.Repeat(unit, int(times))...)
		line = append(line, '"')
		s := scan{b: line}
		tok := s.raw()
		if s.refused || s.i != len(line) {
			return
		}
		var a arena
		got, lost, ok := a.bounded(tok)
		if !ok {
			return // not UTF-8
		}
		var whole string
		if err := json.Unmarshal(line, &whole); err != nil {
			t.Fatalf("the scanner accepts %q: %v", line, err)
		}
		want, wantLost := bound(whole)
		if got != want || lost != wantLost {
			t.Fatalf("bounded = %d bytes, %d lost; want %d bytes, %d lost\n%s", len(got), lost, len(want), wantLost, cmp.Diff(want, got))
		}
		if len(got) > MaxResult {
			t.Fatalf("%d bytes are more than MaxResult", len(got))
		}
	})
}
