package window

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// Options configures a window. The zero value is ready to use.
type Options struct {
	MaxBytes int // maximum size of the whole window; 0 means 400,000, which is 100,000 tokens
	// BytesPerToken is the number of bytes that count as a token; 0 means 4. This is
	// approximately correct for prose and code, where a tokenizer counts between 16%
	// fewer and 4% more tokens. It is too high for diffs (by 19%) and for file listings
	// (by 47%).
	BytesPerToken float64
	// MaxResult is the maximum number of bytes of a tool result that are kept; 0 means 16
	// KiB, and a value below 256 means 256. Positions depend on MaxResult.
	MaxResult int
	// Files writes the window's file; the zero value is ready to use.
	Files durable.Files
}

const (
	defaultMaxBytes      = 400_000
	defaultBytesPerToken = 4
	defaultMaxResult     = 16 << 10
	leastMaxResult       = 256
)

func (o Options) withDefaults() Options {
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.BytesPerToken <= 0 {
		o.BytesPerToken = defaultBytesPerToken
	}
	if o.MaxResult <= 0 {
		o.MaxResult = defaultMaxResult
	}
	o.MaxResult = max(o.MaxResult, leastMaxResult)
	return o
}

// Limit returns the maximum size, in bytes, of a window of windowTokens tokens for a
// client that compacts at compactWindow tokens. A compactWindow of 0 means that the point
// at which the client compacts is unknown.
//
// The limit is the smaller of two bounds. The first assumes four bytes per token. The
// second keeps the returned window below 40 percent of the size at which the session
// compacts, even for text with two bytes per token, so that the window cannot cause the
// next compaction. Claude Code 2.1.197 compacts at compactWindow − 20,000 − 13,000 tokens
// and treats a compactWindow below 100,000 as 100,000.
func Limit(windowTokens, compactWindow int) int {
	bytes := windowTokens * defaultBytesPerToken
	if compactWindow <= 0 {
		return bytes
	}
	const leastWindow, reserve = 100_000, 20_000 + 13_000
	compactsAt := max(compactWindow, leastWindow) - reserve
	return min(bytes, compactsAt*40/100*2)
}

// A Buffer is a window. It is not safe for concurrent use. Its memory use grows with its
// content, up to MaxBytes plus eight bytes per entry.
type Buffer struct {
	o     Options
	ring  ring
	start int64   // position of the oldest byte that is kept
	end   int64   // position after the newest byte
	index []int64 // start positions of the kept entries, oldest first
	mark  string
	room  []byte // scratch space for the head of an entry
}

// New returns an empty window that begins at position 0.
func New(o Options) *Buffer { return &Buffer{o: o.withDefaults()} }

// Clone returns a copy that shares no memory with b.
func (b *Buffer) Clone() *Buffer {
	c := *b
	c.ring.bytes = slices.Clone(b.ring.bytes)
	c.index = slices.Clone(b.index)
	c.room = nil
	return &c
}

// AddText adds text from the agent, without long base64 and without surrounding newlines.
// It ignores blank text.
func (b *Buffer) AddText(text string) {
	text = trimNewlines(text)
	if strings.TrimSpace(text) != "" {
		b.add(b.room[:0], text, math.MaxInt)
	}
}

// AddCall adds a tool call. The argument about is the call's subject: the command, the
// path or the pattern. If about is "", AddCall adds the input as compact JSON. It cuts
// the subject or the input to 2 KiB.
func (b *Buffer) AddCall(name, about string, input []byte) {
	arg := argument(about, input)
	b.add(appendCallHead(b.room[:0], name, arg != ""), arg, maxCall)
}

// AddResult adds a tool result as "→ Bash: …". If the tool failed, the entry begins with
// ✗ instead. name is "" if the tool is unknown.
func (b *Buffer) AddResult(name, text string, failed bool) {
	text = trimNewlines(text)
	b.add(appendResultHead(b.room[:0], name, text != "", failed), text, b.o.MaxResult)
}

// add adds an entry that consists of head and text. head uses the memory of b.room. If
// text is longer than the limit most, in bytes, add cuts it.
func (b *Buffer) add(head []byte, text string, most int) {
	// Newest counts characters byte by byte, which is correct only for UTF-8.
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if !utf8.Valid(head) {
		head = bytes.ToValidUTF8(head, []byte("\uFFFD"))
	}
	b.put(head, cut(text, most))
	b.room = head[:0]
}

// put appends an entry and evicts the entries that it displaces.
func (b *Buffer) put(head []byte, text string) {
	size := len(head) + len(text) + 1
	begin := b.end
	b.end += int64(size)
	if over := size - b.o.MaxBytes; over > 0 {
		// The entry is larger than the window, so keep only its end, starting at the
		// beginning of a character.
		text = string(head) + text
		for over < len(text) && !utf8.RuneStart(text[over]) {
			over++
		}
		begin += int64(over)
		head, text = nil, text[over:]
	}
	b.index = append(b.index, begin)
	b.evict(b.end - int64(b.o.MaxBytes))
	b.ring.reserve(b.start, int(begin-b.start), b.Len(), b.o.MaxBytes)
	write(&b.ring, begin, head)
	write(&b.ring, begin+int64(len(head)), text)
	write(&b.ring, b.end-1, "\n")
}

// evict removes whole entries until no entry begins before the position low.
func (b *Buffer) evict(low int64) {
	n := 0
	for n < len(b.index) && b.index[n] < low {
		n++
	}
	b.index = b.index[n:]
	if len(b.index) > 0 {
		b.start = b.index[0]
	} else {
		b.start = b.end
	}
}

// Start returns the position of the oldest byte that is kept.
func (b *Buffer) Start() int64 { return b.start }

// End returns the position right after the newest byte.
func (b *Buffer) End() int64 { return b.end }

// Len returns the number of kept bytes.
func (b *Buffer) Len() int { return int(b.end - b.start) }

// Tokens returns the approximate number of kept tokens.
func (b *Buffer) Tokens() int { return int(float64(b.Len()) / b.o.BytesPerToken) }

// Mark returns the name of the last turn in the window, which SetMark sets.
func (b *Buffer) Mark() string { return b.mark }

// SetMark sets the name of the last turn in the window; Save stores the name.
func (b *Buffer) SetMark(turn string) { b.mark = turn }

// AppendRange appends the kept bytes with positions in the range [from, to) to dst.
func (b *Buffer) AppendRange(dst []byte, from, to int64) []byte {
	from, to = max(from, b.start), min(to, b.end)
	if from >= to {
		return dst
	}
	return b.ring.appendTo(dst, from, int(to-from))
}

// Newest returns the earliest position from which the remainder of the window contains at
// most maxChars characters. It is the beginning of an entry or, if the last entry alone
// is longer, the beginning of a character in that entry. A character is a UTF-16 code
// unit, as in Claude Code's limit for a hook's output; an emoji counts as two.
func (b *Buffer) Newest(maxChars int) int64 {
	pos := b.end
	for chars := 0; pos > b.start; {
		c, size := b.before(pos)
		if chars += c; chars > maxChars {
			break
		}
		pos -= int64(size)
	}
	if i, _ := slices.BinarySearch(b.index, pos); i < len(b.index) {
		return b.index[i]
	}
	return pos
}

// before returns the size, in UTF-16 code units and in bytes, of the character that ends
// at pos.
func (b *Buffer) before(pos int64) (units, size int) {
	for size = 1; pos-int64(size) > b.start && !utf8.RuneStart(b.ring.at(pos-int64(size))); size++ {
	}
	if size == utf8.UTFMax {
		return 2, size
	}
	return 1, size
}
