package streamjson

// message reads the message of an assistant or a user.
func (p *parser) message() {
	s, ev := &p.scan, &p.ev
	ev.Model, ev.MessageID, ev.Usage = "", "", nil
	p.blocks = p.blocks[:0]
	if s.null() {
		return
	}
	for s.open('{'); s.next('}'); {
		switch string(s.key()) {
		case "content":
			p.content()
		case "id":
			ev.MessageID = p.str()
		case "model":
			ev.Model = p.same(&p.model)
		case "usage":
			ev.Usage = p.tokens()
		default:
			s.skip()
		}
	}
}

// tokens reads the usage of an assistant or a result.
func (p *parser) tokens() *Usage {
	s, u := &p.scan, &p.usage
	*u = Usage{}
	if s.null() {
		return nil
	}
	for s.open('{'); s.next('}'); {
		switch string(s.key()) {
		case "input_tokens":
			u.Input = p.integer()
		case "output_tokens":
			u.Output = p.integer()
		case "cache_read_input_tokens":
			u.CacheRead = p.integer()
		case "cache_creation_input_tokens":
			u.CacheWrite = p.integer()
		default:
			s.skip()
		}
	}
	return u
}

// content reads a message's content: one text, or blocks.
func (p *parser) content() {
	s := &p.scan
	p.blocks = p.blocks[:0]
	switch s.peek() {
	case 'n':
		s.null()
	case '"':
		p.blocks = append(p.blocks, Block{Kind: BlockText, Text: p.str()})
	default:
		for s.open('['); s.next(']'); {
			p.block()
		}
	}
}

// block reads one block. Its type may stand behind what it decides, so strings
// are remembered as tokens and decoded at the end.
func (p *parser) block() {
	s := &p.scan
	var typ, text, thinking, id, name, callID token
	var input []byte
	var result Block
	for s.open('{'); s.next('}'); {
		switch string(s.key()) {
		case "type":
			typ = s.maybe()
		case "text":
			text = s.maybe()
		case "thinking":
			thinking = s.maybe()
		case "id":
			id = s.maybe()
		case "name":
			name = s.maybe()
		case "input":
			input = s.value()
		case "tool_use_id":
			callID = s.maybe()
		case "is_error":
			result.Failed = s.flag()
		case "content":
			result.Text, result.Lost = p.resultText()
		default:
			s.skip()
		}
	}
	if typ.escaped {
		s.refuse()
	}
	var b Block
	switch string(typ.text) {
	case "text":
		b = Block{Kind: BlockText, Text: p.text(text)}
	case "thinking":
		b = Block{Kind: BlockThinking, Text: p.text(thinking)}
	case "tool_use":
		b = Block{Kind: BlockToolUse, ID: p.text(id), Name: p.text(name), Input: input}
	case "tool_result":
		b = result
		b.Kind, b.ID = BlockToolResult, p.text(callID)
	default:
		b = Block{Kind: BlockOther, Name: p.text(typ)}
	}
	p.blocks = append(p.blocks, b)
}

// maybe reads a string or a null.
func (s *scan) maybe() token {
	if s.null() {
		return token{}
	}
	return s.raw()
}

// resultText reads the content of a tool's result: a text, or parts.
func (p *parser) resultText() (kept string, lost int64) {
	s := &p.scan
	if s.peek() != '[' {
		return p.bounded()
	}
	first := true
	var one token
	var all string // of several parts
	for s.open('['); s.next(']'); {
		typ, text := p.part()
		if string(typ.text) != "text" || typ.escaped {
			s.refuse() // an image, which is only named: rare, and not worth it here
			return "", 0
		}
		if first {
			first, one = false, text
			continue
		}
		if all == "" {
			all = p.text(one)
		}
		all += "\n" + p.text(text)
	}
	if all != "" {
		return bound(all)
	}
	kept, lost, ok := p.arena.bounded(one)
	if !ok {
		s.refuse()
	}
	return kept, lost
}

func (p *parser) part() (typ, text token) {
	s := &p.scan
	for s.open('{'); s.next('}'); {
		switch string(s.key()) {
		case "type":
			typ = s.maybe()
		case "text":
			text = s.maybe()
		default:
			s.skip()
		}
	}
	return typ, text
}

// partial reads the event of a message that is still being written.
func (p *parser) partial() {
	s := &p.scan
	p.blocks = p.blocks[:0]
	if s.null() {
		return
	}
	for s.open('{'); s.next('}'); {
		if string(s.key()) == "delta" {
			p.delta()
		} else {
			s.skip()
		}
	}
}

func (p *parser) delta() {
	s := &p.scan
	p.blocks = p.blocks[:0]
	if s.null() {
		return
	}
	var typ, text, thinking token
	for s.open('{'); s.next('}'); {
		switch string(s.key()) {
		case "type":
			typ = s.maybe()
		case "text":
			text = s.maybe()
		case "thinking":
			thinking = s.maybe()
		default:
			s.skip()
		}
	}
	switch string(typ.text) {
	case "text_delta":
		p.blocks = append(p.blocks, Block{Kind: BlockText, Text: p.text(text)})
	case "thinking_delta":
		p.blocks = append(p.blocks, Block{Kind: BlockThinking, Text: p.text(thinking)})
	}
	if typ.escaped {
		s.refuse()
	}
}
