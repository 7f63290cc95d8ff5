package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acptest"
)

// There is a recording of each row for each client, made with the client version that the
// tests run. No recording contains traces of the machine on which it was made.
func TestEveryRowIsRecorded(t *testing.T) {
	// The home folder in all recordings is /tmp/acp/home.
	machine := regexp.MustCompile(`/root|[^p]/home/|/Users/|127\.0\.0\.1:(808[1-9]|[1-79]|80[0-79])|` + regexp.QuoteMeta(os.TempDir()) + `/acp[0-9]`)
	for _, c := range acptest.Clients {
		for _, r := range rows {
			file := filepath.Join("..", "..", "..", "testdata", "acp", c.Name+"-"+c.Version, r.name+".jsonl")
			data, err := os.ReadFile(file)
			if err != nil {
				t.Errorf("%v\n  try: make record-acp", err)
				continue
			}
			if len(data) > maxFile {
				t.Errorf("%s has %d bytes, more than %d", file, len(data), maxFile)
			}
			if found := machine.Find(data); found != nil {
				t.Errorf("%s names the machine: %s", file, found)
			}
			last := int64(0)
			for n, text := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
				var l struct {
					TMS int64 `json:"t_ms"`
					Dir string
					Msg struct{ JSONRPC, Method string }
				}
				if err := json.Unmarshal(text, &l); err != nil || l.Msg.JSONRPC != "2.0" || l.TMS < last || l.Dir != "client" && l.Dir != "agent" {
					t.Errorf("%s:%d is not a message: %v, %s", file, n+1, err, text)
				}
				if n == 0 && (l.Dir != "client" || l.Msg.Method != "initialize") {
					t.Errorf("%s begins with %s", file, text)
				}
				last = l.TMS
			}
		}
	}
}

func TestNeutral(t *testing.T) {
	const id = "01a204a8-52a5-7692-8e5a-584f0368a0e2"
	lines := []line{{5, "agent", object{
		"sessionId": id, "again": id, "other": "b7716282-c6df-4a7d-9a4e-be80bd8afccb", "cline": "1795374510614_jmJIC_cli",
		"call": "sh_1795374478302_0", "at": "2026-11-22T19:08:38.267Z", "ms": 1795374478302, "path": "/tmp/acp12/work/a and tmp/acp12/work",
		"url": "http://127.0.0.1:4711/v1", "availableCommands": []any{1, 2, 3},
		"options": []any{object{"optionId": "a"}, object{"optionId": "b"}, object{"optionId": "c"}},
	}}}
	got, err := neutral(lines, map[string]string{"/tmp/acp12": "/tmp/acp", "http://127.0.0.1:4711": "http://127.0.0.1:8080"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"t_ms":5,"dir":"agent","msg":{"again":"00000000-0000-4000-8000-000000000001","at":"2026-01-01T00:00:00.000Z",` +
		`"availableCommands":[1,2],"call":"sh_1700000000001_0","cline":"1700000000000_00001_cli","ms":1700000000001,` +
		`"options":[{"optionId":"a"},{"optionId":"b"},{"optionId":"c"}],"other":"00000000-0000-4000-8000-000000000002",` +
		`"path":"/tmp/acp/work/a and tmp/acp/work","sessionId":"00000000-0000-4000-8000-000000000001","url":"http://127.0.0.1:8080/v1"}}` + "\n"
	if string(got) != want {
		t.Errorf("neutral =\n%s\nwant\n%s", got, want)
	}
}
