package control

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
)

// ErrInUse is returned by [Listen] if a daemon already answers on the socket.
var ErrInUse = errors.New("control socket: a daemon is already listening there")

// Listen creates a project's socket. It removes a socket that a crash left behind,
// after it has checked that no daemon answers there. Closing the listener removes the
// socket.
func Listen(project string, getenv func(string) string) (*net.UnixListener, error) {
	paths, err := discovery.Paths(project, getenv)
	if err != nil {
		return nil, err
	}
	path := paths[0]
	var l *net.UnixListener
	for tries := 0; ; tries++ {
		if err := discovery.MakeFolder(filepath.Dir(path)); err != nil {
			return nil, err
		}
		if err := clearStale(path); err != nil {
			return nil, err
		}
		// The removal of another project removes an empty folder.
		if l, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}); !errors.Is(err, fs.ErrNotExist) || tries == 3 {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	// The folder already denies access to other users; the mode of the socket only makes
	// this visible.
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("control socket: %w", err), l.Close())
	}
	return l, nil
}

// clearStale removes a socket on which no daemon is listening.
func clearStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return &discovery.PathError{Path: path, Problem: "exists and is not a socket", Hint: "rm " + path}
	}
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		return errors.Join(fmt.Errorf("%w: %s", ErrInUse, path), conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("control socket: %w", err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("control socket: remove the socket left by a crash: %w", err)
	}
	return nil
}
