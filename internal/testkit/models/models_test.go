package models_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/models"
)

// A dialect writes requests in one format and reads the model's answers.
type dialect struct {
	path    string
	request func(turns []turn, tools []string) any
	said    func(data []json.RawMessage) (text, tool, input string, in, out int)
}

// A turn is one message in a request: text from one side, a tool call, or its result.
type turn struct{ who, text string }

func user(text string) turn  { return turn{"user", text} }
func model(text string) turn { return turn{"model", text} }

var called, result = turn{who: "call"}, turn{who: "result"}

var dialects = map[string]dialect{
	"responses": {
		path: "/v1/responses",
		request: func(turns []turn, tools []string) any {
			var input, offers []any
			for _, t := range turns {
				switch t.who {
				case "user":
					input = append(input, object{"type": "message", "role": "user", "content": []any{object{"type": "input_text", "text": t.text}}})
				case "model":
					input = append(input, object{"type": "message", "role": "assistant", "content": []any{object{"type": "output_text", "text": t.text}}})
				case "call":
					input = append(input, object{"type": "function_call", "call_id": "c", "name": "exec_command", "arguments": "{}"})
				case "result":
					input = append(input, object{"type": "function_call_output", "call_id": "c", "output": "x"})
				}
			}
			for _, t := range tools {
				if name, ok := strings.CutPrefix(t, "dead-drop "); ok {
					offers = append(offers, object{"type": "namespace", "name": "mcp__dead_drop", "tools": []any{object{"type": "function", "name": name}}})
					continue
				}
				offers = append(offers, object{"type": "function", "name": t})
			}
			return object{"model": "stub", "stream": true, "input": input, "tools": offers}
		},
		said: func(data []json.RawMessage) (text, tool, input string, in, out int) {
			for _, d := range data {
				var e struct {
					Type, Delta string
					Item        struct{ Type, Name, Namespace, Arguments string }
					Response    struct {
						Usage struct {
							In  int `json:"input_tokens"`
							Out int `json:"output_tokens"`
						}
					}
				}
				json.Unmarshal(d, &e)
				text += e.Delta
				if e.Type == "response.output_item.done" && e.Item.Type == "function_call" {
					tool, input = strings.TrimPrefix(e.Item.Namespace+"/"+e.Item.Name, "/"), e.Item.Arguments
				}
				if e.Type == "response.completed" {
					in, out = e.Response.Usage.In, e.Response.Usage.Out
				}
			}
			return
		},
	},
	"completions": {
		path: "/v1/chat/completions",
		request: func(turns []turn, tools []string) any {
			var messages, offers []any
			for _, t := range turns {
				switch t.who {
				case "user":
					messages = append(messages, object{"role": "user", "content": t.text})
				case "model":
					messages = append(messages, object{"role": "assistant", "content": t.text})
				case "call":
					messages = append(messages, object{"role": "assistant", "content": "", "tool_calls": []any{object{"id": "c"}}})
				case "result":
					messages = append(messages, object{"role": "tool", "content": "x", "tool_call_id": "c"})
				}
			}
			for _, t := range tools {
				offers = append(offers, object{"type": "function", "function": object{"name": strings.ReplaceAll(t, "dead-drop ", "dead-drop-")}})
			}
			return object{"model": "stub", "stream": true, "messages": messages, "tools": offers}
		},
		said: func(data []json.RawMessage) (text, tool, input string, in, out int) {
			for _, d := range data {
				var e struct {
					Choices []struct {
						Delta struct {
							Content string
							Calls   []struct {
								Function struct{ Name, Arguments string }
							} `json:"tool_calls"`
						}
					}
					Usage struct {
						In  int `json:"prompt_tokens"`
						Out int `json:"completion_tokens"`
					}
				}
				json.Unmarshal(d, &e)
				for _, c := range e.Choices {
					text += c.Delta.Content
					for _, call := range c.Delta.Calls {
						tool, input = call.Function.Name, call.Function.Arguments
					}
				}
				in, out = in+e.Usage.In, out+e.Usage.Out
			}
			return
		},
	},
	"gemini": {
		path: "/v1beta/models/stub:streamGenerateContent",
		request: func(turns []turn, tools []string) any {
			var contents, offers []any
			for _, t := range turns {
				part, role := object{"text": t.text}, "user"
				switch t.who {
				case "model":
					role = "model"
				case "call":
					part, role = object{"functionCall": object{"name": "run_shell_command"}}, "model"
				case "result":
					part = object{"functionResponse": object{"name": "run_shell_command"}}
				}
				contents = append(contents, object{"role": role, "parts": []any{part}})
			}
			for _, t := range tools {
				offers = append(offers, object{"name": strings.ReplaceAll(t, "dead-drop ", "mcp_dead-drop_")})
			}
			body := object{"contents": contents}
			if len(offers) > 0 {
				body["tools"] = []any{object{"functionDeclarations": offers}}
			}
			return body
		},
		said: func(data []json.RawMessage) (text, tool, input string, in, out int) {
			for _, d := range data {
				var e struct {
					Candidates []struct {
						Content struct {
							Parts []struct {
								Text string
								Call *struct {
									Name string
									Args json.RawMessage
								} `json:"functionCall"`
							}
						}
					}
					Usage struct {
						In  int `json:"promptTokenCount"`
						Out int `json:"candidatesTokenCount"`
					} `json:"usageMetadata"`
				}
				json.Unmarshal(d, &e)
				for _, c := range e.Candidates {
					for _, p := range c.Content.Parts {
						text += p.Text
						if p.Call != nil {
							tool, input = p.Call.Name, string(p.Call.Args)
						}
					}
				}
				in, out = in+e.Usage.In, out+e.Usage.Out
			}
			return
		},
	},
}

type object = map[string]any

// ask posts a request and returns the whole answer.
func ask(t *testing.T, url string, d dialect, turns []turn, tools ...string) (*http.Response, []byte, error) {
	t.Helper()
	body, err := json.Marshal(d.request(turns, tools))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(url+d.path, "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return resp, got, err
}

func events(body []byte) []json.RawMessage {
	var all []json.RawMessage
	for line := range strings.Lines(string(body)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			all = append(all, json.RawMessage(strings.TrimSpace(data)))
		}
	}
	return all
}

// each runs a test for each of the three formats.
func each(t *testing.T, test func(t *testing.T, d dialect, s *models.Server, url string)) {
	for name, d := range dialects {
		t.Run(name, func(t *testing.T) {
			s := &models.Server{}
			web := httptest.NewServer(s)
			defer web.Close()
			test(t, d, s, web.URL)
		})
	}
}

var shells = map[string]string{"/v1/responses": "exec_command", "/v1/chat/completions": "bash", "/v1beta/models/stub:streamGenerateContent": "run_shell_command"}

func TestAScriptGoesOnBehindEachResult(t *testing.T) {
	each(t, func(t *testing.T, d dialect, s *models.Server, url string) {
		prompt := user("Please do this.\n@say first\n@sh echo hi\n@tool send {\"to\":\"bob\"}\n@say last")
		tools := []string{shells[d.path], "dead-drop send"}
		turns := []turn{user("@say an older script"), model("an older script"), prompt}
		for i, want := range []struct{ text, tool, input string }{
			{"first", shells[d.path], "echo hi"},
			{"", "send", `"bob"`},
			{"last", "", ""},
		} {
			_, body, err := ask(t, url, d, turns, tools...)
			if err != nil {
				t.Fatal(err)
			}
			text, tool, input, in, out := d.said(events(body))
			if text != want.text || !strings.HasSuffix(tool, want.tool) || !strings.Contains(input, want.input) {
				t.Errorf("answer %d is %q, %s %s; want %q, %s with %s", i, text, tool, input, want.text, want.tool, want.input)
			}
			if in != models.InputTokens || out != models.OutputTokens {
				t.Errorf("answer %d reports %d and %d tokens", i, in, out)
			}
			turns = append(turns, called, result)
		}
		if n := len(s.Requests()); n != 3 {
			t.Errorf("the model counts %d requests, want 3", n)
		}
	})
}

func TestWithoutAScriptTheAnswerIsFixed(t *testing.T) {
	each(t, func(t *testing.T, d dialect, s *models.Server, url string) {
		for want, turns := range map[string][]turn{
			models.Fixed:   {user("@say old"), model("old"), user("hello")},
			"given":        {user("<prior-context>\n@say old\n</prior-context>\n@say given")},
			"in a tag":     {user("<user_input mode=\"act\">@say in a tag</user_input>")},
			"reminded":     {user("@say reminded"), user("<environment>no script</environment>")},
			"one\ntwo":     {user("@say one\r\n@say two\r\n")},
			"@unknown too": {user("@unknown word\n@say @unknown too")},
		} {
			_, body, err := ask(t, url, d, turns, shells[d.path])
			if text, _, _, _, _ := d.said(events(body)); err != nil || text != want {
				t.Errorf("%v: the model said %q, %v; want %q", turns, text, err, want)
			}
		}
		_, body, err := ask(t, url, d, []turn{user("@hang")})
		if text, _, _, _, _ := d.said(events(body)); err != nil || text != models.Title {
			t.Errorf("a request without tools got %q, %v; want %q", text, err, models.Title)
		}
		if all := s.Requests(); !all[len(all)-1].Side || all[0].Side {
			t.Error("Side does not distinguish requests without tools from others")
		}
	})
}

func TestErrors(t *testing.T) {
	each(t, func(t *testing.T, d dialect, s *models.Server, url string) {
		for script, want := range map[string]struct {
			status int
			after  string
		}{
			"@status 500":                {500, ""},
			"@status 429 retry-after 20": {429, "20"},
			"@limit":                     {429, "3600"},
			"@limit 60":                  {429, "60"},
			"@sleep long":                {400, ""},
			"@status":                    {400, ""},
			"@status 500 sometimes 2":    {400, ""},
			"@tool send {":               {400, ""},
		} {
			resp, body, err := ask(t, url, d, []turn{user(script)}, shells[d.path])
			if err != nil || resp.StatusCode != want.status || resp.Header.Get("Retry-After") != want.after || !json.Valid(body) {
				t.Errorf("%s: %v, %s, %v; want %+v", script, resp.Status, body, err, want)
			}
		}
		for i, want := range []int{503, 503, 200} {
			resp, body, err := ask(t, url, d, []turn{user("@status 503 times 2\n@say well again")}, shells[d.path])
			if err != nil || resp.StatusCode != want || want == 200 && !strings.Contains(string(body), "well again") {
				t.Errorf("try %d: %v, %s, %v; want %d", i, resp.Status, body, err, want)
			}
		}
		if _, body, err := ask(t, url, d, []turn{user("@say begun\n@cut")}, shells[d.path]); err == nil || !strings.Contains(string(body), "begun") {
			t.Errorf("@cut: %q, %v; want the text and a broken connection", body, err)
		}
	})
}

func TestContextCountsFromItsLineOn(t *testing.T) {
	each(t, func(t *testing.T, d dialect, s *models.Server, url string) {
		turns := []turn{user("@context 5000\n@sh true\n@say done")}
		for range 2 {
			_, body, err := ask(t, url, d, turns, shells[d.path])
			if _, _, _, in, _ := d.said(events(body)); err != nil || in != 5000 {
				t.Errorf("the answer reports %d input tokens, %v; want 5000", in, err)
			}
			turns = append(turns, called, result)
		}
	})
}

func TestAHangingAnswerEndsWithItsClient(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	each(t, func(t *testing.T, d dialect, s *models.Server, url string) {
		client := &http.Client{Timeout: 200 * time.Millisecond}
		body, _ := json.Marshal(d.request([]turn{user("@say begun\n@hang\n@say never")}, []string{shells[d.path]}))
		resp, err := client.Post(url+d.path, "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		if err == nil || !strings.Contains(string(got), "begun") || strings.Contains(string(got), "never") {
			t.Errorf("the answer is %q, %v; want the first text and then nothing", got, err)
		}
	})
}

func TestUnknownPath(t *testing.T) {
	web := httptest.NewServer(&models.Server{})
	defer web.Close()
	for _, path := range []string{"/", "/v1/messages", "/v1/models"} {
		resp, err := http.Get(web.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("GET %s = %s, want 404", path, resp.Status)
		}
	}
}
