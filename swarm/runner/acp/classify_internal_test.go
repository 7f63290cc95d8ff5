package acp

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

func programNamed(name string) *program {
	for _, c := range Clients() {
		if c.Kind.Name == name {
			p := programOf(c, &runner.Turn{Agent: "coder"})
			return &p
		}
	}
	panic("no client " + name)
}

// The cases are verbatim errors of the real clients.
func TestClassify(t *testing.T) {
	for _, test := range []struct {
		client, fault string
		want          runner.End
		unknown       bool
	}{
		{"codex", `{"code":-32603,"message":"Internal error","data":{"message":"You’ve hit your usage limit. Upgrade to Pro or try again at 3:46 AM.","codexErrorInfo":"usageLimitExceeded"}}`, runner.Limited, false},
		{"codex", `{"code":-32000,"message":"Authentication required"}`, runner.BadSetup, false},
		{"codex", `{"code":-32603,"message":"Internal error","data":{"codexErrorInfo":{"responseStreamDisconnected":{"httpStatusCode":503,"httpStatus":503}}}}`, runner.Limited, false},
		{"codex", `{"code":-32603,"message":"Internal error","data":{"details":"Unsupported format of modelId"}}`, runner.BadSetup, false},
		{"opencode", `{"code":-32603,"message":"Internal error: scripted status","data":{"service":"session","errorName":"APIError"}}`, runner.Limited, true},
		{"gemini", `{"code":400,"message":"{\"error\":{\"code\":400,\"message\":\"scripted status\"}}"}`, runner.Failed, false},
		{"gemini", `{"code":429,"message":"You exceeded your current quota"}`, runner.Limited, false},
		{"gemini", `{"code":404,"message":"models/gemini-9 is not found"}`, runner.BadSetup, false},
		{"cline", `{"code":-32603,"message":"Internal error: scripted status"}`, runner.Limited, true},
		{"acp", `{"code":-32603,"message":"fetch failed: ECONNREFUSED 127.0.0.1:8099"}`, runner.Limited, false},
		{"cline", `{"code":-32603,"message":"Internal error: The socket connection was closed unexpectedly."}`, runner.Limited, false},
		{"acp", `{"code":-32603,"message":"401 Unauthorized"}`, runner.BadSetup, false},
	} {
		var f fault
		if err := json.Unmarshal([]byte(test.fault), &f); err != nil {
			t.Fatal(err)
		}
		v := programNamed(test.client).classify(&f, true)
		if v.End != test.want || v.Unknown != test.unknown || v.Reason == "" {
			t.Errorf("%s %s\nends %s (%s), unknown %v; want %s, %v", test.client, test.fault, v.End, v.Reason, v.Unknown, test.want, test.unknown)
		}
	}
}

// Each case is an answer with which codex or copilot ends a failed turn.
func TestClassifyAnswers(t *testing.T) {
	for text, want := range map[string]runner.End{
		"We’re currently experiencing high demand, which may cause temporary errors.":                         runner.Limited,
		"unexpected status 503 Service Unavailable: scripted status, url: http://127.0.0.1:8099/v1/responses": runner.Limited,
		"exceeded retry limit, last status: 429 Too Many Requests":                                            runner.Limited,
		"stream disconnected before completion: stream closed before response.completed":                      runner.Limited,
		"Error: 400 the image is too large":                                                                   runner.Failed,
		"Error: 500 scripted status":                                                                          runner.Limited,
		`unexpected status 400 Bad Request: {"error":{"message":"invalid image"}}`:                            runner.Failed,
		"something that no release of today says":                                                             runner.Limited,
	} {
		if v := programNamed("codex").classifyText(text, 0, ""); v.End != want {
			t.Errorf("%q ends %s, want %s", text, v.End, want)
		}
	}
}

func TestResetOfALimit(t *testing.T) {
	v := programNamed("codex").classifyText("You’ve hit your usage limit, try again at 3:46 AM.", 0, "usageLimitExceeded")
	if v.ResetAt.Before(time.Now()) || v.ResetAt.Hour() != 3 || v.ResetAt.Minute() != 46 {
		t.Errorf("the limit ends at %v", v.ResetAt)
	}
}
