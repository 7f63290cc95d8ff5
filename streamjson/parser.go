package streamjson

import (
	"bytes"
	"slices"
)

// A parser decodes lines one after the other into the same event, whose parts it
// uses repeatedly.
type parser struct {
	ev      Event
	usage   Usage
	init    Init
	result  Result
	compact Compact
	retry   Retry
	hook    Hook
	status  Status
	task    Task
	blocks  []Block

	scan    scan
	arena   arena
	session string // the last one: it is the same on nearly all lines
	model   string
	replay  bool
	tstatus string // of a task's patch
	about   string // a task's description
}

// decode decodes a line without its newline into p.ev.
func (p *parser) decode(line []byte) {
	if !p.fast(line) {
		p.ev = decodeSlow(line)
	}
	p.ev.Raw = line
}

// fast decodes the line, or refuses to. It begins with the type, which decides
// what is looked for in the rest; the order of all else does not matter. Where a
// key stands twice the last one counts, as with encoding/json: so whatever reads
// an object clears first what an earlier one may have left.
func (p *parser) fast(line []byte) bool {
	p.scan = scan{b: line}
	s := &p.scan
	s.open('{')
	if !s.next('}') || string(s.key()) != "type" {
		return false
	}
	typ := s.raw()
	var subtype token
	if string(typ.text) == "system" {
		if !s.next('}') || string(s.key()) != "subtype" {
			return false
		}
		subtype = s.raw()
	}
	if s.refused || typ.escaped || subtype.escaped || subtype.wide {
		return false
	}
	if !p.begin(typ.text, subtype.text) {
		return false
	}
	for s.next('}') {
		key := s.key()
		switch string(key) {
		case "session_id":
			p.ev.Session = p.same(&p.session)
		case "uuid":
			p.ev.UUID = p.str()
		case "parent_tool_use_id":
			p.ev.Parent = p.str()
		case "type":
			s.refuse()
		default:
			p.field(key)
		}
	}
	if s.refused || s.i != len(line) {
		return false
	}
	p.end()
	return true
}

// begin makes the event ready for a line of this type. It refuses types that are
// too rare to be worth it.
func (p *parser) begin(typ, subtype []byte) bool {
	kind := kindOf(typ, subtype)
	p.ev = Event{Kind: kind}
	p.blocks = p.blocks[:0]
	switch kind {
	case KindAssistant, KindPartial:
	case KindUser:
		p.replay = false
	case KindResult:
		p.result = Result{Errors: p.result.Errors[:0], Denials: p.result.Denials[:0], Models: p.result.Models[:0]}
		p.ev.Result = &p.result
	case KindInit:
		p.init = Init{Tools: p.init.Tools[:0], Servers: p.init.Servers[:0]}
		p.ev.Init = &p.init
	case KindStatus:
		p.status = Status{}
		p.ev.Status = &p.status
	case KindCompact:
		p.compact = Compact{}
		p.ev.Compact = &p.compact
	case KindRetry:
		p.retry = Retry{}
		p.ev.Retry = &p.retry
	case KindHook:
		p.hook = Hook{Phase: phase(subtype[len("hook_"):])}
		p.ev.Hook = &p.hook
	case KindTask:
		if !bytes.HasPrefix(subtype, []byte("task_")) {
			return false // a list of tasks
		}
		p.task = Task{Phase: phase(subtype[len("task_"):])}
		p.tstatus, p.about = "", ""
		p.ev.Task = &p.task
	case KindOther:
		if string(typ) != "system" {
			return false
		}
		p.ev.What = what(string(typ), string(subtype))
	default:
		return false
	}
	return true
}

// phase names a phase of a hook or a task.
func phase(p []byte) string {
	for _, known := range [...]string{"started", "response", "progress", "updated", "notification"} {
		if string(p) == known {
			return known
		}
	}
	return string(p)
}

// field reads the value of a key that not all kinds have.
func (p *parser) field(key []byte) {
	s := &p.scan
	switch p.ev.Kind {
	case KindAssistant:
		switch string(key) {
		case "message":
			p.message()
		case "error":
			p.ev.Error = p.str()
		case "api_error", "api_error_type", "api_error_status", "api_error_params":
			if !s.null() {
				s.refuse() // too rare to be worth it
			}
		default:
			s.skip()
		}
	case KindUser:
		switch string(key) {
		case "message":
			p.message()
		case "isReplay":
			p.replay = s.flag()
		case "isSynthetic":
			p.ev.Synthetic = s.flag()
		default:
			s.skip()
		}
	case KindPartial:
		if string(key) == "event" {
			p.partial()
		} else {
			s.skip()
		}
	case KindResult:
		p.resultField(key)
	default:
		p.systemField(key)
	}
}

// end settles what depends on several fields.
func (p *parser) end() {
	ev := &p.ev
	ev.Blocks = clip(p.blocks)
	switch ev.Kind {
	case KindUser:
		if p.replay {
			ev.Kind = KindReplay
		}
		ev.Usage, ev.Model, ev.MessageID = nil, "", "" // a user's message has none of these
	case KindResult:
		r := ev.Result
		r.Errors, r.Denials, r.Models = clip(r.Errors), clip(r.Denials), clip(r.Models)
	case KindInit:
		ev.Init.Tools, ev.Init.Servers = clip(ev.Init.Tools), clip(ev.Init.Servers)
	case KindTask:
		if p.task.Status == "" {
			p.task.Status = p.tstatus
		}
		if p.task.Summary == "" {
			p.task.Summary = p.about
		}
	}
	ev.finish()
}

// clip makes an empty slice nil, and sees to it that one who appends to it gets a
// copy.
func clip[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return slices.Clip(s)
}

// str reads a string; a null is "".
func (p *parser) str() string {
	if p.scan.null() {
		return ""
	}
	return p.text(p.scan.raw())
}

func (p *parser) text(t token) string {
	text, ok := p.arena.string(t)
	if !ok {
		p.scan.refuse()
	}
	return text
}

// bounded reads a string of which no more than MaxResult bytes are kept.
func (p *parser) bounded() (kept string, lost int64) {
	if p.scan.null() {
		return "", 0
	}
	kept, lost, ok := p.arena.bounded(p.scan.raw())
	if !ok {
		p.scan.refuse()
	}
	return kept, lost
}

// same reads a string that is most often the same as the last one.
func (p *parser) same(last *string) string {
	if p.scan.null() {
		return ""
	}
	t := p.scan.raw()
	if t.escaped || string(t.text) != *last {
		*last = p.text(t)
	}
	return *last
}

func (p *parser) integer() int {
	if n := p.scan.number(); n != nil {
		return toInt(n)
	}
	return 0
}

func (p *parser) float() float64 {
	if n := p.scan.number(); n != nil {
		return toFloat(n)
	}
	return 0
}
