package runner

import "time"

// A Usage is what running processes use of the machine.
type Usage struct {
	// CPU is the processor time that they, and the children that they have waited
	// for, have used so far.
	CPU time.Duration
	// RSS is the memory that they hold, in bytes. What they share counts for each.
	RSS int64
}

func (u *Usage) add(s processStat) {
	u.CPU += s.used
	u.RSS += s.rss
}

// CPUTime is the processor time that the running processes with this mark have
// used so far.
func CPUTime(mark string) time.Duration { return UsageOf(mark).CPU }
