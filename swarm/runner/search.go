package runner

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A search finds the processes of a turn by two criteria.
//
// The first criterion is the mark in the environment of the client. Each child inherits
// it unless the child is started without it, for example with env -i.
//
// The second criterion is the session. The shell tool of most clients starts a session for
// each command, and all processes in a session descend from its leader. A session therefore
// belongs to the turn if its leader carries the mark. It also belongs to the turn if
// another process in it carries the mark, and its leader either has exited or was started
// after the client. In that case, the leader must be a descendant of the client. If a
// process falsely carries the mark of another turn, only its own session is attributed to
// that turn. The client's own session is that of its daemon or of a person's terminal, and
// never belongs to the turn.
//
// A process that has lost the mark and started another session, for example with setsid
// env -i, meets neither criterion. On Linux, [EndAdopted] terminates it when the daemon
// exits.
//
// The search keeps a session in its list after the last process with the mark has ended.
// It removes the session when all its processes have ended, because its ID can then be
// reused. A search is safe for concurrent use.
type search struct {
	mark   string
	client processStat // zero if the client is unknown

	mu       sync.Mutex
	reader   environReader
	sessions map[int]bool // the sessions that belong to the turn
}

// newSearch returns a search for the processes of a client's turns.
func newSearch(mark string, client processStat) *search {
	return &search{mark: mark, client: client, sessions: make(map[int]bool)}
}

// look only updates the list of the turn's sessions.
func (r *search) look() { r.each(func(processStat) {}) }

// each calls f for each running process of the turn.
func (r *search) each(f func(processStat)) {
	if r.mark == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	entry := []byte(MarkVar + "=" + r.mark)
	inUse := make(map[int]bool)
	var others []int
	for _, pid := range pids() {
		if pid == os.Getpid() {
			continue
		}
		if !r.reader.carries(pid, entry) {
			others = append(others, pid)
			continue
		}
		if s, err := stat(pid); err == nil && !s.dead {
			if r.begins(s) {
				r.sessions[s.session] = true
			}
			inUse[s.session] = true
			f(s)
		}
	}
	if len(r.sessions) == 0 {
		return
	}
	for _, pid := range others {
		s, err := stat(pid)
		if err != nil || !r.sessions[s.session] {
			continue
		}
		inUse[s.session] = true
		// We cannot terminate another user's process, so we do not wait for it.
		if !s.dead && s.start >= r.client.start && syscall.Kill(pid, 0) == nil {
			f(s)
		}
	}
	for session := range r.sessions {
		if !inUse[session] {
			delete(r.sessions, session)
		}
	}
}

// begins reports whether a process with the mark shows that its session belongs to the
// turn.
func (r *search) begins(s processStat) bool {
	own, err := unix.Getsid(0)
	if err != nil || s.session <= 1 || s.session == own || s.session == r.client.session {
		return false // 1 is the session of the system's first process
	}
	if s.session == s.pid || r.client.pid == 0 {
		return s.session == s.pid
	}
	leader, err := stat(s.session)
	return err != nil || leader.start >= r.client.start // an error means that the leader has ended
}
