package provision

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// homeFolder checks that no other user may read the daemon's own files, and that this
// user can write there.
func (e *checkup) homeFolder() {
	const name = "daemon's folder"
	for _, path := range []string{e.home.Dir(), filepath.Join(e.home.Dir(), "tokens"), e.home.Turns()} {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if path == e.home.Dir() {
				e.good(name, "missing; start creates it")
				return
			}
			continue
		case err != nil:
			e.wrong(name, "", "%v", err)
			return
		case info.Mode().Perm()&0o077 != 0:
			e.wrong(name, "chmod go-rwx "+shellWord(path), "%s can be read by others (mode %04o)", path, info.Mode().Perm())
			mode := fs.FileMode(0o600)
			if info.IsDir() {
				mode = 0o700
			}
			e.fixMode(path, mode)
			return
		}
	}
	if err := writable(e.home.Dir()); err != nil {
		e.wrong(name, diskStep(err), "%v", err)
		if errors.Is(err, fs.ErrPermission) {
			e.fixMode(e.home.Dir(), 0o700)
		}
		return
	}
	if damaged := e.home.Damaged(); len(damaged) > 0 {
		for _, d := range damaged {
			e.wrong(name, d.Next, "%v", d)
		}
		return
	}
	e.good(name, "%s", e.home.Dir())
}

// writable creates a file in dir and removes it, and returns an error if that is not
// possible.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return fmt.Errorf("nothing can be written: %w", err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// diskStep returns the next step for a disk error, or "" for any other error.
func diskStep(err error) string {
	switch {
	case errors.Is(err, unix.EROFS):
		return "mount, which shows which disk is read-only, and dmesg, which shows why"
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return "make room (df -h . and df -i . show what is full)"
	case errors.Is(err, unix.EIO):
		return "dmesg, which shows what the disk reports"
	}
	return ""
}
