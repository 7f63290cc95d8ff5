package dropbox

import (
	"errors"
	"io/fs"
	"strings"
	"time"
)

// A Folder contains small durable files in a mailbox, beside the message folders.
type Folder struct {
	box  *Mailbox
	name string
}

// Folder returns the folder with the given name in the mailbox. It does not create the
// folder; see [Folder.Make].
func (b *Mailbox) Folder(name string) Folder { return Folder{b, name} }

func (f Folder) path() string { return f.box.dir(f.name) }

// file returns the path of a file in the folder.
func (f Folder) file(name string) (string, error) {
	if name == "" || strings.HasPrefix(name, ".") || strings.Contains(name, "/") {
		return "", &fs.PathError{Op: "open", Path: f.path() + "/" + name, Err: fs.ErrInvalid}
	}
	return f.path() + "/" + name, nil
}

// Make durably creates the folder. It is safe to call Make again. Like a day's folder in
// done/, an existing folder is synced once by each Store.
func (f Folder) Make() error {
	there, err := f.box.disk.exists(f.path())
	if err != nil {
		return err
	}
	if _, ok := f.box.store.days.Load(f.path()); there && ok {
		return nil
	}
	if err := f.box.disk.mkdir(f.path()); err != nil {
		return err
	}
	if err := f.box.disk.syncDir(f.box.name); err != nil {
		return err
	}
	f.box.store.days.Store(f.path(), "")
	return nil
}

// Names lists the files in any order. A missing folder is treated as empty.
func (f Folder) Names() ([]string, error) { return f.box.disk.names(f.path()) }

// Read reads a file of at most limit bytes. The error is [fs.ErrNotExist] if the file does
// not exist, an [*InvalidError] if it is not a regular file, and a [*TooLargeError] if it
// exceeds the limit.
func (f Folder) Read(name string, limit int64) ([]byte, error) {
	path, err := f.file(name)
	if err != nil {
		return nil, err
	}
	return f.box.disk.readFile(path, limit)
}

// ModTime returns the time in UTC when a file was last written.
func (f Folder) ModTime(name string) (time.Time, error) {
	path, err := f.file(name)
	if err != nil {
		return time.Time{}, err
	}
	st, err := f.box.disk.stat(path)
	return modTime(&st), err
}

// Add durably creates a new file. After an error the file is either missing or complete.
// If several callers add a file with the same name, one succeeds and the others get
// [fs.ErrExist].
func (f Folder) Add(name string, data []byte) error { return f.write(name, data, f.box.disk.move) }

// Replace is like Add, but replaces an existing file with that name.
func (f Folder) Replace(name string, data []byte) error {
	return f.write(name, data, f.box.disk.replace)
}

func (f Folder) write(name string, data []byte, put func(from, to string) error) error {
	path, err := f.file(name)
	if err != nil {
		return err
	}
	scratch := f.box.at(tmpFolder, f.name+"-"+NewID())
	if err := f.box.disk.write(scratch, data); err != nil {
		return err
	}
	if err := put(scratch, path); err != nil {
		return errors.Join(err, ignoreMissing(f.box.disk.remove(scratch)))
	}
	return f.box.disk.syncDir(f.path())
}

// Sync makes the changes from earlier calls durable, even if those calls were
// interrupted.
func (f Folder) Sync() error { return f.box.disk.syncDir(f.path()) }

// Remove durably removes files. A missing file is not an error.
func (f Folder) Remove(names ...string) error {
	for _, name := range names {
		path, err := f.file(name)
		if err == nil {
			err = ignoreMissing(f.box.disk.remove(path))
		}
		if err != nil {
			return err
		}
	}
	return f.box.disk.syncDir(f.path())
}
