package runner

import (
	"os"
	"syscall"
	"time"
)

// EndAdopted terminates the unmarked processes that the turns of a daemon have left
// behind and that the daemon has adopted because of [BecomeReaper]. It sends SIGTERM, and
// SIGKILL after grace, both to them and to processes that they start in the meantime. It
// gives up 5 s after grace. It returns the number of processes found. It does not signal
// the daemon's process group or the children of [Start].
//
// A daemon calls it last, when none of its clients are running, because an orphan that
// outlived the daemon would look like a process started by a person.
func EndAdopted(grace time.Duration) int {
	seen := map[Process]bool{}
	gentle, last := time.Now().Add(grace), time.Now().Add(grace+5*time.Second)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		orphans := adoptedOrphans()
		if len(orphans) == 0 || time.Now().After(last) {
			return len(seen)
		}
		for _, s := range orphans {
			p := Process{PID: s.pid, Start: s.start}
			switch {
			case s.dead:
				_, _ = syscall.Wait4(s.pid, nil, syscall.WNOHANG, nil) // otherwise the next check would find it again
			case !time.Now().Before(gentle):
				signalProcess(p, syscall.SIGKILL)
			case !seen[p]:
				signalProcess(p, syscall.SIGTERM)
			}
			if !s.dead {
				seen[p] = true
			}
		}
		time.Sleep(pause)
	}
}

// adoptedOrphans returns the children of this process that are not in its process group
// and that [Start] has not started.
func adoptedOrphans() []processStat {
	var found []processStat
	own := syscall.Getpgrp()
	for _, pid := range pids() {
		if s, err := stat(pid); err == nil && s.parent == os.Getpid() && s.group != own && !children.has(s.pid) {
			found = append(found, s)
		}
	}
	return found
}
