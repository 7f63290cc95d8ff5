package dropbox

import (
	"slices"
	"strconv"
	"time"
)

// maxFront is the maximum number of bytes between the two "---" lines.
const maxFront = 16 << 10

// fence is the first and last line of the front matter.
const fence = "---\n"

// An envelopeKey is a key of the front matter with the corresponding message field.
type envelopeKey struct {
	name  string
	field func(m *Message) any // a pointer to the field
}

// envelope lists all keys, in the order in which [Message.Encode] writes them. [Parse]
// accepts the same keys. A [Proof] covers all of them except v, attachments and proof. v
// is constant, and for each attachment the proof covers the content and the name instead.
var envelope = []envelopeKey{
	{"v", func(m *Message) any { return &m.V }},
	{"id", func(m *Message) any { return &m.ID }},
	{"from", func(m *Message) any { return &m.From }},
	{"to", func(m *Message) any { return &m.To }},
	{"cc", func(m *Message) any { return &m.CC }},
	{"type", func(m *Message) any { return &m.Type }},
	{"priority", func(m *Message) any { return &m.Priority }},
	{"subject", func(m *Message) any { return &m.Subject }},
	{"thread", func(m *Message) any { return &m.Thread }},
	{"reply_to", func(m *Message) any { return &m.ReplyTo }},
	{"depends_on", func(m *Message) any { return &m.DependsOn }},
	{"trace", func(m *Message) any { return &m.Trace }},
	{"key", func(m *Message) any { return &m.Key }},
	{"turn", func(m *Message) any { return &m.Turn }},
	{"topic", func(m *Message) any { return &m.Topic }},
	{"offer", func(m *Message) any { return &m.Offer }},
	{"outcome", func(m *Message) any { return &m.Outcome }},
	{"hops", func(m *Message) any { return &m.Hops }},
	{"path", func(m *Message) any { return &m.Path }},
	{"created", func(m *Message) any { return &m.Created }},
	{"expires", func(m *Message) any { return &m.Expires }},
	{"attachments", func(m *Message) any { return &m.Attachments }},
	{"proof", func(m *Message) any { return &m.Proof }},
}

// Encode returns the message in the file format: YAML front matter between two "---"
// lines, followed by the unchanged body. It omits empty fields. [Parse] is the inverse.
// The error is an [*InvalidError], or a [*TooLargeError] if the front matter exceeds 16
// KiB.
func (m *Message) Encode() ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if m.Extra != "" {
		if err := checkExtra(m.Extra); err != nil {
			return nil, err
		}
	}
	b := make([]byte, 0, 512+len(m.Body))
	b = append(b, fence...)
	b = append(b, "v: 1\n"...)
	for _, k := range envelope[1:] {
		b = appendField(b, k.name+": ", k.field(m))
	}
	b = append(b, m.Extra...)
	if n := len(b) - len(fence); n > maxFront {
		return nil, &TooLargeError{What: "front matter", Size: int64(n), Max: maxFront}
	}
	b = append(b, fence...)
	return append(b, m.Body...), nil
}

// appendField writes a field's key and value, or nothing if the value is empty.
func appendField(b []byte, key string, field any) []byte {
	switch v := field.(type) {
	case *string:
		return appendString(b, key, *v)
	case *Type:
		return appendString(b, key, string(*v))
	case *Priority:
		return appendString(b, key, v.String())
	case *[]string:
		return appendList(b, key, *v)
	case *int:
		if *v > 0 {
			b = append(b, key...)
			b = append(strconv.AppendInt(b, int64(*v), 10), '\n')
		}
	case *time.Time:
		if !v.IsZero() {
			b = append(b, key...)
			b = append(v.UTC().AppendFormat(b, time.RFC3339Nano), '\n')
		}
	case *[]Attachment:
		if len(*v) > 0 {
			b = append(b, "attachments:\n"...)
		}
		for _, a := range *v {
			b = appendString(b, "  - name: ", a.Name)
			b = appendString(b, "    path: ", a.Path)
			b = append(b, "    size: "...)
			b = append(strconv.AppendInt(b, a.Size, 10), '\n')
			b = appendString(b, "    sha256: ", a.SHA256)
		}
	}
	return b
}

func appendString(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	b = append(b, key...)
	b = appendScalar(b, s)
	return append(b, '\n')
}

func appendList(b []byte, key string, list []string) []byte {
	if len(list) == 0 {
		return b
	}
	b = append(b, key...)
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendScalar(b, s)
	}
	return append(b, "]\n"...)
}

// appendScalar writes a plain word without quotes, and other text in double quotes, with
// the escapes that YAML and JSON share.
func appendScalar(b []byte, s string) []byte {
	if plain(s) {
		return append(b, s...)
	}
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case mustEscape(r):
			const hex = "0123456789abcdef"
			b = append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}

// mustEscape reports whether r is a control character or a character below U+10000 that
// YAML forbids or interprets as a line break or a byte order mark. (See section 5.1 of
// YAML 1.2 and, for line breaks, YAML 1.1.)
func mustEscape(r rune) bool {
	return r < ' ' || 0x7f <= r && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff
}

// notText lists words that some YAML parsers do not interpret as strings.
var notText = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"}

// plain reports whether s needs no quotes, because every YAML parser interprets it as a
// string: it begins with a lowercase letter, continues with letters, digits and a few
// other characters, and has no special meaning in YAML.
func plain(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z':
		case i > 0 && ('A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.' || c == '/'):
		default:
			return false
		}
	}
	return s != "" && (len(s) > 5 || !slices.Contains(notText, s))
}
