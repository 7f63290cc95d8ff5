package acpstandin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// asksOnce is a record in which the agent asks for permission once and requests a file
// write.
const asksOnce = `
{"t_ms":0,"dir":"client","msg":{"jsonrpc":"2.0","id":"a","method":"initialize","params":{}}}
{"t_ms":1,"dir":"agent","msg":{"jsonrpc":"2.0","id":"a","result":{"protocolVersion":1}}}
{"t_ms":2,"dir":"note","msg":"it begins to think"}
{"t_ms":3,"dir":"client","msg":{"jsonrpc":"2.0","id":"b","method":"session/prompt","params":{"sessionId":"ses_1","cwd":"/old"}}}
{"t_ms":4,"dir":"agent","msg":{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"ses_1","path":"/old/a"}}}
{"t_ms":5,"dir":"client","msg":{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}}
{"t_ms":6,"dir":"agent","msg":{"jsonrpc":"2.0","id":1,"method":"fs/write_text_file","params":{}}}
{"t_ms":7,"dir":"client","msg":{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}}
{"t_ms":8,"dir":"agent","msg":{"jsonrpc":"2.0","id":"b","result":{"stopReason":"end_turn"}}}
`

// toPlay returns a player for asksOnce.
func toPlay(t *testing.T) *Player {
	t.Helper()
	connections, err := ReadRecord(strings.NewReader(asksOnce))
	if err != nil || len(connections) != 1 {
		t.Fatalf("the record has %d connections, %v", len(connections), err)
	}
	return NewPlayer(connections[0])
}

// heard passes a message to the player and returns its output.
func heard(t *testing.T, p *Player, line string) (string, error) {
	t.Helper()
	var m message
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatal(err)
	}
	out, err := p.Next(m)
	var all string
	for _, l := range out {
		all += string(l)
	}
	return all, err
}

func TestPlayerTranslatesIDsAndFolders(t *testing.T) {
	p := toPlay(t)
	for _, step := range []struct{ client, agent string }{
		{`{"id":1,"method":"initialize"}`, `"id":1`},
		{`{"id":2,"method":"session/prompt","params":{"sessionId":"ses_2","cwd":"/folder"}}`, `/folder/a`},
		{`{"id":0,"result":{"outcome":{"optionId":"yes","outcome":"selected"}}}`, `fs/write_text_file`},
		{`{"id":1,"error":{"code":-1,"message":"in other words"}}`, `"id":2`},
	} {
		if out, err := heard(t, p, step.client); err != nil || !strings.Contains(out, step.agent) {
			t.Errorf("after %s the player prints %q, %v; want %q in it", step.client, out, err, step.agent)
		}
	}
	if open := p.Unanswered(); len(open) > 0 {
		t.Errorf("the requests %v are open although they were answered", open)
	}
}

func TestPlayerNoticesADifference(t *testing.T) {
	const begin, prompt = `{"id":1,"method":"initialize"}`, `{"id":2,"method":"session/prompt","params":{}}`
	const yes = `{"id":0,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`
	for name, test := range map[string]struct {
		client []string
		says   string   // expected error after the client's last message
		open   []string // expected open requests after that message
	}{
		"another decision":               {[]string{begin, prompt, `{"id":0,"result":{"outcome":{"outcome":"cancelled"}}}`}, "in the record", []string{"0"}},
		"an error in place of one":       {[]string{begin, prompt, `{"id":0,"error":{"code":-32601,"message":"no"}}`}, "is the error -32601: no", []string{"0"}},
		"an answer in place of an error": {[]string{begin, prompt, yes, `{"id":1,"result":{}}`}, "in the record the error", []string{"1"}},
		"an answer to no request":        {[]string{begin, prompt, `{"id":7,"result":{}}`}, "the record has no answer to 7", []string{"0"}},
		"the same answer twice":          {[]string{begin, prompt, yes, yes}, "the record has no answer to 0", []string{"1"}},
		"no answer":                      {[]string{begin, prompt}, "", []string{"0"}},
		"an unknown notification":        {[]string{begin, `{"method":"session/cancel"}`}, "", nil},
	} {
		p := toPlay(t)
		var err error
		for i, line := range test.client {
			if err != nil {
				t.Errorf("%s: message %d: %v", name, i, err)
			}
			_, err = heard(t, p, line)
		}
		if test.says == "" && err != nil || test.says != "" && !strings.Contains(fmt.Sprint(err), test.says) {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
		if open := p.Unanswered(); !slices.Equal(open, test.open) {
			t.Errorf("%s: the requests %v are open, want %v", name, open, test.open)
		}
	}
}

// The answer to a request that is not in the record is the error for an unknown method.
func TestPlayerRefusesAnUnknownRequest(t *testing.T) {
	for _, method := range []string{"session/fork", "session/set_mode"} {
		out, err := heard(t, toPlay(t), `{"id":5,"method":"`+method+`"}`)
		if err != nil || !strings.Contains(out, `"code":-32601`) || !strings.Contains(out, `"id":5`) {
			t.Errorf("%s is answered by %q, %v", method, out, err)
		}
	}
}

func TestReadRecord(t *testing.T) {
	const begin = `{"dir":"client","msg":{"id":1,"method":"initialize"}}`
	for name, test := range map[string]struct {
		record      string
		connections int
		says        string
	}{
		"empty":                     {"\n\n", 0, ""},
		"two processes":             {begin + "\n" + begin, 2, ""},
		"a comment before":          {`{"dir":"note","msg":{}}` + "\n" + begin, 1, ""},
		"no JSON":                   {begin + "\nhello", 0, "line 2"},
		"a message that is no JSON": {begin + "\n\n" + `{"dir":"agent","msg":7}`, 0, "line 3"},
		"no initialize":             {`{"dir":"agent","msg":{"id":1,"result":{}}}`, 0, "line 1: the record does not begin with initialize"},
	} {
		connections, err := ReadRecord(strings.NewReader(test.record))
		if len(connections) != test.connections || test.says == "" && err != nil || test.says != "" && !strings.Contains(fmt.Sprint(err), test.says) {
			t.Errorf("%s: %d connections, %v; want %d, %q", name, len(connections), err, test.connections, test.says)
		}
	}
}
