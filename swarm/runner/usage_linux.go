package runner

// UsageOf adds up what the running processes with this mark use.
func UsageOf(mark string) Usage {
	var u Usage
	eachMarked(mark, u.add)
	return u
}

// Usage is what the very process uses; nothing when it does not run.
func (p Process) Usage() Usage {
	var u Usage
	if s, err := stat(p.PID); err == nil && s.start == p.Start && !s.dead {
		u.add(s)
	}
	return u
}
