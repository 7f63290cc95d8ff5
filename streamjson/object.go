package streamjson

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// arenaSize is the size, in bytes, of a block of memory for short strings. It is small,
// because each string that a caller keeps retains its entire block in memory.
const arenaSize = 4 << 10

// A parser decodes lines one after another into the same event. Short strings share
// memory with their neighbors, so a line with ten of them usually needs no allocation.
// The parser never overwrites the memory of a returned string.
type parser struct {
	ev      Event
	blocks  []Block
	usage   Usage
	members []member // the members of all objects on the line
	text    []byte   // the last string that contained escapes
	arena   strings.Builder
}

// An object is a JSON object on the line. Keys are compared exactly, and the last of
// several equal keys counts. A field that is missing or does not have the requested type
// is zero.
type object struct {
	p       *parser
	members []member
	ok      bool // the line contains this object
}

func (p *parser) object(raw []byte) object {
	list, ok := p.list(raw, '{')
	return object{p, list, ok}
}

func (p *parser) list(raw []byte, bracket byte) ([]member, bool) {
	from := len(p.members)
	list, ok := members(p.members, raw, bracket)
	if !ok {
		return nil, false
	}
	p.members = list
	return slices.Clip(list[from:]), true
}

// unescape decodes the text between the quotes of a string. The result is valid until the
// next call. Bytes that are not valid UTF-8 become U+FFFD.
func (p *parser) unescape(raw []byte) []byte {
	raw = validUTF8(raw)
	if bytes.IndexByte(raw, '\\') >= 0 {
		p.text, _ = unescape(p.text[:0], raw, 0, math.MaxInt)
		return p.text
	}
	return raw
}

// str reads a string.
func (p *parser) str(raw []byte) string {
	if !isString(raw) {
		return ""
	}
	text := p.unescape(raw[1 : len(raw)-1])
	if len(text) > arenaSize/4 {
		return string(text)
	}
	if p.arena.Cap()-p.arena.Len() < len(text) {
		p.arena = strings.Builder{}
		p.arena.Grow(arenaSize)
	}
	from := p.arena.Len()
	p.arena.Write(text)
	return p.arena.String()[from:]
}

// bounded reads a string and keeps at most MaxResult bytes; see [bound]. It stores only the
// decoded bytes that it keeps. Text that is not valid UTF-8 can become up to three times as
// long.
func (p *parser) bounded(raw []byte) (kept string, lost int64) {
	if len(raw) <= MaxResult/3 || !isString(raw) {
		return p.str(raw), 0
	}
	raw = validUTF8(raw[1 : len(raw)-1])
	_, size := unescape(nil, raw, math.MaxInt, math.MaxInt)
	return bound(size, func(from, to int) []byte {
		part, _ := unescape(nil, raw, from, to)
		return part
	})
}

func (o object) get(key string) []byte {
	for i := len(o.members) - 1; i >= 0; i-- {
		if m := &o.members[i]; string(m.key) == key {
			return m.value
		}
	}
	return nil
}

// unique sorts the members by key and keeps only the last member with each key.
func (o object) unique() []member {
	slices.Reverse(o.members)
	slices.SortStableFunc(o.members, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	return slices.CompactFunc(o.members, func(a, b member) bool { return bytes.Equal(a.key, b.key) })
}

func (o object) obj(key string) object { return o.p.object(o.get(key)) }

func (o object) list(key string) []member {
	list, _ := o.p.list(o.get(key), '[')
	return list
}

func (o object) strs(key string) []string {
	list := o.list(key)
	out := make([]string, 0, len(list))
	for _, m := range list {
		if isString(m.value) {
			out = append(out, o.p.str(m.value))
		}
	}
	return clip(out)
}

func (o object) str(key string) string    { return o.p.str(o.get(key)) }
func (o object) flag(key string) bool     { return string(o.get(key)) == "true" }
func (o object) float(key string) float64 { return toFloat(o.get(key)) }
func (o object) int(key string) int       { return toInt(o.get(key)) }

// usd reads an amount of money. A missing amount is 0. A value that is not a number, or is
// out of range, is not known.
func (o object) usd(key string) (amount float64, known bool) {
	raw := o.get(key)
	if len(raw) == 0 {
		return 0, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if !isNumber(raw) || err != nil {
		return 0, false
	}
	return f, true
}

// raw returns the value exactly as it is on the line, or nil if it is missing or null.
func (o object) raw(key string) []byte {
	if raw := o.get(key); string(raw) != "null" {
		return raw
	}
	return nil
}

func isString(raw []byte) bool { return at(raw, 0) == '"' }
func isNumber(raw []byte) bool { return at(raw, 0) == '-' || at(raw, 0)-'0' <= 9 }

// toFloat reads a JSON number. It returns 0 for any other value, and for a number that is
// out of range.
func toFloat(num []byte) float64 {
	if !isNumber(num) {
		return 0
	}
	f, err := strconv.ParseFloat(string(num), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// toInt reads a JSON number and discards its fraction. It returns 0 for a number that is
// out of range.
func toInt(num []byte) int {
	if !isNumber(num) {
		return 0
	}
	if n, err := strconv.Atoi(string(num)); err == nil {
		return n
	}
	if f := toFloat(num); math.Abs(f) < 1<<53 {
		return int(f)
	}
	return 0
}

// milliseconds converts ms to a duration of at most 100 years.
func milliseconds(ms float64) time.Duration {
	const most = 100 * 365 * 24 * 3600 * 1000
	return time.Duration(min(max(ms, -most), most) * float64(time.Millisecond))
}
