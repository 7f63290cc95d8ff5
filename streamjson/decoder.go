package streamjson

import (
	"bytes"
	"io"
)

// DefaultMaxLine is the longest line that is kept whole, in bytes, when
// [NewDecoder] is not told another. Claude Code prints a file that it edits as a
// whole, so lines of some MiB are ordinary.
const DefaultMaxLine = 32 << 20

// Stats count what a stream held.
type Stats struct {
	Lines   int64 `json:"lines"`   // all that follows included; blank lines are not
	Bad     int64 `json:"bad"`     // no JSON object
	Unknown int64 `json:"unknown"` // of a type or subtype that is not known
	TooLong int64 `json:"too_long"`
	CutOff  bool  `json:"cut_off"` // the last line had no newline
}

// A Decoder reads events from a stream. It is not safe for several goroutines.
type Decoder struct {
	lines lineReader
	parse parser
	stats Stats
	model string // of the main conversation, as the last init named it
}

// NewDecoder returns a decoder that reads from r, to which it does no harm but
// read: the caller closes it. maxLine is the most that is kept of one line, in
// bytes; 0 means [DefaultMaxLine].
func NewDecoder(r io.Reader, maxLine int) *Decoder {
	if maxLine <= 0 {
		maxLine = DefaultMaxLine
	}
	return &Decoder{lines: lineReader{r: r, max: maxLine}}
}

// Next returns the next event. It is valid until the next call of Next. At the
// end of the stream, and only there, the error is [io.EOF]; any other error is
// the reader's own, and comes after the events of all that was read before.
func (d *Decoder) Next() (*Event, error) {
	for {
		line, err := d.lines.next()
		if err != nil {
			return nil, err
		}
		if line.lost == 0 && len(bytes.TrimLeft(line.text, " \t\r")) == 0 {
			continue
		}
		return d.event(line), nil
	}
}

func (d *Decoder) event(line line) *Event {
	d.stats.Lines++
	d.stats.CutOff = d.stats.CutOff || line.cutOff
	ev := &d.parse.ev
	if line.lost > 0 {
		// Its end is missing, so it is not JSON; do not spend time on it.
		*ev = Event{Kind: KindBad, Raw: line.text, Lost: line.lost}
		d.stats.TooLong++
		return ev
	}
	d.parse.decode(line.text)
	switch ev.Kind {
	case KindBad:
		d.stats.Bad++
	case KindOther:
		if !quiet[ev.What] {
			d.stats.Unknown++
		}
	case KindInit:
		d.model = ev.Init.Model
	case KindResult:
		ev.Result.setLimit(d.model)
	}
	return ev
}

// Offset is where in the stream the last event ends, in bytes behind the place
// from which the decoder began to read: a decoder that begins there goes on with
// the next event.
func (d *Decoder) Offset() int64 { return d.lines.offset() }

// Stats returns what was counted so far.
func (d *Decoder) Stats() Stats { return d.stats }

// Decode decodes one line, with or without its newline. Raw and Input are parts
// of line. A line that is not a JSON object is an event of kind bad.
func Decode(line []byte) Event {
	var p parser
	p.decode(bytes.TrimSuffix(line, []byte("\n")))
	return p.ev
}
