package streamjson

// resultField reads a field of a result line.
func (p *parser) resultField(key []byte) {
	s, r := &p.scan, &p.result
	switch string(key) {
	case "subtype":
		r.Subtype = p.str()
	case "is_error":
		r.IsError = s.flag()
	case "api_error_status":
		r.APIStatus = p.integer()
	case "api_error_type":
		r.APIType = p.str()
	case "api_error":
		r.APICode = p.str()
	case "result":
		r.Text = p.str()
	case "errors":
		r.Errors = p.strs(r.Errors[:0])
	case "num_turns":
		r.Turns = p.integer()
	case "duration_ms":
		r.Duration = milliseconds(p.float())
	case "total_cost_usd":
		r.CostUSD = p.float()
	case "stop_reason":
		r.StopReason = p.str()
	case "terminal_reason":
		r.TerminalReason = p.str()
	case "usage":
		p.ev.Usage = p.tokens()
	case "permission_denials":
		r.Denials = r.Denials[:0]
		if s.null() {
			return
		}
		for s.open('['); s.next(']'); {
			r.Denials = append(r.Denials, p.denial())
		}
	case "modelUsage":
		r.Models = r.Models[:0]
		if s.null() {
			return
		}
		for s.open('{'); s.next('}'); {
			name := s.raw()
			s.expect(':')
			p.modelUsage(p.text(name))
		}
	case "model_usage_since_last_result":
		s.refuse() // a client that has it does not begin its results with their type
	default:
		s.skip()
	}
}

func (p *parser) denial() (d Denial) {
	s := &p.scan
	for s.open('{'); s.next('}'); {
		switch string(s.key()) {
		case "tool_name":
			d.Tool = p.str()
		case "tool_use_id":
			d.ID = p.str()
		case "tool_input":
			d.Input = s.value()
		default:
			s.skip()
		}
	}
	return d
}

func (p *parser) modelUsage(name string) {
	s := &p.scan
	m := ModelUsage{Model: name}
	for s.open('{'); s.next('}'); {
		switch string(s.key()) {
		case "inputTokens":
			m.Usage.Input = p.integer()
		case "outputTokens":
			m.Usage.Output = p.integer()
		case "cacheReadInputTokens":
			m.Usage.CacheRead = p.integer()
		case "cacheCreationInputTokens":
			m.Usage.CacheWrite = p.integer()
		case "costUSD":
			m.CostUSD = p.float()
		case "contextWindow":
			m.ContextWindow = p.integer()
		default:
			s.skip()
		}
	}
	for i := range p.result.Models {
		if p.result.Models[i].Model == name {
			p.result.Models[i] = m
			return
		}
	}
	p.result.Models = append(p.result.Models, m)
}
