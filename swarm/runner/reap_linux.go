package runner

import (
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// BecomeReaper makes this process the parent of its orphaned descendants, so that it can
// find and reap the orphans of a turn. A daemon calls BecomeReaper once, before the first
// turn, and then calls ReapAdopted at intervals.
func BecomeReaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the reaper of orphans: %w", err)
	}
	return nil
}

// suspects contains the zombies that the last call to ReapAdopted found.
var suspects struct {
	mu   sync.Mutex
	seen map[Process]bool
}

// ReapAdopted reaps orphans that this process adopted and that have since ended, and
// returns their number. It waits for each one by its process ID and never for "any
// child", because that would discard the exit status of a process for which os/exec is
// waiting. An orphan cannot be distinguished from such a process, so ReapAdopted reaps
// only children that were already dead at the previous call. Calls should therefore be
// several seconds apart, for example 30 s.
func ReapAdopted() int {
	suspects.mu.Lock()
	defer suspects.mu.Unlock()
	dead := make(map[Process]bool)
	reaped, own := 0, syscall.Getpgrp()
	for _, pid := range pids() {
		s, err := stat(pid)
		if err != nil || !s.dead || s.parent != os.Getpid() || s.group == own || children.has(s.pid) {
			continue
		}
		p := Process{PID: s.pid, Start: s.start}
		if !suspects.seen[p] {
			dead[p] = true
			continue
		}
		if pid, err := syscall.Wait4(s.pid, nil, syscall.WNOHANG, nil); pid == s.pid && err == nil {
			reaped++
		}
	}
	suspects.seen = dead
	return reaped
}
