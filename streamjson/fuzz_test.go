package streamjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// withoutRaw compares events by the fields that are in their JSON, and raw JSON by its
// decoded value.
var withoutRaw = cmp.Options{
	cmpopts.IgnoreFields(streamjson.Event{}, "Raw"),
	cmp.Comparer(func(a, b json.RawMessage) bool {
		if bytes.Equal(a, b) {
			return true
		}
		var x, y any
		return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && cmp.Equal(x, y)
	}),
}

// roundTrip checks that encoding an event to JSON and decoding it yields the same event.
func roundTrip(t *testing.T, ev *streamjson.Event) {
	t.Helper()
	data, err := json.Marshal(ev)
	if err != nil {
		t.Fatalf("Marshal(%+v): %v", ev, err)
	}
	var back streamjson.Event
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatalf("Unmarshal(%s): %v", data, err)
	}
	if diff := cmp.Diff(*ev, back, withoutRaw); diff != "" {
		t.Fatalf("JSON and back (-before +after):\n%s\n%s", diff, data)
	}
}

// FuzzDecoder reads arbitrary bytes as a stream, both all at once and byte by byte. It
// checks that every call makes progress, that the events cover exactly the input, that
// the result does not depend on how the bytes arrive, and that an event survives both a
// JSON round trip and a copy.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"type":"system","subtype":"init"}`+"\n"), uint16(4096))
	f.Add([]byte(`{"type":"result"`), uint16(4096)) // cut off
	f.Add([]byte("\n\n{}\r\nno JSON\n"+`{"type":"user","message":{"content":"a long line"}}`+"\n{}"), uint16(10))
	paths, err := filepath.Glob("../testdata/transcripts/*.jsonl")
	if err != nil || len(paths) == 0 {
		f.Fatalf("transcripts: %v, %v", paths, err)
	}
	for _, path := range paths {
		if data, err := os.ReadFile(path); err != nil {
			f.Fatal(err)
		} else if len(data) < 6000 {
			f.Add(data, uint16(2000))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, maxLine uint16) {
		maxLine = max(maxLine, 1)
		d := streamjson.NewDecoder(bytes.NewReader(data), int(maxLine))
		slow := streamjson.NewDecoder(iotest.OneByteReader(bytes.NewReader(data)), int(maxLine))
		rest := data
		var lines int64
		for range len(data) + 1 {
			ev, err := d.Next()
			other, otherErr := slow.Next()
			if !errors.Is(otherErr, err) && err == nil {
				t.Fatalf("Next: %v at once, %v byte by byte", err, otherErr)
			}
			if errors.Is(err, io.EOF) {
				if len(bytes.TrimLeft(rest, " \t\r\n")) > 0 {
					t.Fatalf("%q was never decoded", rest)
				}
				if s := d.Stats(); s.Lines != lines || s != slow.Stats() {
					t.Fatalf("Stats = %+v, byte by byte %+v, want %d lines", s, slow.Stats(), lines)
				}
				return
			} else if err != nil {
				t.Fatalf("Next: %v", err)
			}
			lines++
			rest = bytes.TrimLeft(rest, " \t\r\n")
			rest = rest[min(len(rest), len(bytes.TrimLeft(ev.Raw, " \t\r"))+int(ev.Lost)):]
			if !bytes.Contains(data, ev.Raw) || len(ev.Raw) > int(maxLine) {
				t.Fatalf("Raw is not part of the input, or too long: %q", ev.Raw)
			}
			if diff := cmp.Diff(ev, other); diff != "" {
				t.Fatalf("at once and byte by byte differ:\n%s", diff)
			}
			at := d.Offset()
			if at != slow.Offset() || at < 1 || at > int64(len(data)) || at < int64(len(data)) && data[at-1] != '\n' {
				t.Fatalf("Offset = %d, byte by byte %d, after %q", at, slow.Offset(), ev.Raw)
			}
			if end := bytes.TrimRight(data[:at], "\n"); ev.Lost == 0 && !bytes.HasSuffix(end, ev.Raw) {
				t.Fatalf("Offset = %d, which is not the end of %q", at, ev.Raw)
			}
			if ev.Lost == 0 {
				if alone := streamjson.Decode(ev.Raw); alone.Kind != ev.Kind || alone.UUID != ev.UUID {
					t.Fatalf("Decode = %+v, want %+v", alone, ev)
				}
			}
			if diff := cmp.Diff(ev, ev.Clone()); diff != "" {
				t.Fatalf("Clone differs:\n%s", diff)
			}
			roundTrip(t, ev)
		}
		t.Fatal("no io.EOF after reading every byte")
	})
}
