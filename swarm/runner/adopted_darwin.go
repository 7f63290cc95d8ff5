package runner

import (
	"syscall"
	"time"
)

// A handle identifies a process by its number and start time.
type handle struct{ process Process }

func hold(p Process) (handle, bool) { return handle{p}, p.Alive() }

// alive waits for d and reports whether the process is still running.
func (h handle) alive(d time.Duration) bool {
	time.Sleep(d)
	return h.process.Alive()
}

func (h handle) signal(sig syscall.Signal) {
	if h.process.Alive() {
		syscall.Kill(h.process.PID, sig)
	}
}

func (h handle) close() {}
