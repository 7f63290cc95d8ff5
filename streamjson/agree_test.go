package streamjson

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
