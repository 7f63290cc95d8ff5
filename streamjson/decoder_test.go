package streamjson_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// kinds decodes a stream to its end and returns the kinds of its events and the counts.
func kinds(t *testing.T, r io.Reader, maxLine int) ([]streamjson.Kind, streamjson.Stats) {
	t.Helper()
	d := streamjson.NewDecoder(r, maxLine)
	var out []streamjson.Kind
	for {
		ev, err := d.Next()
		if errors.Is(err, io.EOF) {
			return out, d.Stats()
		} else if err != nil {
			t.Fatalf("Next: %v", err)
		}
		out = append(out, ev.Kind)
	}
}

func TestNothingInAStreamEndsIt(t *testing.T) {
	const good = `{"type":"system","subtype":"status","status":"requesting"}` + "\n"
	long := `{"type":"user","message":{"content":"` + strings.Repeat("x", 1000) + `"}}` + "\n"
	for name, tt := range map[string]struct {
		stream string
		want   []streamjson.Kind
		stats  streamjson.Stats
	}{
		"nothing":             {"", nil, streamjson.Stats{}},
		"blank lines":         {"\n \n\r\n" + good + "\n", []streamjson.Kind{"status"}, streamjson.Stats{Lines: 1}},
		"a line that is text": {"Warning: hello\n" + good, []streamjson.Kind{"bad", "status"}, streamjson.Stats{Lines: 2, Bad: 1}},
		"JSON, but no object": {"null\n[1]\n\"x\"\n7\n" + good, []streamjson.Kind{"bad", "bad", "bad", "bad", "status"}, streamjson.Stats{Lines: 5, Bad: 4}},
		"two objects":         {"{}{}\n" + good, []streamjson.Kind{"bad", "status"}, streamjson.Stats{Lines: 2, Bad: 1}},
		"an unknown type":     {`{"type":"mood","mood":"fine"}` + "\n" + good, []streamjson.Kind{"other", "status"}, streamjson.Stats{Lines: 2, Unknown: 1}},
		"an unknown subtype":  {`{"type":"system","subtype":"mood"}` + "\n" + good, []streamjson.Kind{"other", "status"}, streamjson.Stats{Lines: 2, Unknown: 1}},
		"no type":             {"{}\n" + good, []streamjson.Kind{"other", "status"}, streamjson.Stats{Lines: 2, Unknown: 1}},
		"known, of no use":    {`{"type":"system","subtype":"notification"}` + "\n", []streamjson.Kind{"other"}, streamjson.Stats{Lines: 1}},
		"a too long line":     {long + good, []streamjson.Kind{"bad", "status"}, streamjson.Stats{Lines: 2, TooLong: 1}},
		"no last newline":     {good + strings.TrimSpace(good), []streamjson.Kind{"status", "status"}, streamjson.Stats{Lines: 2, CutOff: true}},
		"cut off":             {good + good[:20], []streamjson.Kind{"status", "bad"}, streamjson.Stats{Lines: 2, Bad: 1, CutOff: true}},
		"cut off, too long":   {strings.TrimSpace(long), []streamjson.Kind{"bad"}, streamjson.Stats{Lines: 1, TooLong: 1, CutOff: true}},
	} {
		t.Run(name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"at once":      strings.NewReader(tt.stream),
				"byte by byte": iotest.OneByteReader(strings.NewReader(tt.stream)),
				"end with it":  iotest.DataErrReader(strings.NewReader(tt.stream)),
			} {
				got, stats := kinds(t, r, 500)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%s: kinds (-want +got):\n%s", how, diff)
				}
				if stats != tt.stats {
					t.Errorf("%s: Stats = %+v, want %+v", how, stats, tt.stats)
				}
			}
		})
	}
}

// A decoder that begins where another one stopped continues with the next event,
// regardless of what was left in the first decoder's buffer.
func TestOffsetIsWhereTheNextEventBegins(t *testing.T) {
	long := `{"type":"user","message":{"content":"` + strings.Repeat("x", 300_000) + `"}}`
	stream := "\n" + strings.Join([]string{`{"type":"user","uuid":"1"}`, long, ` {"type":"user","uuid":"3"}`, "no JSON", `{"type":"user","uuid":"5"}`, `{"type":"user","uuid":"6"}`}, "\n\n")
	for _, maxLine := range []int{0, 1000} {
		whole := streamjson.NewDecoder(strings.NewReader(stream), maxLine)
		for n := 1; ; n++ {
			_, err := whole.Next()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			rest, _ := kinds(t, strings.NewReader(stream[whole.Offset():]), maxLine)
			if len(rest) != 6-n {
				t.Errorf("at most %d bytes a line: %d events after event %d of 6, want %d", maxLine, len(rest), n, 6-n)
			}
		}
	}
}

func TestReadersErrorComesAfterItsEvents(t *testing.T) {
	broken := errors.New("the pipe is broken")
	d := streamjson.NewDecoder(io.MultiReader(strings.NewReader("{}\n{\"type\""), iotest.ErrReader(broken)), 0)
	for _, want := range []streamjson.Kind{"other", "bad"} {
		if ev, err := d.Next(); err != nil || ev.Kind != want {
			t.Fatalf("Next = %v, %v, want %s", ev, err, want)
		}
	}
	for range 2 {
		if _, err := d.Next(); !errors.Is(err, broken) {
			t.Errorf("Next: %v, want the reader's error", err)
		}
	}
}
