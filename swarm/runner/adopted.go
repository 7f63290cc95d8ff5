package runner

import (
	"sync"
	"syscall"
	"time"
)

// An Adopted is a client that an earlier daemon has started. Its exit status is unknown,
// since only its parent can read it. Finish must be called exactly once.
type Adopted struct {
	process Process
	handle  handle
	exited  chan struct{}
	stop    chan struct{}
	wg      sync.WaitGroup
}

// Adopt returns the Adopted for a process. It returns false if that process is dead.
func Adopt(p Process) (*Adopted, bool) {
	h, ok := hold(p)
	if !ok {
		return nil, false
	}
	a := &Adopted{process: p, handle: h, exited: make(chan struct{}), stop: make(chan struct{})}
	// It ends with the client; Finish waits for it.
	a.wg.Go(func() {
		for a.handle.alive(100 * time.Millisecond) {
		}
		close(a.exited)
	})
	return a, true
}

// Process returns the client's process.
func (a *Adopted) Process() Process { return a.process }

// Exited is closed when the client has ended.
func (a *Adopted) Exited() <-chan struct{} { return a.exited }

// Interrupt sends SIGINT only to the leader.
func (a *Adopted) Interrupt() { a.handle.signal(syscall.SIGINT) }

// Terminate sends SIGTERM to the group.
func (a *Adopted) Terminate() { a.signalGroup(syscall.SIGTERM) }

// Kill sends SIGKILL to the group.
func (a *Adopted) Kill() { a.signalGroup(syscall.SIGKILL) }

// signalGroup signals the group while its leader lives; processes of a group without a
// leader are found by their mark.
func (a *Adopted) signalGroup(sig syscall.Signal) {
	if a.process.Alive() {
		signalGroup(a.process.PID, sig)
		a.handle.signal(sig) // it may have left its group
	}
}

// Finish kills the group, waits for the leader's end, and ends the processes that carry
// mark. The exit code is unknown (-1).
func (a *Adopted) Finish(mark string, grace time.Duration) Exit {
	a.Kill()
	a.wg.Wait()
	a.handle.close()
	return Exit{ExitCode: -1, Leftovers: EndLeftovers(mark, grace)}
}
