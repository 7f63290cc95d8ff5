package discovery

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// IgnoreFile is a file in the daemon's folder that makes git ignore the whole folder, even
// if the project's .gitignore does not list it.
const IgnoreFile = ".gitignore"

// IgnoreText is the content of [IgnoreFile].
const IgnoreText = "*\n"

// MakeHome creates the daemon's folder, readable only by its owner, and [IgnoreFile] in it.
// The file survives a power failure. If the file exists and is not empty, MakeHome does not
// change it. Repeated calls are harmless. The project's folder must exist.
func MakeHome(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create the daemon's folder: %w", err)
	}
	path := filepath.Join(dir, IgnoreFile)
	if info, err := os.Lstat(path); err == nil && info.Size() > 0 {
		return nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep git out of the daemon's folder: %w", err)
	}
	if err := writeIgnore(dir, path); err != nil {
		return fmt.Errorf("keep git out of the daemon's folder: %w", err)
	}
	return nil
}

// MakeInHome creates a folder below the daemon's folder, readable only by its owner, with the
// folders between them. It does not create the daemon's folder: the error is [fs.ErrNotExist] if
// that is gone. A daemon whose project was moved could otherwise recreate it at the old path.
func MakeInHome(dir string) error {
	for at := filepath.Dir(filepath.Clean(dir)); at != filepath.Dir(at); at = filepath.Dir(at) {
		if filepath.Base(at) != HomeName {
			continue
		}
		if _, err := os.Stat(at); err != nil {
			return err
		}
		break
	}
	return os.MkdirAll(dir, 0o700)
}

// writeIgnore writes the file in place. The file has only two bytes, so a crash can at
// worst leave an empty file behind, which the next call rewrites.
func writeIgnore(dir, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(IgnoreText)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// IsIgnoreFile reports whether a file is an [IgnoreFile] with the content that [MakeHome]
// writes, or an empty one that a crash left behind.
func IsIgnoreFile(path string) bool {
	data, err := os.ReadFile(path)
	return err == nil && filepath.Base(path) == IgnoreFile && (len(data) == 0 || bytes.Equal(data, []byte(IgnoreText)))
}
