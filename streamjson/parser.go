package streamjson

// A parser decodes lines one after the other into the same event.
type parser struct {
	ev Event
}

// decode decodes a line without its newline into p.ev.
func (p *parser) decode(line []byte) {
	p.ev = decodeSlow(line)
	p.ev.Raw = line
}
