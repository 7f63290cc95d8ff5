package fakeapi_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/fakeapi"
)

// load reads a scenario and fails the test if it is invalid.
func load(t *testing.T, script string) *fakeapi.Scenario {
	t.Helper()
	sc, err := fakeapi.Load(strings.NewReader(script))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// serve runs a server that plays script until the test ends.
func serve(t *testing.T, script string) (*fakeapi.Server, string) {
	t.Helper()
	s := fakeapi.New(load(t, script), nil)
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return s, srv.URL
}

// ask posts a Messages request and returns the answer. err is the reason if the answer is
// incomplete.
func ask(t *testing.T, url, body string) (status int, answer string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/v1/messages?beta=true", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "sk-ant-secret")
	req.Header.Set("X-Claude-Code-Session-Id", "2222")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(out), err
}

// says returns a request whose last user message is text.
func says(text string, stream bool) string {
	return request(stream, map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "text", "text": "<system-reminder>\nB everywhere\n</system-reminder>\n"},
		map[string]any{"type": "text", "text": text},
	}})
}

func request(stream bool, messages ...any) string {
	b, err := json.Marshal(map[string]any{
		"model": "claude-test", "max_tokens": 100, "stream": stream, "messages": messages,
		"system": []any{map[string]any{"type": "text", "text": "You are coder."}},
		"tools":  []any{map[string]any{"name": "Bash"}},
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestRepliesInOrderAndByMatch(t *testing.T) {
	s, url := serve(t, `{"replies":[
		{"name":"b","match":{"last_user_contains":"B"},"times":-1,"text":"to B"},
		{"name":"one","text":"first"},{"text":"second"},{"name":"never","match":{"kind":"side"},"text":"x"}]}`)
	for i, c := range []struct{ say, want string }{
		{"a", "first"}, {"B", "to B"}, {"a", "second"}, {"B", "to B"}, {"a", "exhausted"},
	} {
		if _, got, err := ask(t, url, says(c.say, false)); err != nil || !strings.Contains(got, c.want) {
			t.Errorf("request %d: got %q (%v), want %q", i, got, err, c.want)
		}
	}
	st := s.Stats()
	if st.Requests != 5 || st.Answered["b"] != 2 || st.Answered["reply-3"] != 1 || st.Unused != 1 {
		t.Errorf("Stats() = %+v", st)
	}
}

func TestMatch(t *testing.T) {
	result := request(false, map[string]any{"role": "user", "content": "go"}, map[string]any{"role": "assistant", "content": "…"},
		map[string]any{"role": "user", "content": []any{map[string]any{
			"type": "tool_result", "content": []any{map[string]any{"type": "text", "text": "exit 3"}}}}})
	plain := says("Fix the door", false)
	for name, c := range map[string]struct {
		match, request string
		want           bool
	}{
		"none":             {`{}`, plain, true},
		"text":             {`{"last_user_contains":"door"}`, plain, true},
		"reminder hidden":  {`{"last_user_contains":"everywhere"}`, plain, false},
		"regexp":           {`{"last_user_regexp":"^Fix the [a-d]oor$"}`, plain, true},
		"regexp not":       {`{"last_user_regexp":"^the"}`, plain, false},
		"is result":        {`{"last_is_tool_result":true}`, result, true},
		"is no result":     {`{"last_is_tool_result":true}`, plain, false},
		"not a result":     {`{"last_is_tool_result":false}`, result, false},
		"result text":      {`{"tool_result_contains":"exit 3"}`, result, true},
		"result other":     {`{"tool_result_contains":"exit 4"}`, result, false},
		"any":              {`{"any_contains":"everywhere"}`, plain, true},
		"not":              {`{"not_contains":"everywhere"}`, plain, false},
		"system":           {`{"system_contains":"coder"}`, plain, true},
		"system other":     {`{"system_contains":"reviewer"}`, plain, false},
		"model":            {`{"model_contains":"test"}`, plain, true},
		"model other":      {`{"model_contains":"opus"}`, plain, false},
		"tool":             {`{"tool_offered":"Bash"}`, plain, true},
		"tool missing":     {`{"tool_offered":"Write"}`, plain, false},
		"tool not offered": {`{"tool_not_offered":"Bash"}`, plain, false},
		"header":           {`{"header":{"X-Claude-Code-Session-Id":"222"}}`, plain, true},
		"header other":     {`{"header":{"X-Claude-Code-Session-Id":"3"}}`, plain, false},
		"min":              {`{"min_messages":2}`, plain, false},
		"max":              {`{"max_messages":2}`, result, false},
		"both":             {`{"min_messages":3,"max_messages":3}`, result, true},
		"kind":             {`{"kind":"compact"}`, plain, false},
		"any kind":         {`{"kind":"any"}`, plain, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, url := serve(t, `{"replies":[{"text":"taken","match":`+c.match+`}]}`)
			_, got, err := ask(t, url, c.request)
			if err != nil {
				t.Fatal(err)
			}
			if taken := strings.Contains(got, "taken"); taken != c.want {
				t.Errorf("match %s: %t, want %t", c.match, taken, c.want)
			}
		})
	}
}

func TestStreamAndWholeSayTheSame(t *testing.T) {
	_, url := serve(t, `{"replies":[{"times":2,"chunk_runes":2,"context_tokens":5000,"content":[
		{"thinking":"hm"},{"redacted_thinking":"zz"},{"text":"žluť {{n}} {{last_user}} {{model}} {{messages}}"},
		{"repeat":{"text":"ab","times":3}},{"raw":{"type":"server_tool_use","id":"srv"}},
		{"tool_use":{"name":"Bash","input":{"command":"ls"}}}]}]}`)
	_, stream, err := ask(t, url, says("x", true))
	if err != nil {
		t.Fatal(err)
	}
	_, whole, err := ask(t, url, says("x", false))
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Content    []map[string]any `json:"content"`
		StopReason string           `json:"stop_reason"`
		Usage      fakeapi.Usage    `json:"usage"`
	}
	if err := json.Unmarshal([]byte(whole), &want); err != nil {
		t.Fatal(err)
	}
	got := collect(t, stream)
	if want.StopReason != "tool_use" || want.Usage.CacheReadInputTokens != 4990 {
		t.Errorf("stop %q usage %+v", want.StopReason, want.Usage)
	}
	// The ids and {{n}} depend on the request's number, which differs between the two
	// requests.
	norm := strings.NewReplacer("000001", "N", "000002", "N", "žluť 1", "žluť N", "žluť 2", "žluť N").Replace
	if g, w := norm(fmt.Sprint(got)), norm(fmt.Sprint(want.Content)); g != w {
		t.Errorf("streamed\n%s\nwhole\n%s", g, w)
	}
	for _, part := range []string{`"text":"žl"`, `"text":"uť"`, "žluť 2 x claude-test 1", "ababab"} {
		if !strings.Contains(stream+whole, part) {
			t.Errorf("no answer contains %s", part)
		}
	}
}

// The text that a regular expression matches can be used as a tool argument.
func TestMatchIsFilledIn(t *testing.T) {
	_, url := serve(t, `{"replies":[{"match":{"last_user_regexp":"read (.*)!"},"text":"{{match}}?","content":[
		{"tool_use":{"name":"Read","input":{"file":"{{match}}","n":2}}}]}]}`)
	_, got, err := ask(t, url, says(`read a "b"!`, false))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"text":"a \"b\"?"`, `"input":{"file":"a \"b\"","n":2}`} {
		if !strings.Contains(got, part) {
			t.Errorf("%s has no %s", got, part)
		}
	}
}

// collect reassembles the blocks of a stream, as a client does.
func collect(t *testing.T, stream string) []map[string]any {
	t.Helper()
	var blocks []map[string]any
	var input strings.Builder
	for _, l := range strings.Split(stream, "\n") {
		data, ok := strings.CutPrefix(l, "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type  string            `json:"type"`
			Block map[string]any    `json:"content_block"`
			Delta map[string]string `json:"delta"`
		}
		json.Unmarshal([]byte(data), &e) // an event that is not JSON adds nothing, so the caller's comparison fails
		switch e.Type {
		case "content_block_start":
			blocks = append(blocks, e.Block)
			input.Reset()
		case "content_block_delta":
			b := blocks[len(blocks)-1]
			for key, value := range e.Delta {
				switch key {
				case "type":
				case "partial_json":
					input.WriteString(value)
				default:
					b[key] = fmt.Sprint(b[key]) + value
				}
			}
		case "content_block_stop":
			if input.Len() > 0 {
				var in map[string]any
				if err := json.Unmarshal([]byte(input.String()), &in); err != nil {
					t.Fatal(err)
				}
				blocks[len(blocks)-1]["input"] = in
			}
		}
	}
	return blocks
}

func TestErrorsAndFaults(t *testing.T) {
	_, url := serve(t, `{"headers":{"x-all":"1"},"replies":[
		{"status":429,"headers":{"retry-after":"7"}},
		{"raw_body":"not json"},
		{"text":"a longer text","chunk_runes":2,"cut_after_events":4},
		{"text":"a longer text","chunk_runes":2,"cut_after_events":4,"cut_with_reset":true},
		{"text":"whole","cut_after_events":1},
		{"text":"x","error_after_events":2,"error_type":"api_error"},
		{"text":"slow","stall_after_events":2,"stall_ms":5,"delay_ms":1,"chunk_delay_ms":1},
		{"text":"x","drop":true},{"status":529,"drop":true,"cut_with_reset":true}]}`)
	if status, got, _ := ask(t, url, says("x", true)); status != 429 || !strings.Contains(got, "rate_limit_error") || !strings.Contains(got, "req_fake_000001") {
		t.Errorf("429: %d %s", status, got)
	}
	if status, got, _ := ask(t, url, says("x", true)); status != 200 || got != "not json" {
		t.Errorf("raw body: %d %s", status, got)
	}
	for _, how := range []string{"cut", "reset"} {
		if _, got, err := ask(t, url, says("x", true)); err == nil || !strings.Contains(got, "message_start") && how == "cut" || strings.Contains(got, "message_stop") {
			t.Errorf("%s: %v %s", how, err, got)
		}
	}
	if _, got, err := ask(t, url, says("x", false)); err == nil {
		t.Errorf("cut of a whole answer: %s", got)
	}
	if _, got, err := ask(t, url, says("x", true)); err != nil || !strings.Contains(got, "event: error") || !strings.Contains(got, "api_error") {
		t.Errorf("error event: %v %s", err, got)
	}
	if _, got, err := ask(t, url, says("x", true)); err != nil || !strings.Contains(got, "message_stop") {
		t.Errorf("stall: %v %s", err, got)
	}
	for _, how := range []string{"drop", "drop with a reset"} {
		if status, got, err := ask(t, url, says("x", true)); err == nil {
			t.Errorf("%s: %d %s", how, status, got)
		}
	}
}

func TestKindsDoNotUseUpTheScript(t *testing.T) {
	s, url := serve(t, `{"replies":[{"text":"main"}],"compact":{"text":"the summary"},"side":{"text":"the title"},"count_tokens":77}`)
	for _, c := range []struct{ body, want string }{
		{says("Your task is to create a detailed summary of the conversation so far", false), "the summary"},
		{`{"max_tokens":1,"messages":[{"role":"user","content":"quota"}]}`, `"ok"`},
		{`{"max_tokens":9,"system":"Write a short title","messages":[{"role":"user","content":"hello"}]}`, "the title"},
		{says("x", false), "main"},
	} {
		if _, got, err := ask(t, url, c.body); err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s (%v), want %s", c.body, got, err, c.want)
		}
	}
	for endpoint, want := range map[string]string{
		"POST /v1/messages/count_tokens": `{"input_tokens":77}`, "GET /v1/models": `{"data":[],"first_id":null,"has_more":false,"last_id":null}`,
		"HEAD /": "", "GET /": "", "DELETE /v1/x": "not_found_error",
	} {
		method, path, _ := strings.Cut(endpoint, " ")
		if got := do(t, method, url+path, nil); !strings.Contains(got, want) {
			t.Errorf("%s = %q, want %q", endpoint, got, want)
		}
	}
	var kinds []string
	for _, r := range s.Requests() {
		kinds = append(kinds, string(r.Kind))
	}
	if got := strings.Join(kinds[:4], " "); got != "compact quota side main" {
		t.Errorf("kinds %q", got)
	}
}

func do(t *testing.T, method, url string, body io.Reader) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestControl(t *testing.T) {
	_, url := serve(t, `{"replies":[{"text":"old"}]}`)
	if got := do(t, "POST", url+"/__fakeapi/scenario", strings.NewReader(`{"replies":[{"name":"n","text":"new"}]}`)); got != `{"replies":1}` {
		t.Errorf("scenario: %s", got)
	}
	if got := do(t, "POST", url+"/__fakeapi/scenario", strings.NewReader(`{"replys":[]}`)); !strings.Contains(got, "replys") {
		t.Errorf("bad scenario: %s", got)
	}
	if _, got, _ := ask(t, url, says("x", false)); !strings.Contains(got, "new") {
		t.Errorf("answer: %s", got)
	}
	if got := do(t, "GET", url+"/__fakeapi/stats", nil); got != `{"requests":1,"answered":{"n":1},"unused":0}` {
		t.Errorf("stats: %s", got)
	}
}

func TestLogAndRequests(t *testing.T) {
	var mu sync.Mutex
	var logged bytes.Buffer
	s := fakeapi.New(load(t, `{}`), writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return logged.Write(p)
	}))
	srv := httptest.NewServer(s)
	defer srv.Close()
	ask(t, srv.URL, says("hello", false))
	ask(t, srv.URL, "not json")

	var zipped bytes.Buffer
	zw := gzip.NewWriter(&zipped)
	io.WriteString(zw, says("zipped", false))
	zw.Close()
	req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL+"/v1/messages", &zipped)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Encoding", "gzip")
	if resp, err := http.DefaultClient.Do(req); err != nil || resp.StatusCode != 200 {
		t.Fatalf("gzip: %v %v", resp, err)
	}

	got := s.Requests()
	if len(got) != 3 || got[0].Header["X-Api-Key"] != "(redacted)" || got[1].Status != 400 || !bytes.Contains(got[2].Body, []byte("zipped")) {
		t.Errorf("Requests() = %+v", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if strings.Contains(logged.String(), "sk-ant-secret") {
		t.Error("the key is in the log")
	}
	lines := strings.Split(strings.TrimSpace(logged.String()), "\n")
	var first, second struct {
		N    int             `json:"n"`
		Body json.RawMessage `json:"body"`
		Raw  string          `json:"raw_body"`
	}
	if err := errors.Join(json.Unmarshal([]byte(lines[0]), &first), json.Unmarshal([]byte(lines[1]), &second)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(first.Body), "hello") || second.Raw != "not json" || second.N != 2 {
		t.Errorf("log:\n%s", logged.String())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestLogError(t *testing.T) {
	s := fakeapi.New(load(t, `{}`), writerFunc(func([]byte) (int, error) { return 0, errors.New("disk full") }))
	srv := httptest.NewServer(s)
	defer srv.Close()
	if _, got, err := ask(t, srv.URL, says("x", false)); err != nil || !strings.Contains(got, "exhausted") {
		t.Errorf("answer %q, %v", got, err)
	}
	if got := s.Stats().LogError; got != "disk full" {
		t.Errorf("LogError = %q", got)
	}
}

// In a long run, the server keeps only the newest requests, up to a maximum number and a
// maximum total size.
func TestRequestsAreBounded(t *testing.T) {
	s := fakeapi.New(load(t, `{"fallback":{"text":"x"}}`), nil)
	post := func(body string) {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/messages", strings.NewReader(body))
		s.ServeHTTP(httptest.NewRecorder(), r)
	}
	for range 300 {
		post(says("x", false))
	}
	if got := s.Requests(); len(got) != 256 || got[0].N != 45 || got[255].N != 300 {
		t.Errorf("%d kept, %d to %d", len(got), got[0].N, got[len(got)-1].N)
	}
	for range 3 {
		post(says(strings.Repeat("x", 3<<20), false))
	}
	if got := s.Requests(); len(got) != 2 || got[1].N != 303 {
		t.Errorf("%d kept after large ones", len(got))
	}
}

func TestLoadRefuses(t *testing.T) {
	for script, want := range map[string]string{
		`nope`:                  "invalid character",
		`{} {}`:                 "trailing data",
		`{"replys":[]}`:         `unknown field "replys"`,
		`{"replies":[{"x":1}]}`: `unknown field "x"`,
		`{"replies":[{"match":{"last_user_regexp":"("}}]}`:               "missing closing",
		`{"replies":[{"match":{"kind":"mian"}}]}`:                        `reply-1: kind "mian"`,
		`{"replies":[{"name":"n","status":42}]}`:                         "n: status 42",
		`{"replies":[{"content":[{}]}]}`:                                 "block 1 has 0",
		`{"replies":[{"content":[{"text":"a","thinking":"b"}]}]}`:        "block 1 has 2",
		`{"compact":{"content":[{"tool_use":{"input":{}}}]}}`:            "compact: block 1: the tool has no name",
		`{"replies":[{"content":[{"repeat":{"text":"a","times":-1}}]}]}`: "block 1 is repeated -1 times",
	} {
		if _, err := fakeapi.Load(strings.NewReader(script)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load(%s) = %v, want %q in it", script, err, want)
		}
	}
}

func TestScenariosLoad(t *testing.T) {
	files, err := filepath.Glob("testdata/scenarios/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenario: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fakeapi.Load(bytes.NewReader(data)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestListenEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := fakeapi.New(load(t, `{"replies":[{"text":"x","delay_ms":600000}]}`), nil)
	url, wait, err := fakeapi.Listen(ctx, "127.0.0.1:0", s)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan error, 1)
	go func() {
		resp, err := http.Post(url+"/v1/messages", "application/json", strings.NewReader(says("x", true)))
		if err == nil {
			resp.Body.Close()
		}
		asked <- err
	}()
	for len(s.Requests()) == 0 { // the request is recorded before the wait begins
		select {
		case err := <-asked:
			t.Fatalf("answered too early: %v", err)
		default:
		}
	}
	cancel()
	if err := wait(); err != nil {
		t.Errorf("wait() = %v", err)
	}
	<-asked
	if err := wait(); err != nil {
		t.Errorf("second wait() = %v", err)
	}
	if _, _, err := fakeapi.Listen(t.Context(), "127.0.0.1:no-port", s); err == nil {
		t.Error("Listen accepted an address without a port")
	}
}

// The answer to a request that does not ask for a stream is always a message or an API
// error, both as JSON.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(says("hello", false)))
	f.Add([]byte(`{"max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","content":[{}]}]}]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":7}],"tools":[{}],"system":[]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if bytes.Contains(bytes.ToLower(body), []byte("stream")) {
			return // a stream is not a single JSON value
		}
		sc := load(t, `{"replies":[{"match":{"last_user_regexp":"a+","tool_offered":"Bash"},"text":"{{last_user}}"}]}`)
		w := httptest.NewRecorder()
		fakeapi.New(sc, io.Discard).ServeHTTP(w, httptest.NewRequest("POST", "/v1/messages", bytes.NewReader(body)))
		var answer struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatalf("status %d, %v: %q", w.Code, err, w.Body.Bytes())
		}
		if want := map[int]string{200: "message", 400: "error"}[w.Code]; answer.Type != want {
			t.Errorf("status %d with type %q", w.Code, answer.Type)
		}
	})
}
