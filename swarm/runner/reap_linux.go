package runner

import (
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// BecomeReaper makes this process the parent of its orphaned descendants, so that it finds
// and reaps the orphans of a turn. A daemon calls it once, before the first turn, and then
// ReapAdopted from time to time.
func BecomeReaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the reaper of orphans: %w", err)
	}
	return nil
}

// suspects are the zombies that the last call of ReapAdopted saw.
var suspects struct {
	mu   sync.Mutex
	seen map[Process]bool
}

// ReapAdopted reaps the orphans that have ended since this process adopted them, each by
// its number, and returns how many. It never waits for "any child", which would steal the
// exit status of a process that os/exec waits for. Since an orphan cannot be distinguished
// from such a process, it reaps only children that were already dead at the previous call.
// So leave seconds between two calls: call it every 30 s, for example.
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
