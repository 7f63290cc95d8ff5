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

// Runnable reports whether a thread of the running processes with this mark runs at
// this moment, or waits for a processor. Where a machine has too much to do such a
// process gets hardly any processor time, and is at work anyway.
func Runnable(mark string) bool {
	found := false
	eachMarked(mark, func(s processStat) { found = found || wantsCPU(s.pid) })
	return found
}
