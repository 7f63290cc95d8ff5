package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Append adds a line to the file at path, and creates the file if it is missing. line
// must not contain a newline. If the file ends with a partial line, left by a crash or a
// full disk, that part becomes a separate line. Of the options, only Perm, reduced by the
// umask, and Volatile apply. The folder is synced once, before the first line, even if that
// line is Volatile.
//
// An error may leave the whole line or a part of it in the file. Concurrent callers for one
// file need a lock.
func (f Files) Append(path string, o Options, line []byte) (err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		err = f.step(Create, path, func() (err error) {
			file, err = os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, perm(o))
			return err
		})
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	size, torn, err := end(file)
	if err != nil {
		return err
	}
	if size == 0 {
		// Sync the folder before the first line: then the folder of any file with a line is
		// durable, and a call that fails or is killed here leaves the sync to the next call.
		if err := f.SyncDir(filepath.Dir(path)); err != nil {
			return err
		}
	}
	if torn {
		line = append([]byte{'\n'}, line...)
	}
	err = f.step(Fill, path, func() error {
		_, err := file.Write(append(line[:len(line):len(line)], '\n'))
		return err
	})
	if err != nil || o.Volatile {
		return err
	}
	return f.step(Sync, path, func() error { return f.sync(file) })
}

// end returns the size of a file, in bytes, and whether its last line lacks a newline.
func end(file *os.File) (size int64, torn bool, err error) {
	size, err = file.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return 0, false, err
	}
	last := make([]byte, 1)
	_, err = file.ReadAt(last, size-1)
	return size, last[0] != '\n', err
}

// perm returns the permissions of a new file.
func perm(o Options) fs.FileMode {
	if o.Perm == 0 {
		return 0o600
	}
	return o.Perm
}
