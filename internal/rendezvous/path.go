// Package rendezvous knows where a project is, and where its daemon and those who
// want something of it meet: at a socket whose path both work out for themselves.
//
// [Find] and [Knock] are quick: each `send` asks them, and only what wants an answer
// needs package control, which speaks through the socket.
package rendezvous

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxPath is the longest path of a socket, in bytes. Linux takes 107, macOS
// 103; a path that works here works on both.
const maxPath = 99

// A PathError says why there is no place for the socket.
type PathError struct {
	Path    string
	Problem string
	Hint    string // what to do
}

func (e *PathError) Error() string { return fmt.Sprintf("control socket: %s %s", e.Path, e.Problem) }

// Paths is where the socket of a project can lie, the best place first:
// $XDG_RUNTIME_DIR/claude-swarm/, where that is a folder of ours, and
// ~/.claude-swarm/run/. The name is made of the project's real path, so every
// way to the same folder leads to the same socket.
//
// A daemon listens at the first place. A client tries them all, since the
// daemon may have been started with a runtime folder and the client, by cron
// for example, without one.
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
		return nil, &PathError{tooLong, fmt.Sprintf("is longer than the %d bytes that a socket may have", maxPath),
			"XDG_RUNTIME_DIR=/run/user/$(id -u) or another short folder of your own"}
	}
	return nil, &PathError{"no folder:", "neither XDG_RUNTIME_DIR nor HOME is set", "set HOME"}
}

// checkOwner wants a folder that is ours.
func checkOwner(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &PathError{dir, "is not a folder", ""}
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return &PathError{dir, fmt.Sprintf("belongs to user %d, not to you", st.Uid), ""}
	}
	return nil
}

// MakeFolder makes the folder of a socket, or checks the one that is there: a
// folder of ours that nobody else can enter.
func MakeFolder(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("control socket: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return &PathError{dir, "is a symbolic link", "rm " + dir}
	}
	if err := checkOwner(dir); err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return &PathError{dir, fmt.Sprintf("can be entered by others (mode %04o)", info.Mode().Perm()), "chmod 700 " + dir}
	}
	return nil
}
