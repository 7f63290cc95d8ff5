package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// LookPath finds a client's program in the PATH of the client's environment, which may
// differ from the daemon's. A name with a slash is a path, and a relative path is relative
// to dir. The error is [exec.ErrNotFound] or [fs.ErrNotExist] if there is no program with
// that name, and [fs.ErrPermission] if the file cannot be executed.
func LookPath(program, dir string, env []string) (string, error) {
	if strings.Contains(program, "/") {
		if !filepath.IsAbs(program) {
			program = filepath.Join(dir, program)
		}
		return program, runnable(program)
	}
	path := ""
	for _, entry := range env { // the last entry applies, as it does for the client
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = value
		}
	}
	var denied error
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			continue // never execute files from the working directory, because the agent can write to it
		}
		file := filepath.Join(folder, program)
		err := runnable(file)
		if err == nil {
			return file, nil
		}
		if denied == nil && !errors.Is(err, fs.ErrNotExist) {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", fmt.Errorf("%s: %w", program, exec.ErrNotFound)
}

func runnable(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder: %w", file, fs.ErrPermission)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not executable: %w", file, fs.ErrPermission)
	}
	return nil
}
