// Package discovery finds a project and its daemon's socket. The daemon and its clients
// each compute the path of the socket from the project's path.
//
// [Find] and [Listening] must be fast, because each `send` calls them. Only a caller that needs
// an answer imports package control, which communicates through the socket.
package discovery

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxPath is the maximum length of a socket's path, in bytes. Linux allows 107 bytes, macOS
// 103; a path within this limit works on both.
const maxPath = 99

// A PathError explains why a path or a folder cannot be used for the socket.
type PathError struct {
	Path    string
	Problem string
	Hint    string // what the person can do
}

func (e *PathError) Error() string { return fmt.Sprintf("control socket: %s %s", e.Path, e.Problem) }

// Paths lists the possible paths of a project's socket, the preferred one first: in
// $XDG_RUNTIME_DIR/claude-swarm/ if this user owns $XDG_RUNTIME_DIR, and in
// ~/.claude-swarm/run/. The file name is computed from the project's real path, so every
// path to the same folder gives the same socket.
//
// A daemon listens on the first path. A client tries all of them, because the daemon may
// have been started without a runtime folder, for example by cron. In the opposite case,
// only the daemon's [Note] tells a client the path of the socket.
func Paths(project string, getenv func(string) string) ([]string, error) {
	real, err := filepath.Abs(project)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	sum := sha256.Sum256([]byte(real))
	name := hex.EncodeToString(sum[:8]) + ".sock"

	var paths []string
	tooLong := ""
	add := func(path string) {
		if len(path) > maxPath {
			tooLong = path
			return
		}
		paths = append(paths, path)
	}
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && checkOwner(dir) == nil {
		add(filepath.Join(dir, "claude-swarm", name))
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		add(filepath.Join(home, ".claude-swarm", "run", name))
	}
	switch {
	case len(paths) > 0:
		return paths, nil
	case tooLong != "":
		return nil, &PathError{tooLong, fmt.Sprintf("is longer than the %d bytes that a socket path may have", maxPath),
			"export XDG_RUNTIME_DIR=" + shortFolder}
	}
	return nil, &PathError{"no folder:", "neither XDG_RUNTIME_DIR nor HOME is set", "export HOME=~"}
}

// shortFolder is the runtime folder that a person is told to set: one with a short path that
// belongs to them.
const shortFolder = "/run/user/$(id -u)   (or another short folder of your own)"

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// notMade returns the error for a folder that cannot be created. The cause is the folder in
// which it should be: usually HOME is wrong, or belongs to somebody else.
func notMade(dir string, err error) error {
	why := err
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		why = pe.Err
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EIO) {
		return fmt.Errorf("control socket: %w", err) // the disk, not the folder
	}
	at := filepath.Dir(filepath.Dir(dir))
	return &PathError{dir, fmt.Sprintf("cannot be created (%v): HOME or XDG_RUNTIME_DIR must be a folder in which you can write, unlike %s", why, at),
		"export XDG_RUNTIME_DIR=" + shortFolder}
}

// checkOwner returns an error unless this user owns the folder.
func checkOwner(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &PathError{dir, "is not a folder", ""}
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return &PathError{dir, fmt.Sprintf("belongs to user %d, not to you", st.Uid), `sudo chown "$(id -un)" ` + dir}
	}
	return nil
}

// MakeFolder creates the folder for a socket. If the folder exists, MakeFolder checks
// that it belongs to this user and that no other user can enter it.
func MakeFolder(dir string) error {
	err := os.MkdirAll(filepath.Dir(dir), 0o700)
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return notMade(dir, err)
	}
	return CheckFolder(dir)
}

// CheckFolder returns an error if the folder for a socket exists but cannot be used, or if it
// cannot be created. It creates nothing.
func CheckFolder(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		above := filepath.Dir(dir)
		for ; !exists(above) && above != filepath.Dir(above); above = filepath.Dir(above) {
		}
		if err := unix.Access(above, unix.W_OK|unix.X_OK); err != nil {
			return notMade(dir, err)
		}
		return nil
	} else if err != nil {
		return notMade(dir, err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return &PathError{dir, "is a symbolic link", "rm " + dir}
	}
	if err := checkOwner(dir); err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return &PathError{dir, fmt.Sprintf("is accessible to others (mode %04o)", info.Mode().Perm()), "chmod 700 " + dir}
	}
	return nil
}

// RemoveFolders removes the folders of [Paths] that contain no socket, and ~/.claude-swarm if
// nothing else is in it. Daemons of other projects keep theirs; one that begins to listen
// meanwhile creates its folder again.
func RemoveFolders(project string, getenv func(string) string) error {
	paths, err := Paths(project, getenv)
	if _, none := errors.AsType[*PathError](err); err != nil && !none {
		return err
	}
	for _, path := range paths {
		dirs := []string{filepath.Dir(path)}
		if home := filepath.Dir(dirs[0]); filepath.Base(home) == HomeName {
			dirs = append(dirs, home)
		}
		for _, dir := range dirs {
			// Unlike os.Remove, Rmdir does not remove a symbolic link.
			err := syscall.Rmdir(dir)
			switch {
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, fs.ErrExist), errors.Is(err, syscall.ENOTDIR):
			case err != nil:
				return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
			}
		}
	}
	return nil
}
