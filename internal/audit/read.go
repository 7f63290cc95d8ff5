package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// maxFile is the maximum size of a file, in bytes. Git hosting services refuse files of
// more than 100 MB.
const maxFile = 64 << 20

// hidden reports whether a file is left out because of its name. Such files are the
// temporary files of editors and of the store, and files whose names git or a checkout
// could mistake for .git. If git refused even one name, no other file could be recorded.
func hidden(name string) bool {
	if name == "" || name[0] == '.' {
		return true
	}
	for part := range strings.SplitSeq(name, `\`) { // the path separator on Windows
		part = strings.ToLower(strings.Map(func(r rune) rune {
			switch { // characters that HFS+ ignores in names
			case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
				return -1
			}
			return r
		}, part))
		if strings.HasPrefix(part, ".git") || strings.HasPrefix(part, "git~") || part == "." || part == ".." {
			return true
		}
	}
	return false
}

// list lists a folder. A missing folder, or a file in its place, counts as empty.
func list(root *os.Root, name string) ([]fs.DirEntry, error) {
	// A root does not open links that lead out of it. Do not follow links that stay
	// inside it either.
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && !info.IsDir() {
		return nil, nil
	}
	var f *os.File
	if err == nil {
		f, err = root.Open(name)
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", name, err)
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", name, err)
	}
	return entries, nil
}

// read reads a regular file. ok is false if the file is missing, cannot be read, or contains
// a secret, so that one file cannot prevent all others from being recorded. read warns once
// about a file that it cannot read, and adds a file with a secret to a.secrets.
func (a *Audit) read(root *os.Root, name string) (data []byte, info fs.FileInfo, ok bool) {
	data, info, err := readFile(root, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.warn(name, err)
	}
	if err == nil && a.isSecret(data) {
		a.secrets = append(a.secrets, name)
		return nil, nil, false
	}
	return data, info, err == nil
}

// isSecret reports whether data contains a secret.
func (a *Audit) isSecret(data []byte) bool {
	return a.hidden != nil && !bytes.Equal(a.hidden.Hidden(data), data)
}

func readFile(root *os.Root, name string) ([]byte, fs.FileInfo, error) {
	f, info, err := openFile(root, name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	return data, info, err
}

// readable reports whether read will succeed. Without this check, a file that can never be
// read would cause an empty commit each time the daemon starts.
func (a *Audit) readable(root *os.Root, name string) bool {
	if a.hidden != nil {
		_, _, ok := a.read(root, name)
		return ok
	}
	f, _, err := openFile(root, name)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.warn(name, err)
	}
	return err == nil
}

var errNotRegular = errors.New("not a regular file")

// openFile opens a regular file that is not too large.
func openFile(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	} else if !info.Mode().IsRegular() {
		return nil, nil, errNotRegular
	}
	// Without O_NONBLOCK, the open would block forever if a named pipe replaced the file
	// at this moment.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err = f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errNotRegular
	case info.Size() > maxFile:
		err = fmt.Errorf("%d bytes exceed the limit of %d", info.Size(), maxFile)
	default:
		return f, info, nil
	}
	return nil, nil, errors.Join(err, f.Close())
}

func (a *Audit) warn(name string, err error) {
	if !a.warned[name] {
		a.warned[name] = true
		a.log.Warn("file could not be audited", "file", name, "err", err)
	}
}
