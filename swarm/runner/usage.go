package runner

import "time"

// A Usage contains the processor time and the memory that some running processes use.
type Usage struct {
	// CPU is the processor time that the processes have used so far. On Linux it includes the
	// children that they have waited for.
	CPU time.Duration
	// RSS is the memory that the processes use, in bytes. Shared memory counts for each
	// process.
	RSS int64
}

func (u *Usage) add(s processStat) {
	u.CPU += s.used
	u.RSS += s.rss
}

// CPUTime returns the processor time that the running processes of a turn, as [Leftovers]
// finds them, have used so far.
func CPUTime(mark string) time.Duration { return UsageOf(mark).CPU }

// Runnable reports whether a thread of the running processes of a turn is running at this
// moment or waiting for a processor. On an overloaded machine such a process gets hardly
// any processor time, but it is working.
func Runnable(mark string) bool {
	found := false
	newSearch(mark, processStat{}).each(func(s processStat) { found = found || wantsCPU(s.pid) })
	return found
}
