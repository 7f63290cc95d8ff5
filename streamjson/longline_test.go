package streamjson_test

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// TestLongLinesAreCheap decodes lines of 10 MiB. For each line it counts all allocated
// bytes, which is an upper bound on the memory in use at any time.
func TestLongLinesAreCheap(t *testing.T) {
	const size = 10 << 20
	edited := []byte(strings.Join([]string{`{"type":"user","message":{"content":[{"type":"tool_result","content":"ok"}]},"tool_use_result":{"originalFile":"`,
		strings.Repeat(`line\n`, size/6), "\"}}\n"}, ""))
	for name, line := range map[string][]byte{
		"plain":       longLine(size, strings.Repeat("some output ", 1000)),
		"escaped":     longLine(size, strings.Repeat(`\u001b[31m\n\t\"x\"`, 1000)),
		"wide":        longLine(size, strings.Repeat("größer → ", 1000)),
		"edited file": edited,
	} {
		t.Run(name, func(t *testing.T) {
			ev, used := decodeCounted(t, line)
			if ev.Kind != streamjson.KindUser || len(ev.Raw) != len(line)-1 {
				t.Fatalf("Next = %s of %d bytes", ev.Kind, len(ev.Raw))
			}
			if b := ev.Blocks[0]; len(b.Text) > streamjson.MaxResult || (b.Lost == 0) != (name == "edited file") {
				t.Errorf("text of %d bytes, %d lost", len(b.Text), b.Lost)
			}
			if limit := 3 * uint64(len(line)); used > limit {
				t.Errorf("%d bytes allocated for a line of %d, want at most %d", used, len(line), limit)
			}
		})
	}
}

// TestLongLinesAreLetGo decodes long lines and then a short one. It checks that a decoder
// that is waiting for the next event does not keep the long lines in memory.
func TestLongLinesAreLetGo(t *testing.T) {
	const size = 4 << 20
	call := []byte(`{"type":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"tool_use","input":"` + strings.Repeat("x", size) + "\"}]}}\n")
	// The list of these elements is many times as long as their line.
	many := []byte(`{"type":"user","message":{"content":[` + strings.Repeat(`"",`, size/12) + "\"\"]}}\n")
	escaped := []byte(`{"type":"assistant","message":{"content":"` + strings.Repeat(`\n`, size/2) + "\"}}\n")
	for name, line := range map[string][]byte{"call": call, "many elements": many, "escaped": escaped} {
		t.Run(name, func(t *testing.T) {
			inUse := func() uint64 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			before := inUse()
			d := streamjson.NewDecoder(io.MultiReader(bytes.NewReader(line), strings.NewReader(`{"type":"result"}`)), 0)
			for range 2 {
				if _, err := d.Next(); err != nil {
					t.Fatal(err)
				}
			}
			if after := inUse(); after > before+1<<20 {
				t.Errorf("the decoder holds %d bytes", after-before)
			}
			if d.Stats().Lines != 2 {
				t.Error(d.Stats())
			}
			runtime.KeepAlive(line)
		})
	}
}

// TestTooLongLinesKeepTheirBeginning reads a line that exceeds the limit, and then the
// next line.
func TestTooLongLinesKeepTheirBeginning(t *testing.T) {
	const most = 1 << 20
	line := longLine(10<<20, "some output ")
	stream := append(bytes.Clone(line), `{"type":"result"}`...)
	d := streamjson.NewDecoder(bytes.NewReader(stream), most)
	ev, err := d.Next()
	if err != nil || ev.Kind != streamjson.KindBad || !bytes.Equal(ev.Raw, line[:most]) || ev.Lost != int64(len(line)-1-most) {
		t.Errorf("Next = %s with %d bytes and %d lost, %v", ev.Kind, len(ev.Raw), ev.Lost, err)
	}
	if ev, err := d.Next(); err != nil || ev.Kind != streamjson.KindResult {
		t.Errorf("then Next = %v, %v, want a result", ev, err)
	}
}

// decodeCounted decodes one line and returns the number of allocated bytes.
func decodeCounted(t *testing.T, line []byte) (*streamjson.Event, uint64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ev, err := streamjson.NewDecoder(bytes.NewReader(line), 0).Next()
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	return ev, after.TotalAlloc - before.TotalAlloc
}
