package window

import (
	"bytes"
	"testing"
)

// slowStretch finds a stretch by examining every byte.
func slowStretch(text string, at, least int, of byte) (begin, end int) {
	for begin = at; begin < len(text); begin = end + 1 {
		for end = begin; end < len(text) && kind[text[end]]&of != 0; end++ {
		}
		if end-begin >= least {
			return begin, end
		}
	}
	return -1, -1
}

// FuzzStretch compares the search that skips bytes with a search that reads every byte.
// Each byte of the pattern becomes a run in the text.
func FuzzStretch(f *testing.F) {
	f.Add([]byte("\x05 \x45\x46.\x47"), uint8(7))
	f.Add([]byte("A B CC DDD \n E"), uint8(1))
	f.Fuzz(func(t *testing.T, pattern []byte, least uint8) {
		if len(pattern) > 300 {
			return
		}
		least = max(least, 1)
		var text []byte
		for i, c := range pattern {
			text = append(text, bytes.Repeat([]byte{"aB7/\n .é"[int(c)%9]}, int(c)/9+i%3)...)
		}
		for _, of := range []byte{inBase64, inRun} {
			for at := 0; at >= 0; {
				begin, end := stretch(string(text), at, int(least), of)
				wantBegin, wantEnd := slowStretch(string(text), at, int(least), of)
				if begin < 0 && wantBegin < 0 {
					break
				}
				if begin != wantBegin || end != wantEnd {
					t.Fatalf("stretch(%q, %d, %d, %d) = %d, %d, want %d, %d", text, at, least, of, begin, end, wantBegin, wantEnd)
				}
				at = end
			}
		}
	})
}
