package runner

import (
	"sync"
	"syscall"
	"time"
)

// children are the leaders that this process has started and not reaped. The reaping of
// orphans skips them.
var children registry

type registry struct {
	mu   sync.Mutex
	pids map[int]bool
}

func (r *registry) add(pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pids == nil {
		r.pids = make(map[int]bool)
	}
	r.pids[pid] = true
}

func (r *registry) remove(pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pids, pid)
}

func (r *registry) has(pid int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pids[pid]
}

// reapGroup reaps our children in a group that has been killed. It does nothing if a
// goroutine waits for the group's leader: reaping the leader would steal its exit status.
func reapGroup(pgid int) {
	if pgid <= 1 || pgid == syscall.Getpgrp() || children.has(pgid) {
		return
	}
	// A killed process takes a moment to die. A process that takes longer, for example
	// because it waits for the disk, is left to ReapAdopted.
	for deadline := time.Now().Add(time.Second); ; {
		pid, err := syscall.Wait4(-pgid, nil, syscall.WNOHANG, nil)
		switch {
		case pid > 0 || err == syscall.EINTR:
		case err != nil || time.Now().After(deadline):
			return
		default:
			time.Sleep(time.Millisecond)
		}
	}
}
