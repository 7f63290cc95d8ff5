package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Append appends a line to the file at path, and creates the file if it is missing. line
// must not contain a newline. If the file ends with a partial line that a crash or a full
// disk left behind, that part becomes a separate line. Of the options, only Perm (reduced
// by the umask) and Volatile apply. The folder is synced once, before the first line, even
// if that line is Volatile.
//
// After an error, the file may contain the whole line or part of it. Concurrent callers
// that append to the same file need a lock.
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
		// Sync the folder before writing the first line. The folder of any file that
		// contains a line is then durable, and if this call fails or the process is
		// killed here, the next call syncs the folder.
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

// end returns the size of a file in bytes, and whether its last line lacks a newline.
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
