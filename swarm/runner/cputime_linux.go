package runner

import "time"

// CPUTime is the processor time that the running processes with this mark, and
// the children that they have waited for, have used so far.
func CPUTime(mark string) time.Duration {
	var used time.Duration
	eachMarked(mark, func(s processStat) { used += s.used })
	return used
}
