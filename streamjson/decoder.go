package streamjson

import (
	"bytes"
	"io"
)

// DefaultMaxLine is the default maximum length, in bytes, of a line that is kept in full;
// see [NewDecoder]. Claude Code prints the entire content of a file that it edits, so
// lines of several MiB are common.
const DefaultMaxLine = 32 << 20

// Stats contains the line counts of a stream.
type Stats struct {
	Lines   int64 `json:"lines"`   // all lines except blank ones, including those counted below
	Bad     int64 `json:"bad"`     // lines that are not a JSON object
	Unknown int64 `json:"unknown"` // lines of an unknown type or subtype
	TooLong int64 `json:"too_long"`
	CutOff  bool  `json:"cut_off"` // the last line had no newline
}

// A Decoder reads events from a stream. It is not safe for concurrent use.
type Decoder struct {
	lines lineReader
	parse parser
	stats Stats
	model string // the model of the main conversation, from the last init
}

// NewDecoder returns a decoder that reads from r; the caller closes r. maxLine is the
// maximum number of bytes kept from each line; 0 means [DefaultMaxLine].
func NewDecoder(r io.Reader, maxLine int) *Decoder {
	if maxLine <= 0 {
		maxLine = DefaultMaxLine
	}
	return &Decoder{lines: lineReader{r: r, max: maxLine}}
}

// Next returns the next event. The event is valid until the next call to Next. The error
// is [io.EOF] only at the end of the stream. Any other error comes from the reader and is
// returned after the events from all earlier bytes.
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
		// A truncated line is not valid JSON, so it is not parsed.
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

// Offset returns the byte offset of the end of the last event, relative to the position
// where the decoder began to read. A decoder that begins at this offset continues with
// the next event.
func (d *Decoder) Offset() int64 { return d.lines.offset() }

// Stats returns the counts so far.
func (d *Decoder) Stats() Stats { return d.stats }

// Decode decodes one line, with or without its newline. Raw and Input are slices of line.
// A line that is not a JSON object becomes an event of kind bad.
func Decode(line []byte) Event {
	var p parser
	p.decode(bytes.TrimSuffix(line, []byte("\n")))
	return p.ev
}
