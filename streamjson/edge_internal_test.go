package streamjson

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// A line ends at its newline, regardless of where the newline is in the buffer. The test
// puts it at and near the last byte, and at and near the first byte after the kept bytes
// were moved to the front.
func TestNewlinesAtTheEdgeOfTheBuffer(t *testing.T) {
	for _, first := range []int{0, 1, 2, 100, readSize / 2, readSize - 2, readSize - 1} {
		for newline := readSize - 3; newline <= readSize+3; newline++ {
			lines := []string{strings.Repeat("a", first)}
			if second := newline - first - 1; second >= 0 { // newline is the offset of the newline that ends the second line
				lines = append(lines, strings.Repeat("b", second))
			}
			lines = append(lines, "c", "", "dd")
			stream := strings.Join(lines, "\n") + "\n"
			r := &lineReader{r: strings.NewReader(stream), max: len(stream)}
			for i, want := range lines {
				l, err := r.next()
				if err != nil {
					t.Fatalf("first line of %d bytes, newline at %d: line %d: %v", first, newline, i, err)
				}
				if string(l.text) != want || l.lost != 0 || l.cutOff {
					t.Fatalf("first line of %d bytes, newline at %d: line %d has %d bytes, lost %d, cut off %v; want %d bytes, whole",
						first, newline, i, len(l.text), l.lost, l.cutOff, len(want))
				}
			}
			if l, err := r.next(); !errors.Is(err, io.EOF) {
				t.Fatalf("first line of %d bytes, newline at %d: after the last line %q, %v", first, newline, l.text, err)
			}
			if r.offset() != int64(len(stream)) {
				t.Errorf("first line of %d bytes, newline at %d: offset %d, want %d", first, newline, r.offset(), len(stream))
			}
		}
	}
}
