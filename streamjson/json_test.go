package streamjson

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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

// checkValue compares the results of the parser and of encoding/json for one value:
// whether it is an object, an array or a string, its content, and recursively all values
// in it.
func checkValue(t *testing.T, p *parser, raw []byte, depth int) {
	t.Helper()
	if depth > 20 {
		return
	}
	var fields map[string]json.RawMessage
	want := json.Unmarshal(raw, &fields) == nil && fields != nil
	o := p.object(raw)
	if o.ok != want {
		t.Fatalf("%q is an object: %v, encoding/json says %v", raw, o.ok, want)
	}
	got := map[string]json.RawMessage{}
	for _, m := range o.members {
		got[string(m.key)] = m.value
	}
	same := func(a, b json.RawMessage) bool { return bytes.Equal(a, b) } // cmp needs a hundred times as long
	if o.ok && !maps.EqualFunc(fields, got, same) {
		t.Fatalf("%q (-encoding/json +parser):\n%s", raw, cmp.Diff(fields, got))
	}
	for key, value := range fields {
		if !bytes.Equal(value, o.get(key)) {
			t.Fatalf("%q: get %q:\n%s", raw, key, cmp.Diff([]byte(value), o.get(key)))
		}
		checkValue(t, p, value, depth+1)
	}

	var elements []json.RawMessage
	want = json.Unmarshal(raw, &elements) == nil && elements != nil
	list, ok := p.list(raw, '[')
	if ok != want || len(list) != len(elements) {
		t.Fatalf("%q is a list: %v of %d, encoding/json says %v of %d", raw, ok, len(list), want, len(elements))
	}
	for i, value := range elements {
		if !bytes.Equal(value, list[i].value) {
			t.Fatalf("%q: element %d is %q, want %q", raw, i, list[i].value, value)
		}
		checkValue(t, p, value, depth+1)
	}

	var text string
	if json.Valid(raw) && json.Unmarshal(raw, &text) == nil {
		if s := p.str(bytes.TrimSpace(raw)); s != text {
			t.Fatalf("%q is %q, want %q", raw, s, text)
		}
	}
}

// FuzzJSON compares the parser with encoding/json.
func FuzzJSON(f *testing.F) {
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
	f.Fuzz(func(t *testing.T, line []byte) {
		checkValue(t, new(parser), line, 0)
		if ev := Decode(line); (ev.Kind != KindBad) != new(parser).object(ev.Raw).ok {
			t.Fatalf("%q is a %s", line, ev.Kind)
		}
	})
}

// FuzzBound compares cutting an escaped string with decoding the whole string and then
// cutting it. It repeats the string so that short inputs are also cut.
func FuzzBound(f *testing.F) {
	f.Add([]byte(`plain text`), uint16(2000))
	f.Add([]byte(`\n\u001b[31m é \ud83d\ude00 \ud83d \\`), uint16(900))
	f.Add([]byte("€"), uint16(6000))
	f.Add([]byte("\xff\\u20ac"), uint16(3000))
	f.Add([]byte("\xff"), uint16(6000)) // the decoded string is longer than its JSON form
	f.Fuzz(func(t *testing.T, unit []byte, times uint16) {
		times = min(times, 8000)
		if len(unit) > 200 {
			return
		}
		line := append([]byte{'"'}, bytes.Repeat(unit, int(times))...)
		line = append(line, '"')
		if end, _ := skipString(line, 0); end != len(line) {
			return
		}
		got, lost := new(parser).bounded(line)
		var whole string
		if err := json.Unmarshal(line, &whole); err != nil {
			t.Fatalf("the parser accepts %q: %v", line, err)
		}
		want, wantLost := bound(len(whole), func(from, to int) []byte { return []byte(whole[from:to]) })
		if got != want || lost != wantLost {
			t.Fatalf("bounded = %d bytes, %d lost; want %d bytes, %d lost", len(got), lost, len(want), wantLost)
		}
		if len(got) > MaxResult {
			t.Fatalf("%d bytes are more than MaxResult", len(got))
		}
	})
}
