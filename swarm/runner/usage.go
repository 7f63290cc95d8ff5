package runner

import "time"

// A Usage is the use of the machine by running processes.
type Usage struct {
	// CPU is the processor time that they, and the children that they have waited
	// for, have used so far.
	CPU time.Duration
	// RSS is the memory that they hold, in bytes. Shared memory counts for each.
	RSS int64
}

func (u *Usage) add(s processStat) {
	u.CPU += s.used
	u.RSS += s.rss
}

// CPUTime is the processor time that the running processes with this mark have
// used so far.
func CPUTime(mark string) time.Duration { return UsageOf(mark).CPU }

// Runnable reports whether a thread of the running processes with this mark runs at this
// moment, or waits for a processor. On an overloaded machine such a process gets hardly any
// processor time, but works.
func Runnable(mark string) bool {
	found := false
	eachMarked(mark, func(s processStat) { found = found || wantsCPU(s.pid) })
	return found
}
