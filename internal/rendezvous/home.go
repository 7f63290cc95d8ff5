package rendezvous

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// IgnoreFile is a file of the daemon's folder which keeps git away from all that lies
// there, also where no .gitignore of the project names the folder.
const IgnoreFile = ".gitignore"

// IgnoreText is what stands in it.
const IgnoreText = "*\n"

// MakeHome makes the daemon's folder, readable by its owner alone, and in it the file
// that keeps git away, before anything else is in it. The file survives a power cut.
// A file that a person changed stays as it is. MakeHome is harmless to repeat.
func MakeHome(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the daemon's folder: %w", err)
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

// writeIgnore writes the file in place: a crash leaves it empty at worst, since it has two
// bytes, and then the next call writes it again.
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

// IsIgnoreFile tells whether a file is the one that [MakeHome] makes, unchanged.
func IsIgnoreFile(path string) bool {
	data, err := os.ReadFile(path)
	return err == nil && filepath.Base(path) == IgnoreFile && (len(data) == 0 || bytes.Equal(data, []byte(IgnoreText)))
}
