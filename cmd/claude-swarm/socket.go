package main

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/lineage"
)

// A socket is the daemon's control socket. The daemon can recreate it, because systemd
// removes the runtime folder of a user who has logged out even though the daemon keeps
// running.
type socket struct {
	project *project
	note    discovery.Note

	mu     sync.Mutex
	l      *net.UnixListener
	closed bool
}

// openSocket starts listening on the socket and writes its path to the daemon's lock
// file.
func openSocket(p *project) (*socket, error) {
	s := &socket{project: p, note: discovery.Note{PID: os.Getpid(), Since: time.Now(), Version: version, Namespace: lineage.PIDNamespace()}}
	return s, s.listen()
}

func (s *socket) listen() error {
	l, err := control.Listen(s.project.dir, os.Getenv)
	if err != nil {
		return err
	}
	s.note.Socket = l.Addr().String()
	if err := s.note.Write(s.project.home.LockFile()); err != nil {
		return errors.Join(err, l.Close())
	}
	s.l = l
	return nil
}

// noteAgain writes the path of the socket to the daemon's lock file after another program
// deleted that file.
func (s *socket) noteAgain() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.note.Write(s.project.home.LockFile())
}

func (s *socket) listener() *net.UnixListener {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.l
}

func (s *socket) path() string { return s.listener().Addr().String() }

// renew recreates the socket if its file is gone. Otherwise, it returns nil. Connections to
// the old socket stay open.
func (s *socket) renew() (*net.UnixListener, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil
	}
	if _, err := os.Lstat(s.note.Socket); !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	old := s.l
	if err := s.listen(); err != nil {
		return nil, err
	}
	// Closing the old listener must not remove the new socket file, which can have the
	// same name.
	old.SetUnlinkOnClose(false)
	return s.l, old.Close()
}

// close removes the socket, so that no new client can connect.
func (s *socket) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.l.Close() // returns an error only if the server has failed and has already closed the listener
}
