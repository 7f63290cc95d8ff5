package runner

import (
	"fmt"
	"time"
)

// A Process identifies one process permanently. A process ID can be reused, but not with
// the same start time.
type Process struct {
	PID int `json:"pid"`
	// Start is the start time of the process, in clock ticks since boot on Linux and in
	// microseconds since 1970 on macOS. Use it only in comparisons.
	Start uint64 `json:"start"`
}

// Identify returns the process that currently has this ID. The error is [fs.ErrNotExist]
// if there is no such process.
func Identify(pid int) (Process, error) {
	s, err := stat(pid)
	if err != nil {
		return Process{PID: pid}, fmt.Errorf("identify process %d: %w", pid, err)
	}
	return Process{PID: pid, Start: s.start}, nil
}

// Alive reports whether exactly this process is running. A process that has ended but has
// not been reaped yet does not count as running.
func (p Process) Alive() bool {
	if p.PID <= 0 {
		return false
	}
	s, err := stat(p.PID)
	return err == nil && s.start == p.Start && !s.dead
}

func (p Process) String() string { return fmt.Sprintf("%d@%d", p.PID, p.Start) }

// A processStat contains what the system reports about one process.
type processStat struct {
	pid, parent, group int
	session            int // 0 if the session is unknown or was started outside the container
	start              uint64
	dead               bool          // the process has ended but has not been reaped yet
	used               time.Duration // CPU time; on Linux, this includes children for which the process has waited
	rss                int64         // memory, in bytes
}

// Ancestors returns the parent of a process, the parent's parent, and so on, excluding
// the system's first process. The parameter most limits the number of ancestors. There
// can be fewer if the system hides the next parent.
func Ancestors(pid, most int) []Process {
	var all []Process
	s, err := stat(pid)
	for err == nil && s.parent > 1 && len(all) < most {
		if s, err = stat(s.parent); err == nil {
			all = append(all, Process{PID: s.pid, Start: s.start})
		}
	}
	return all
}
