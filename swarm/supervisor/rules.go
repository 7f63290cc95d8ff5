package supervisor

// A Rule is a pattern of steps that makes an agent look stuck.
type Rule string

// The rules, with their names in the configuration, and the judge.
const (
	SameCall           Rule = "same_call"
	SameError          Rule = "same_error"
	StepsWithoutChange Rule = "steps_without_change"
	ByJudge            Rule = "judge"
)

// A Finding is a result of the rules, or of the judge.
type Finding struct {
	Rule  Rule
	Count int    // how many times the same call or failure was repeated, or how many steps changed no file
	About string // the call, for SameCall and SameError
	Error string // the failure of the call, for SameError
	Sub   bool   // a sub-agent took the steps
	// Earlier is how many times the same call or failure was repeated before a person let
	// the agent continue with the same message.
	Earlier int
}

// flagged applies the rules for repeated calls and failures to the last step of a window.
// That step must be complete. Steps by other sub-agents, and steps before a new message or
// a compaction, do not count.
func flagged(window []*Step, s Settings) (f Finding, bad bool) {
	last := window[len(window)-1]
	for i := range last.Calls {
		c := &last.Calls[i]
		if !c.Done || c.Waits {
			continue
		}
		if n := sameCalls(window, c); s.SameCall > 0 && n >= s.SameCall && n > f.Count {
			f = Finding{Rule: SameCall, Count: n, About: c.About, Sub: last.Parent != ""}
		}
	}
	if f.Count > 0 {
		return f, true
	}
	for i := range last.Calls {
		c := &last.Calls[i]
		if !c.Failed || c.Waits {
			continue
		}
		if n, weight := sameErrors(window, c); s.SameError > 0 && weight >= s.SameError && n > f.Count {
			f = Finding{Rule: SameError, Count: n, About: c.About, Error: c.Result, Sub: last.Parent != ""}
		}
	}
	return f, f.Count > 0
}

// sameCalls counts the steps at the end of a window that contain a call with the same
// input and result as c, a call in the last step. The count ends at a step in which the
// same input gave a different result, or in which a file changed. If c only reads, the
// count also ends at a step that read something new, because an agent may need to read
// something again.
func sameCalls(window []*Step, c *Call) (n int) {
	last := window[len(window)-1]
	for i := len(window) - 1; i >= 0; i-- {
		s := window[i]
		if s.part != last.part {
			break
		}
		mine := s.Parent == last.Parent
		has, moved := false, false
		for j := range s.Calls {
			d := &s.Calls[j]
			switch {
			case mine && d.input == c.input && d.Done && d.result == c.result:
				has = true
			case mine && d.input == c.input && d.Done, d.changes(), mine && c.looks() && d.Done && d.fresh && !d.Waits:
				moved = true
			}
		}
		if moved && s != last {
			break
		}
		if has {
			n++
		}
	}
	return n
}

// sameErrors counts the steps at the end of a window that contain the same failure as c,
// a call in the last step. Only steps after the last success of such a call count. In
// weight, a failure after a file change counts as half, because the agent is trying
// something.
func sameErrors(window []*Step, c *Call) (times, weight int) {
	last := window[len(window)-1]
	halves, moved := 0, false
	for i := len(window) - 1; i >= 0; i-- {
		s := window[i]
		if s.part != last.part {
			break
		}
		failed := false
		for j := range s.Calls {
			d := &s.Calls[j]
			switch {
			case s.Parent != last.Parent:
			case d.Done && !d.Failed && d.Tool == c.Tool && d.subject() == c.subject():
				return times, halves / 2
			case d.failure == c.failure:
				failed = true
			}
			if d.changes() && d.failure != c.failure {
				moved = true
			}
		}
		if !failed {
			continue
		}
		if halves += 2; moved && times > 0 {
			halves--
		}
		times++
		moved = false
	}
	return times, halves / 2
}

// subject returns the program, file or address of a call, in the form that failureOf
// uses.
func (c *Call) subject() string {
	if c.Command != "" {
		return program(c.Command)
	}
	return c.About
}
