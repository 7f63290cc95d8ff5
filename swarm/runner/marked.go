package runner

import (
	"bytes"
	"maps"
	"syscall"
	"time"
)

// Leftovers returns the running processes of a turn, regardless of their parents. These
// are the processes that carry mark (see [Turn.Mark]) in their initial environment, and
// those in a session whose leader carries the mark. Leftovers returns only processes that
// this user is allowed to inspect, and never this process itself.
func Leftovers(mark string) []Process {
	var found []Process
	newSearch(mark, processStat{}).each(func(s processStat) {
		found = append(found, Process{PID: s.pid, Start: s.start})
	})
	return found
}

// lastLooks is the number of extra scans if no process was found but new processes have
// started. One of these may be the child of a process that exited before it was scanned.
// The number is limited because new processes start all the time on a busy machine.
const lastLooks = 2

// EndLeftovers terminates the [Leftovers] of a turn whose client has exited. It sends
// SIGTERM, and SIGKILL after grace, both to them and to processes that they start in the
// meantime. When it returns, they have ended, and their files and ports are closed, unless
// it gives up, which it does 5 s after grace, because a process that is waiting for a disk
// cannot be killed. It returns the number of processes found.
func EndLeftovers(mark string, grace time.Duration) int {
	return newSearch(mark, processStat{}).end(grace)
}

// end does the work of EndLeftovers for the processes that the search finds.
func (r *search) end(grace time.Duration) int {
	seen := make(map[Process]bool)
	groups := make(map[int]bool)
	sweep := func(sig func(Process) syscall.Signal) (alive int) {
		found := make(map[Process]bool)
		r.each(func(s processStat) {
			p := Process{PID: s.pid, Start: s.start}
			if which := sig(p); which != 0 {
				signalProcess(p, which)
			}
			found[p], groups[s.group] = true, true
		})
		// The search cannot find a process that is ending, which has lost its environment but
		// keeps its files and ports open, or one that has executed a program without the mark.
		for p := range seen {
			if found[p] || !p.Alive() {
				continue
			}
			if which := sig(p); which != 0 {
				signalProcess(p, which)
			}
			alive++
		}
		maps.Copy(seen, found)
		return alive + len(found)
	}
	terminate := func(p Process) syscall.Signal {
		if seen[p] {
			return 0 // one signal is enough; a handler may be running
		}
		return syscall.SIGTERM
	}
	kill := func(Process) syscall.Signal { return syscall.SIGKILL }

	gentle, last := time.Now().Add(grace), time.Now().Add(grace+5*time.Second)
	looks := 0
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		sig := terminate
		if !time.Now().Before(gentle) {
			sig = kill
		}
		before := newestPID()
		alive := sweep(sig)
		if alive == 0 && looks < lastLooks && newestPID() != before {
			looks++
			continue
		}
		if alive == 0 || time.Now().After(last) {
			break
		}
		time.Sleep(min(pause, max(time.Until(gentle), time.Millisecond)))
	}
	for group := range groups {
		reapGroup(group)
	}
	return len(seen)
}

// signalProcess sends a signal to exactly this process. If the process has ended, it does
// nothing.
func signalProcess(p Process, sig syscall.Signal) {
	if h, ok := hold(p); ok {
		h.signal(sig)
		h.close()
	}
}

// hasEntry reports whether one of the zero-terminated strings in block is entry.
func hasEntry(block, entry []byte) bool {
	for len(block) > 0 {
		one := block
		if i := bytes.IndexByte(block, 0); i >= 0 {
			one, block = block[:i], block[i+1:]
		} else {
			block = nil
		}
		if string(one) == string(entry) {
			return true
		}
	}
	return false
}
