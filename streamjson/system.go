package streamjson

// systemField reads a field of a system line.
func (p *parser) systemField(key []byte) {
	if string(key) == "subtype" {
		p.scan.refuse() // it was read already, and decided what this line is
		return
	}
	switch p.ev.Kind {
	case KindInit:
		p.initField(key)
	case KindStatus:
		p.statusField(key)
	case KindCompact:
		p.compactField(key)
	case KindRetry:
		p.retryField(key)
	case KindHook:
		p.hookField(key)
	case KindTask:
		p.taskField(key)
	default:
		p.scan.skip()
	}
}

func (p *parser) initField(key []byte) {
	s, in := &p.scan, &p.init
	switch string(key) {
	case "cwd":
		in.Cwd = p.str()
	case "model":
		in.Model = p.str()
	case "permissionMode":
		in.PermissionMode = p.str()
	case "claude_code_version":
		in.Version = p.str()
	case "apiKeySource":
		in.KeySource = p.str()
	case "tools":
		in.Tools = p.strs(in.Tools[:0])
	case "mcp_servers":
		in.Servers = in.Servers[:0]
		if s.null() {
			return
		}
		for s.open('['); s.next(']'); {
			in.Servers = append(in.Servers, p.server())
		}
	default:
		s.skip()
	}
}

func (p *parser) server() (srv Server) {
	s := &p.scan
	for s.open('{'); s.next('}'); {
		switch string(s.key()) {
		case "name":
			srv.Name = p.str()
		case "status":
			srv.Status = p.str()
		default:
			s.skip()
		}
	}
	return srv
}

// strs reads a list of strings.
func (p *parser) strs(list []string) []string {
	s := &p.scan
	if s.null() {
		return list
	}
	for s.open('['); s.next(']'); {
		list = append(list, p.text(s.raw()))
	}
	return list
}

func (p *parser) statusField(key []byte) {
	switch string(key) {
	case "status":
		p.status.Text = p.str()
	case "compact_result":
		p.status.CompactResult = p.str()
	case "compact_error":
		p.status.CompactError = p.str()
	default:
		p.scan.skip()
	}
}

func (p *parser) compactField(key []byte) {
	s := &p.scan
	if string(key) != "compact_metadata" {
		s.skip()
		return
	}
	p.compact = Compact{}
	if s.null() {
		return
	}
	for s.open('{'); s.next('}'); {
		switch string(s.key()) {
		case "trigger":
			p.compact.Trigger = p.str()
		case "pre_tokens":
			p.compact.Pre = p.integer()
		case "post_tokens":
			p.compact.Post = p.integer()
		default:
			s.skip()
		}
	}
}

func (p *parser) retryField(key []byte) {
	switch string(key) {
	case "attempt":
		p.retry.Attempt = p.integer()
	case "max_retries":
		p.retry.Max = p.integer()
	case "retry_delay_ms":
		p.retry.Delay = milliseconds(p.float())
	case "error_status":
		p.retry.Status = p.integer()
	case "error":
		p.retry.Error = p.str()
	default:
		p.scan.skip()
	}
}

func (p *parser) hookField(key []byte) {
	switch string(key) {
	case "hook_event":
		p.hook.Event = p.str()
	case "hook_name":
		p.hook.Name = p.str()
	case "hook_id":
		p.hook.ID = p.str()
	case "exit_code":
		p.hook.ExitCode = p.integer()
	case "outcome":
		p.hook.Outcome = p.str()
	case "output":
		p.hook.Output, p.hook.Lost = p.bounded()
	default:
		p.scan.skip()
	}
}

func (p *parser) taskField(key []byte) {
	s := &p.scan
	switch string(key) {
	case "task_id":
		p.task.ID = p.str()
	case "tool_use_id":
		p.task.ToolUse = p.str()
	case "task_type":
		p.task.Type = p.str()
	case "is_backgrounded":
		p.task.Foreground = s.peek() == 'f'
		s.flag()
	case "status":
		p.task.Status = p.str()
	case "summary":
		p.task.Summary = p.str()
	case "description":
		p.about = p.str()
	case "patch":
		p.tstatus = ""
		if s.null() {
			return
		}
		for s.open('{'); s.next('}'); {
			if string(s.key()) == "status" {
				p.tstatus = p.str()
			} else {
				s.skip()
			}
		}
	default:
		s.skip()
	}
}
