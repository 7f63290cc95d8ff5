package window

const (
	leastRun     = 256 // minimum length of a base64 run that is cut, in bytes; a shorter run may be a key or a hash
	leastSegment = 64  // minimum length of a line of wrapped base64, in bytes; PEM uses 64 and MIME uses 76
	keptOfRun    = 24  // number of bytes that are kept, which is enough to distinguish a PNG from a key
)

// The kinds of bytes in base64, including both alphabets and the padding.
const (
	inBase64 = 1 << iota
	inRun    // a byte in base64 or a newline, because base64 may be wrapped
	isUpper
	isLower
	isDigit
)

var kind = func() (t [256]byte) {
	for c := range 256 {
		switch {
		case c >= 'A' && c <= 'Z':
			t[c] = inRun | inBase64 | isUpper
		case c >= 'a' && c <= 'z':
			t[c] = inRun | inBase64 | isLower
		case c >= '0' && c <= '9':
			t[c] = inRun | inBase64 | isDigit
		case c == '+', c == '/', c == '-', c == '_', c == '=':
			t[c] = inRun | inBase64
		case c == '\n', c == '\r':
			t[c] = inRun
		}
	}
	return t
}()

// cutBase64 cuts runs of base64 from text. A run is at least leastRun bytes long and is
// either unbroken or wrapped into lines of equal length. If text contains no such runs,
// cutBase64 returns it unchanged.
func cutBase64(text string) string {
	var kept []byte
	done := 0
	for at := 0; ; {
		begin, end := stretch(text, at, leastRun, inRun)
		if begin < 0 {
			break
		}
		for at = begin; ; {
			begin, stop := stretch(text[:end], at, leastSegment, inBase64)
			if begin < 0 {
				break
			}
			at = wrapped(text, begin, stop)
			if at-begin >= leastRun && looksRandom(text[begin:at]) {
				kept = append(kept, text[done:begin+keptOfRun]...)
				kept = appendNote(kept, at-begin-keptOfRun)
				done = at
			}
		}
		at = end
	}
	if done == 0 {
		return text
	}
	return string(append(kept, text[done:]...))
}

// stretch finds the next stretch of least or more bytes of one kind. The search begins at
// offset at, which must not be inside a stretch. It checks each candidate backwards from
// the last byte. If a byte is of another kind, the next stretch can begin only after that
// byte. The search therefore reads only a few bytes of ordinary text.
func stretch(text string, at, least int, of byte) (begin, end int) {
	known := at // text[at:known] has been checked and consists of bytes of that kind
	for last := at + least - 1; last < len(text); last = at + least - 1 {
		i := last
		for i >= known && kind[text[i]]&of != 0 {
			i--
		}
		if i >= known {
			at, known = i+1, last+1
			continue
		}
		for end = last + 1; end < len(text) && kind[text[end]]&of != 0; end++ {
		}
		return at, end
	}
	return -1, -1
}

// wrapped returns the end of the run whose first line is text[begin:end]. Lines of the
// same length follow the first line; the last line may be shorter.
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
		for stop < len(text) && stop-next <= width && kind[text[stop]]&inBase64 != 0 {
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

// looksRandom reports whether a run appears to be base64 rather than a long word, a path
// or a line of dashes.
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
