package runner

import (
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// UsageOf returns the total usage of the running processes of a turn (see [Leftovers]).
func UsageOf(mark string) Usage {
	var numbers []string
	newSearch(mark, processStat{}).each(func(s processStat) { numbers = append(numbers, strconv.Itoa(s.pid)) })
	return tellUsage(numbers)
}

// Usage returns the usage of exactly this process, or zero if it is not running.
func (p Process) Usage() Usage {
	if !p.Alive() {
		return Usage{}
	}
	return tellUsage([]string{strconv.Itoa(p.PID)})
}

// tellUsage runs ps, because the kernel reveals CPU times only to privileged programs. The
// times do not include children that have been reaped.
func tellUsage(pids []string) Usage {
	var u Usage
	if len(pids) == 0 {
		return u
	}
	// If one of the processes has ended, ps exits with status 1 but still lists the
	// others.
	out, _ := exec.Command("/bin/ps", "-o", "rss=,time=", "-p", strings.Join(pids, ",")).Output()
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 2 {
			kib, _ := strconv.ParseInt(f[0], 10, 64)
			u.add(processStat{rss: kib << 10, used: parseClock(f[1])})
		}
	}
	return u
}

// wantsCPU reports whether the process is running or ready to run. ps reports one state
// for the whole process.
func wantsCPU(pid int) bool {
	out, _ := exec.Command("/bin/ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output() // empty if the process has ended
	return strings.HasPrefix(strings.TrimSpace(string(out)), "R")
}

// parseClock parses times such as "12:34.56" and "1:12:34.56".
func parseClock(s string) time.Duration {
	var total float64
	for part := range strings.SplitSeq(s, ":") {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return 0
		}
		total = total*60 + n
	}
	return time.Duration(total * float64(time.Second))
}
