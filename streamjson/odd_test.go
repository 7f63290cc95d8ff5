package streamjson

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// oddLines contains lines for which two JSON parsers are likely to return different
// results.
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
	`{"type":"control_cancel_request","request_id":"r"}`, `{"type":"user","x":` + deep(70) + `}`, `{"type":"user","x":` + deep(10) + `}`, `{"type":"user","x":` + deep(5000) + `}`, `{"type":"user","x":` + deep(4999) + `}`,
	" \r\t{ \"type\" : \"assistant\" , \"message\" : { \"content\" : [ { \"type\" : \"text\" , \"text\" : \"a\" } , \"x\" ] , \"usage\" : { } } } ",
	`{"type":"assistant","message":[],"uuid":{},"session_id":true}`, `{"type":"result","modelUsage":{"a":{"costUSD":1},"a":7},"total_cost_usd":"1"}`,
	`{"type":"result","total_cost_usd":1e999,"model_usage_since_last_result":{"a":{"costUSD":0.5},"b":{"costUSD":-1e999}}}`,
	`{"type":"result","total_cost_usd":-5,"model_usage_since_last_result":{"a":{"costUSD":null}}}`, `{"type":"user","message":{"content":[{"type":"tool_result","content":["a",{"type":"text"},{}]}]}}`,
}

func deep(n int) string {
	return strings.Repeat(`[{"a":`, n) + "1" + strings.Repeat(`}]`, n)
}

// TestOddLines pins the events of lines that are damaged or that contain repeated keys,
// escapes or unexpected types. UPDATE=1 updates the file.
func TestOddLines(t *testing.T) {
	const path = "testdata/odd-lines.txt"
	var b strings.Builder
	for _, line := range oddLines {
		ev := Decode([]byte(line))
		if string(ev.Raw) != line {
			t.Errorf("Raw = %q, want %q", ev.Raw, line)
		}
		data, err := json.Marshal(ev)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%.300q\n\t%s\n", line, data)
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
