package runner

import (
	"sync"
	"syscall"
	"time"
)

// An Adopted is a client that an earlier daemon started. Its exit status is unknown,
// because only its parent can read it. The caller must call Finish exactly once.
type Adopted struct {
	process Process
	handle  handle
	exited  chan struct{}
	wg      sync.WaitGroup
	search  *search
}

// Adopt returns an Adopted for a process that carries mark. It returns false if that
// process is dead.
func Adopt(p Process, mark string) (*Adopted, bool) {
	h, ok := hold(p)
	if !ok {
		return nil, false
	}
	own, err := stat(p.PID)
	if err != nil || own.start != p.Start {
		own = processStat{} // the process has ended in the meantime
	}
	a := &Adopted{process: p, handle: h, exited: make(chan struct{}), search: newSearch(mark, own)}
	// This goroutine ends when the client ends, and Finish waits for it.
	a.wg.Go(func() {
		for a.handle.alive(100 * time.Millisecond) {
		}
		close(a.exited)
	})
	return a, true
}

// Process returns the client's process.
func (a *Adopted) Process() Process { return a.process }

// Exited returns a channel that is closed when the client has ended.
func (a *Adopted) Exited() <-chan struct{} { return a.exited }

// Interrupt sends SIGINT only to the leader.
func (a *Adopted) Interrupt() {
	a.search.look()
	a.handle.signal(syscall.SIGINT)
}

// Terminate sends SIGTERM to the group.
func (a *Adopted) Terminate() { a.signalGroup(syscall.SIGTERM) }

// Kill sends SIGKILL to the group.
func (a *Adopted) Kill() { a.signalGroup(syscall.SIGKILL) }

// signalGroup signals the group, but only while its leader is running. If the leader has
// ended, Finish finds the remaining processes by their mark.
func (a *Adopted) signalGroup(sig syscall.Signal) {
	a.search.look()
	if a.process.Alive() {
		signalGroup(a.process.PID, sig)
		a.handle.signal(sig) // the leader may have left its group
	}
}

// Finish kills the group, waits for the leader to end, and ends all other processes of
// the client's turns in the same way as [Child.Finish]. The exit code is unknown (-1).
func (a *Adopted) Finish(grace time.Duration) Exit {
	a.Kill()
	a.wg.Wait()
	a.handle.close()
	return Exit{ExitCode: -1, Leftovers: a.search.end(grace)}
}
