package runner

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// UsageOf returns the total usage of the running processes of a turn (see [Leftovers]).
func UsageOf(mark string) Usage {
	var u Usage
	newSearch(mark, processStat{}).each(u.add)
	return u
}

// Usage returns the usage of exactly this process, or zero if it is not running.
func (p Process) Usage() Usage {
	var u Usage
	if s, err := stat(p.PID); err == nil && s.start == p.Start && !s.dead {
		u.add(s)
	}
	return u
}

// wantsCPU checks the state of every thread (see proc(5)), because the state of a process
// is only that of its first thread.
func wantsCPU(pid int) bool {
	threads, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat") // the error is ignored because the pattern is valid
	for _, path := range threads {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		if _, rest, ok := bytes.Cut(data[bytes.LastIndexByte(data, ')')+1:], []byte(" ")); ok && bytes.HasPrefix(rest, []byte("R")) {
			return true
		}
	}
	return false
}
