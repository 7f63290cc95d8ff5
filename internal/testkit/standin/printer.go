package standin

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
)

// A printer writes each line of the stream with a single write. It is safe for concurrent
// use, because the goroutine that reads stdin prints the answers to control requests.
type printer struct {
	mu     sync.Mutex
	w      io.Writer
	format string // text, json, stream-json
	silent bool
}

// line prints v as one line of the stream. In text and json format, only the result is
// printed. A closed output does not cause an error in the turn.
func (p *printer) line(v any) {
	result, isResult := v.(*resultLine)
	if isResult {
		v = result.wire()
	}
	switch {
	case p.format == "stream-json", p.format == "json" && isResult:
		p.raw(encode(v))
	case isResult && result.Result != nil:
		p.raw([]byte(*result.Result))
	case isResult:
		p.raw([]byte("Execution error"))
	}
}

// raw prints data and a line break.
func (p *printer) raw(data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.silent {
		p.w.Write(append(data, '\n'))
	}
}

// close closes the output if possible.
func (p *printer) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = true
	if c, ok := p.w.(io.Closer); ok {
		c.Close()
	}
}

// encode encodes a value of one of this package's types as JSON, without escapes for <, >
// and &, as the real program does.
func encode(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("standin: a line that cannot be encoded: " + err.Error())
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
