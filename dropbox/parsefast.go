package dropbox

import (
	"bytes"
	"strconv"
	"time"
	"unicode/utf8"
)

// parseFast reads a front matter of exactly the form that Encode writes: its keys
// in its order, one a line, plain words or double quotes without rare escapes. It
// returns false for all else, whether right or wrong, and parseYAML decides; then
// m is not to be used. A fuzz test holds the two together.
func (m *Message) parseFast(front []byte) bool {
	p := fastParser{rest: front}
	var word string
	ok := p.int("v: ", &m.V) &&
		p.string("id: ", &m.ID) &&
		p.string("from: ", &m.From) &&
		p.list("to: ", &m.To) &&
		p.list("cc: ", &m.CC) &&
		p.string("type: ", &word)
	m.Type = Type(word)
	word = ""
	ok = ok && p.string("priority: ", &word)
	var err error
	if m.Priority, err = ParsePriority(word); !ok || err != nil {
		return false
	}
	return p.string("subject: ", &m.Subject) &&
		p.string("thread: ", &m.Thread) &&
		p.string("reply_to: ", &m.ReplyTo) &&
		p.string("trace: ", &m.Trace) &&
		p.string("key: ", &m.Key) &&
		p.string("turn: ", &m.Turn) &&
		p.string("topic: ", &m.Topic) &&
		p.string("offer: ", &m.Offer) &&
		p.int("hops: ", &m.Hops) &&
		p.list("path: ", &m.Path) &&
		p.time("created: ", &m.Created) &&
		p.time("expires: ", &m.Expires) &&
		p.attachments(&m.Attachments) &&
		p.string("proof: ", &m.Proof) &&
		len(p.rest) == 0
}

// A fastParser eats lines. Its methods return false when a line is there and is
// not understood; a line that is not there leaves the value as it is.
type fastParser struct{ rest []byte }

// line eats the line that begins with key, and returns what follows it.
func (p *fastParser) line(key string) (value []byte, found, ok bool) {
	if len(p.rest) < len(key) || string(p.rest[:len(key)]) != key {
		return nil, false, true
	}
	end := bytes.IndexByte(p.rest, '\n')
	if end < 0 {
		return nil, true, false
	}
	value = p.rest[len(key):end]
	p.rest = p.rest[end+1:]
	return value, true, true
}

func (p *fastParser) string(key string, to *string) bool {
	v, found, ok := p.line(key)
	if !found || !ok {
		return ok
	}
	s, rest, ok := scalar(v)
	*to = s
	return ok && len(rest) == 0
}

func (p *fastParser) int(key string, to *int) bool {
	v, found, ok := p.line(key)
	if !found || !ok {
		return ok
	}
	n, ok := digits(v, 9)
	*to = int(n)
	return ok
}

func (p *fastParser) time(key string, to *time.Time) bool {
	v, found, ok := p.line(key)
	if !found || !ok {
		return ok
	}
	if len(v) == 0 || v[len(v)-1] != 'Z' || v[0] < '0' || v[0] > '9' {
		return false
	}
	t, err := time.Parse(time.RFC3339Nano, string(v))
	*to = t
	return err == nil && t.Year() >= 1
}

func (p *fastParser) list(key string, to *[]string) bool {
	v, found, ok := p.line(key)
	if !found || !ok {
		return ok
	}
	if len(v) < 2 || v[0] != '[' || v[len(v)-1] != ']' {
		return false
	}
	v = v[1 : len(v)-1]
	for {
		s, rest, ok := scalar(v)
		if !ok {
			return false
		}
		*to = append(*to, s)
		if len(rest) == 0 {
			return true
		}
		if v, ok = bytes.CutPrefix(rest, []byte(", ")); !ok {
			return false
		}
	}
}

func (p *fastParser) attachments(to *[]Attachment) bool {
	v, found, ok := p.line("attachments:")
	if !found || !ok || len(v) > 0 {
		return ok && len(v) == 0
	}
	for len(p.rest) > 0 && p.rest[0] == ' ' {
		var a Attachment
		if !p.string("  - name: ", &a.Name) || !p.string("    path: ", &a.Path) {
			return false
		}
		v, found, ok := p.line("    size: ")
		if !found || !ok {
			return false
		}
		if a.Size, ok = digits(v, 18); !ok {
			return false
		}
		if !p.string("    sha256: ", &a.SHA256) || a.Name == "" || a.Path == "" || a.SHA256 == "" {
			return false
		}
		*to = append(*to, a)
	}
	return len(*to) > 0
}

// scalar eats one plain or quoted word, never an empty one.
func scalar(v []byte) (s string, rest []byte, ok bool) {
	if len(v) == 0 {
		return "", nil, false
	}
	if v[0] == '"' {
		return quoted(v[1:])
	}
	end := bytes.IndexAny(v, ", ]")
	if end < 0 {
		end = len(v)
	}
	// plain takes a string; the conversion is the one copy that is needed anyway.
	s = string(v[:end])
	return s, v[end:], plain(s)
}

// quoted eats text up to the closing quote.
func quoted(v []byte) (s string, rest []byte, ok bool) {
	end, escapes, wide := 0, 0, false
	for ; ; end++ {
		if end == len(v) {
			return "", nil, false
		}
		c := v[end]
		if c == '"' {
			break
		}
		if c == '\\' {
			end++
			if end == len(v) || v[end] != '"' && v[end] != '\\' {
				return "", nil, false
			}
			escapes++
		}
		if c < ' ' || c == 0x7f {
			return "", nil, false
		}
		wide = wide || c >= utf8.RuneSelf
	}
	text := v[:end]
	if end == 0 || wide && !wideText(text) {
		return "", nil, false
	}
	if escapes > 0 {
		clean := make([]byte, 0, len(text))
		for i := 0; i < len(text); i++ {
			if text[i] == '\\' {
				i++
			}
			clean = append(clean, text[i])
		}
		text = clean
	}
	return string(text), v[end+1:], true
}

// wideText says whether text is UTF-8 that stands for itself within quotes.
func wideText(text []byte) bool {
	if !utf8.Valid(text) {
		return false
	}
	for _, r := range string(text) {
		if mustEscape(r) {
			return false
		}
	}
	return true
}

// digits reads a number of at most most digits, without a sign or leading zeros.
func digits(v []byte, most int) (int64, bool) {
	if len(v) == 0 || len(v) > most || len(v) > 1 && v[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(v), 10, 63)
	return int64(n), err == nil
}
