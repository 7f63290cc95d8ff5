package window

const (
	leastRun     = 256 // bytes of base64 that are cut; shorter ones may be a key or a hash
	leastSegment = 60  // bytes of a line of wrapped base64: MIME has 76, PEM 64
	keptOfRun    = 24  // bytes that stay, which is enough to tell a PNG from a key
)

// kinds of bytes, as far as base64 (both alphabets, with padding) is concerned.
const (
	inBase64 = 1 << iota
	isUpper
	isLower
	isDigit
)

var kind = func() (t [256]byte) {
	for c := range 256 {
		switch {
		case c >= 'A' && c <= 'Z':
			t[c] = inBase64 | isUpper
		case c >= 'a' && c <= 'z':
			t[c] = inBase64 | isLower
		case c >= '0' && c <= '9':
			t[c] = inBase64 | isDigit
		case c == '+', c == '/', c == '-', c == '_', c == '=':
			t[c] = inBase64
		}
	}
	return t
}()

// appendWithoutBase64 appends text to dst, and cuts runs of base64 out of it:
// at least leastRun bytes without a break, or broken into lines of one length.
func appendWithoutBase64(dst []byte, text string) []byte {
	done := 0
	for at := 0; ; {
		begin, end := segment(text, at)
		if begin < 0 {
			return append(dst, text[done:]...)
		}
		end = wrapped(text, begin, end)
		if end-begin >= leastRun && looksRandom(text[begin:end]) {
			dst = append(dst, text[done:begin+keptOfRun]...)
			dst = appendNote(dst, end-begin-keptOfRun)
			done = end
		}
		at = end
	}
}

// segment finds the next stretch of at least leastSegment bytes of the alphabet
// from at on. It looks at every leastSegment-th byte, since none of them can be
// missed by such a stretch, and at more only where that one fits.
func segment(text string, at int) (begin, end int) {
	for probe := at + leastSegment - 1; probe < len(text); {
		if kind[text[probe]] == 0 {
			at = probe + 1
			probe = at + leastSegment - 1
			continue
		}
		begin = probe
		for begin > at && kind[text[begin-1]] != 0 {
			begin--
		}
		end = probe + 1
		for end < len(text) && kind[text[end]] != 0 {
			end++
		}
		if end-begin >= leastSegment {
			return begin, end
		}
		at = end
		probe = at + leastSegment - 1
	}
	return -1, -1
}

// wrapped returns the end of the run of which text[begin:end] is the first line:
// lines of the same length follow, and one that may be shorter.
func wrapped(text string, begin, end int) int {
	width := end - begin
	for end < len(text) {
		next := end + 1
		if text[end] == '\r' {
			next++
		}
		if next > len(text) || text[next-1] != '\n' {
			return end
		}
		stop := next
		for stop < len(text) && stop-next <= width && kind[text[stop]] != 0 {
			stop++
		}
		switch {
		case stop-next == width:
			end = stop
			continue
		case stop > next && stop-next < width && (stop == len(text) || text[stop] == '\n' || text[stop] == '\r' || text[stop] == '"'):
			return stop
		}
		return end
	}
	return end
}

// looksRandom tells base64 from a long word, a path or a line of dashes.
func looksRandom(run string) bool {
	var seen byte
	const all = isUpper | isLower | isDigit
	for i := range len(run) {
		if seen |= kind[run[i]]; seen&all == all {
			return true
		}
	}
	return false
}
