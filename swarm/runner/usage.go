package runner

import "time"

// A Usage contains the CPU time and the memory used by one or more running processes.
type Usage struct {
	// CPU is the CPU time that the processes have used so far. On Linux, it includes the
	// children for which they have waited.
	CPU time.Duration
	// RSS is the memory that the processes use, in bytes. Shared memory is counted for
	// each process.
	RSS int64
}

func (u *Usage) add(s processStat) {
	u.CPU += s.used
	u.RSS += s.rss
}

// CPUTime returns the CPU time that the running processes of a turn (see [Leftovers])
// have used so far.
func CPUTime(mark string) time.Duration { return UsageOf(mark).CPU }

// Runnable reports whether any thread of the turn's processes is currently running or
// waiting for a CPU. On an overloaded machine, such a process gets hardly any CPU time
// even though it is working.
func Runnable(mark string) bool {
	found := false
	newSearch(mark, processStat{}).each(func(s processStat) { found = found || wantsCPU(s.pid) })
	return found
}
