package irc

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The limits of a line in bytes, as defined by IRCv3 and RFC 2812.
const (
	MaxTags    = 8191 // tags in a line from a server, including the @ and the space
	MaxTagsOut = 4096 // tags in a line from a client, including the @ and the space
	LineLen    = 512  // the line without its tags, including CR and LF, unless the server announces a different limit

	// A server may be configured for longer lines without announcing this (ergo's
	// max-line-len), so the client accepts lines longer than LineLen.
	maxRead = MaxTags + 8192
)

// ErrMessage reports that a message cannot be written as a line. The message has no
// command, an invalid tag or source, or a middle parameter that is empty, begins with a
// colon or contains a space. The error covers every mistake that would cause a second
// command or shifted parameters.
var ErrMessage = errors.New("not a message")

// A Message is one line of the protocol.
type Message struct {
	Tags    map[string]string // unescaped; nil if there are none; "" for a tag without a value
	Source  string            // nick!user@host or a server name; "" from a client
	Command string            // in upper case, or three digits
	Params  []string          // nil if there are none; the last may contain spaces and may be empty
}

// Msg makes a message without tags or a source.
func Msg(command string, params ...string) Message {
	return Message{Command: command, Params: params}
}

// Param returns parameter i, counted from 0, or "" if there are fewer parameters, because
// a server may omit parameters that its documentation promises.
func (m Message) Param(i int) string {
	if i < 0 || i >= len(m.Params) {
		return ""
	}
	return m.Params[i]
}

// Last returns the last parameter, or "" for a message without parameters.
func (m Message) Last() string { return m.Param(len(m.Params) - 1) }

// Nick returns the source up to the first ! or @. If the source is a server, Nick returns
// the whole source.
func (m Message) Nick() string {
	if i := strings.IndexAny(m.Source, "!@"); i >= 0 {
		return m.Source[:i]
	}
	return m.Source
}

// Parse reads one line, with or without its line end. Several spaces count as one,
// invalid UTF-8 becomes U+FFFD, and unknown tags are kept. The error is [ErrMessage] for
// a line without a command.
func Parse(line string) (Message, error) {
	var m Message
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	rest := strings.TrimLeft(strings.ToValidUTF8(line, "\uFFFD"), " ")
	word := func() string {
		w, after, _ := strings.Cut(rest, " ")
		rest = strings.TrimLeft(after, " ")
		return w
	}
	if tags, ok := strings.CutPrefix(rest, "@"); ok {
		rest = tags
		m.Tags = parseTags(word())
	}
	if source, ok := strings.CutPrefix(rest, ":"); ok {
		rest = source
		m.Source = word()
	}
	m.Command = strings.ToUpper(word())
	if !validCommand(m.Command) {
		return Message{}, fmt.Errorf("%w: no command in %.80q", ErrMessage, line)
	}
	for rest != "" {
		if last, ok := strings.CutPrefix(rest, ":"); ok {
			m.Params = append(m.Params, last)
			break
		}
		m.Params = append(m.Params, word())
	}
	return m, nil
}

func parseTags(s string) map[string]string {
	tags := make(map[string]string)
	for tag := range strings.SplitSeq(s, ";") {
		if key, value, _ := strings.Cut(tag, "="); key != "" {
			tags[key] = unescapeTag(value)
		}
	}
	if len(tags) == 0 {
		return nil
	}
	return tags
}

// Clean returns the message that [Message.Append] writes and [Parse] reads back. It has
// the command in upper case, and every parameter is safe. It returns [ErrMessage] for a
// message that cannot be made safe without changing its meaning.
func (m Message) Clean() (Message, error) {
	refuse := func(format string, args ...any) (Message, error) {
		return Message{}, fmt.Errorf("%w: "+format, append([]any{ErrMessage}, args...)...)
	}
	c := Message{Command: strings.ToUpper(m.Command)}
	if !validCommand(c.Command) {
		return refuse("command %q", m.Command)
	}
	if m.Source != "" {
		c.Source = cleanText(m.Source)
		if strings.Contains(c.Source, " ") {
			return refuse("source %q", m.Source)
		}
	}
	if len(m.Tags) > 0 {
		c.Tags = make(map[string]string, len(m.Tags))
		for key, value := range m.Tags {
			if !validTagKey(key) {
				return refuse("tag %q", key)
			}
			c.Tags[key] = strings.ReplaceAll(strings.ToValidUTF8(value, "\uFFFD"), "\x00", "\uFFFD")
		}
	}
	for i, p := range m.Params {
		if i < len(m.Params)-1 {
			p = cleanText(p)
			if p == "" || p[0] == ':' || strings.Contains(p, " ") {
				return refuse("parameter %d of %s is %q", i+1, c.Command, m.Params[i])
			}
		} else {
			p = cleanLast(c.Command, p)
		}
		c.Params = append(c.Params, p)
	}
	return c, nil
}

// Append appends the message and CR LF to dst. Apart from the PING that requests a proof,
// Append writes every line that the package sends, so no text reaches a server without
// passing through [Message.Clean]. Append does not check the length.
func (m Message) Append(dst []byte) ([]byte, error) {
	m, err := m.Clean()
	if err != nil {
		return dst, err
	}
	for i, key := range slices.Sorted(maps.Keys(m.Tags)) {
		dst = append(dst, "@;"[min(i, 1)])
		dst = append(dst, key...)
		if value := m.Tags[key]; value != "" {
			dst = append(dst, '=')
			dst = append(dst, tagEscaper.Replace(value)...)
		}
	}
	if len(m.Tags) > 0 {
		dst = append(dst, ' ')
	}
	if m.Source != "" {
		dst = append(append(append(dst, ':'), m.Source...), ' ')
	}
	dst = append(dst, m.Command...)
	for i, p := range m.Params {
		dst = append(dst, ' ')
		if i == len(m.Params)-1 && (p == "" || p[0] == ':' || strings.Contains(p, " ")) {
			dst = append(dst, ':')
		}
		dst = append(dst, p...)
	}
	return append(dst, '\r', '\n'), nil
}

// String returns the line without its line end, or the reason why the message cannot be
// written as a line. It is for logs and tests.
func (m Message) String() string {
	line, err := m.Append(nil)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return strings.TrimSuffix(string(line), "\r\n")
}

// cleanLast keeps the two \x01 bytes around a CTCP. A \x01 byte at any other position
// would begin a CTCP, so cleanLast replaces it.
func cleanLast(command, p string) string {
	if command == "PRIVMSG" || command == "NOTICE" {
		if inner, ok := strings.CutPrefix(p, "\x01"); ok {
			inner, closed := strings.CutSuffix(inner, "\x01")
			p = "\x01" + cleanText(inner)
			if closed {
				p += "\x01"
			}
			return p
		}
	}
	return cleanText(p)
}

// cleanText replaces all characters that a server or a terminal would not treat as text.
// These are C0 except tab and the formatting codes, DEL, C1 and invalid UTF-8.
func cleanText(s string) string {
	if !strings.ContainsFunc(s, unsafeRune) {
		return s
	}
	var b strings.Builder
	for _, r := range s { // each byte of invalid UTF-8 is one RuneError
		if unsafeRune(r) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
	return b.String()
}

func unsafeRune(r rune) bool {
	switch r {
	case '\t', bold, italic, underline, strike, monospace, reverse, reset, color, hexColor:
		return false
	}
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError
}

func validCommand(s string) bool {
	digits, letters := 0, 0
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'A' && r <= 'Z':
			letters++
		default:
			return false
		}
	}
	return letters > 0 && digits == 0 || letters == 0 && digits == 3
}

func validTagKey(s string) bool {
	name := strings.TrimPrefix(s, "+")
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-./", r)
	})
}

var tagEscaper = strings.NewReplacer(`\`, `\\`, ";", `\:`, " ", `\s`, "\r", `\r`, "\n", `\n`)

func unescapeTag(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			break // a lone backslash at the end is dropped
		}
		switch s[i] {
		case ':':
			b.WriteByte(';')
		case 's':
			b.WriteByte(' ')
		case 'r':
			b.WriteByte('\r')
		case 'n':
			b.WriteByte('\n')
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// messageTime returns the time of a message according to the server's clock, or now if
// the server sends no time.
func messageTime(m Message, now time.Time) time.Time {
	if at := parseTime(m.Tags["time"]); !at.IsZero() {
		return at
	}
	return now
}

// parseTime parses a time in the format that servers use. It returns the zero time if
// this fails.
func parseTime(s string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return at
}
