package window_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/window"
)

// A model is a window that evicts no entries and does not use a ring. It keeps the entire
// rendered stream and the offsets at which the entries begin.
type model struct {
	most   int
	text   []byte
	starts []int // offsets at which the entries, or the kept ends of long entries, begin
}

func (m *model) add(entry []byte) {
	begin := len(m.text)
	m.text = append(m.text, entry...)
	if len(entry) > m.most {
		for begin = len(m.text) - m.most; begin < len(m.text) && !utf8.RuneStart(m.text[begin]); begin++ {
		}
	}
	m.starts = append(m.starts, begin)
}

// start returns the offset of the first entry that still fits.
func (m *model) start() int {
	for _, s := range m.starts {
		if len(m.text)-s <= m.most {
			return s
		}
	}
	return len(m.text)
}

func (m *model) part(from, to int64) []byte {
	from = max(from, int64(m.start()))
	to = min(to, int64(len(m.text)))
	if from >= to {
		return nil
	}
	return m.text[from:to]
}

func chars(text []byte) int { return len(utf16.Encode([]rune(string(text)))) }

// newest tries every possible result, longest first.
func (m *model) newest(most int) int {
	start := m.start()
	for _, s := range m.starts {
		if s >= start && s < len(m.text) && chars(m.text[s:]) <= most {
			return s
		}
	}
	for p := start; p < len(m.text); p++ {
		if utf8.RuneStart(m.text[p]) && chars(m.text[p:]) <= most {
			return p
		}
	}
	return len(m.text)
}

// FuzzWindow adds the lines of a string to a small window and compares the window with the
// model after each line. A second window, which never evicts entries, renders the entries
// for the model.
func FuzzWindow(f *testing.F) {
	f.Add([]byte("one\ntwo\nthree"), uint16(20), uint16(9))
	f.Add([]byte("$ls\n!failed\n>ok\n€€€😀😀😀\n\xff\xfe"), uint16(11), uint16(3))
	f.Add(bytes.Repeat([]byte("some longer line of text 😀\n>é"), 9), uint16(70), uint16(40))
	f.Fuzz(func(t *testing.T, data []byte, most, want uint16) {
		if len(data) > 4096 {
			return
		}
		most = max(most%3000, 1)
		path := filepath.Join(t.TempDir(), "w")
		all := window.New(window.Options{MaxBytes: 1 << 20, MaxResult: 300}) // renders the entries for the model
		small := window.New(window.Options{MaxBytes: int(most), MaxResult: 300})
		m := &model{most: int(most)}
		for i, line := range bytes.Split(data, []byte("\n")) {
			end, start := all.End(), small.Start()
			for _, b := range []*window.Buffer{all, small} {
				add(b, line)
			}
			if all.End() == end {
				continue // blank text
			}
			m.add(all.AppendRange(nil, end, all.End()))
			check(t, small, m, int(want))
			if small.Start() < start {
				t.Fatalf("Start went back from %d to %d", start, small.Start())
			}
			if i%7 == 3 { // from here on, small is a copy of a window that Load returned
				small.SetMark("turn")
				if err := small.Save(path); err != nil {
					t.Fatal(err)
				}
				loaded, err := window.Load(path, window.Options{MaxBytes: int(most), MaxResult: 300})
				if err != nil {
					t.Fatal(err)
				}
				check(t, loaded, m, int(want))
				if loaded.Mark() != "turn" {
					t.Fatalf("Mark = %q", loaded.Mark())
				}
				small = loaded.Clone()
				loaded.AddText("must not be seen in the copy")
			}
		}
	})
}

func add(b *window.Buffer, line []byte) {
	switch text := string(line); {
	case bytes.HasPrefix(line, []byte("$")):
		b.AddCall("Tool", "", line[1:])
	case bytes.HasPrefix(line, []byte(">")):
		b.AddResult("Tool", text[1:], false)
	case bytes.HasPrefix(line, []byte("!")):
		b.AddResult("", text[1:], true)
	default:
		b.AddText(text)
	}
}

func check(t *testing.T, b *window.Buffer, m *model, want int) {
	t.Helper()
	if b.Start() != int64(m.start()) || b.End() != int64(len(m.text)) {
		t.Fatalf("[Start, End) = [%d, %d), want [%d, %d)", b.Start(), b.End(), m.start(), len(m.text))
	}
	if b.Len() > m.most {
		t.Fatalf("Len = %d, more than MaxBytes = %d", b.Len(), m.most)
	}
	for _, r := range [][2]int64{{b.Start(), b.End()}, {0, b.End() + 5}, {b.Start() + 1, b.End() - 1}, {int64(want), b.End()}, {b.End(), b.Start()}} {
		if got := b.AppendRange([]byte("x"), r[0], r[1]); !bytes.Equal(got[1:], m.part(r[0], r[1])) {
			t.Fatalf("AppendRange(%d, %d) = %q, want %q", r[0], r[1], got[1:], m.part(r[0], r[1]))
		}
	}
	if text := b.AppendRange(nil, b.Start(), b.End()); !utf8.Valid(text) {
		t.Fatalf("the window is not UTF-8: %q", text)
	}
	for _, n := range []int{want, want % 50, 0} {
		if got := b.Newest(n); got != int64(m.newest(n)) {
			t.Fatalf("Newest(%d) = %d, want %d; entries at %v, text %q", n, got, m.newest(n), slices.Compact(m.starts), m.text)
		}
	}
}
