package window

const (
	leastRun     = 256 // minimum length of base64 that is cut, in bytes; a shorter run may be a key or a hash
	leastSegment = 64  // minimum length of a line of wrapped base64, in bytes: PEM has 64, MIME 76
	keptOfRun    = 24  // bytes that are kept: enough to distinguish a PNG from a key
)

// The kinds of bytes in base64, with both alphabets and padding.
const (
	inBase64 = 1 << iota
	inRun    // in base64, or a newline, because base64 may be wrapped
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

// cutBase64 cuts runs of base64 out of text. A run is at least leastRun bytes long,
// without a break or wrapped into lines of equal length. If text has no such runs,
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

// stretch finds the next stretch of bytes of one kind; least is its minimum length. The
// search begins at the offset at, which must not be inside a stretch. It checks a
// possible stretch backwards from the last byte. As soon as it finds a byte that does not
// fit, it knows that the next stretch can only begin after that byte. So it reads only a
// few bytes of ordinary text.
func stretch(text string, at, least int, of byte) (begin, end int) {
	known := at // text[at:known] was checked, and fits
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

// looksRandom reports whether a run is base64, rather than a long word, a path or a line
// of dashes.
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
