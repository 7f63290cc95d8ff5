package durable

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Files writes files. The zero value is ready to use. A Files is safe for concurrent use.
// After two concurrent writes of the same file, the file has the content of one of them.
type Files struct {
	// Step, if set, is called before each change on disk for which there is an [Op], in the
	// order of the changes. If it returns an error, the change is not made and the writer
	// returns that error.
	Step func(Step) error
	// Sync makes a file or a folder durable. nil means [os.File.Sync].
	Sync func(*os.File) error
}

// An Op is one kind of change on disk.
type Op string

// The changes, in the order in which a write makes them.
const (
	Create  Op = "create"   // the temporary file is created; for an append, the file itself
	Fill    Op = "fill"     // the temporary file gets the content; for an append, the file gets the line
	Sync    Op = "sync"     // the temporary file is synced; for an append, the file itself
	Rename  Op = "rename"   // the temporary file is renamed to the file's name
	Link    Op = "link"     // used instead of Rename if an existing file must not be replaced
	Remove  Op = "remove"   // the temporary file is removed, after a link or a failure
	SyncDir Op = "sync dir" // the folder is synced; for an append, before the first line
)

// A Step is one change that a write is about to make.
type Step struct {
	Op   Op
	Path string // the path of the file that is being written, even if the change affects its temporary file or its folder
}

// Options determines how a file is written. With the zero value, the file is replaced
// durably, and only its owner may read it.
type Options struct {
	Perm     fs.FileMode // 0 means 0600; the umask applies only to an append
	Time     time.Time   // the modification time of the file; zero means now
	Temp     string      // the name of the temporary file; "" means a unique name, which concurrent writes need
	Keep     bool        // an existing file is not replaced, and the error is fs.ErrExist
	Volatile bool        // a power failure may undo the write
}

// Write replaces the content of the file at path with the given parts, in order.
func (f Files) Write(path string, o Options, parts ...[]byte) error {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return f.write(dir, path, o, parts)
}

// WriteIn is like Write, but for a file below root. It does not follow symbolic links out
// of root.
func (f Files) WriteIn(root *os.Root, name string, o Options, parts ...[]byte) error {
	dir, err := root.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	return f.write(dir, name, o, parts)
}

// write writes a file in the folder dir. The last part of path is the file's name.
func (f Files) write(dir *os.Root, path string, o Options, parts [][]byte) error {
	w := writer{Files: f, dir: dir, path: path, name: filepath.Base(path), temp: o.Temp}
	if w.temp == "" {
		w.temp = "." + w.name + "." + rand.Text()
	} else {
		_ = dir.Remove(w.temp) // a crash may have left it behind; if the removal fails, so does the create
	}
	if err := w.fill(o, parts); err != nil {
		return errors.Join(err, w.drop())
	}
	if err := w.give(o.Keep); err != nil {
		return errors.Join(err, w.drop())
	}
	if o.Volatile {
		return nil
	}
	return f.syncDir(dir, path)
}

// SyncDir makes earlier renames in a folder durable.
func (f Files) SyncDir(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return f.syncDir(root, dir)
}

// A writer writes one file.
type writer struct {
	Files
	dir              *os.Root
	path, name, temp string
	made             bool // whether the temporary file exists
}

// step makes a change unless Step refuses it.
func (f Files) step(op Op, path string, change func() error) error {
	if f.Step != nil {
		if err := f.Step(Step{op, path}); err != nil {
			return err
		}
	}
	return change()
}

func (f Files) sync(file *os.File) error {
	if f.Sync == nil {
		return file.Sync()
	}
	return f.Sync(file)
}

func (f Files) syncDir(dir *os.Root, path string) error {
	return f.step(SyncDir, path, func() error {
		d, err := dir.Open(".")
		if err != nil {
			return err
		}
		return errors.Join(f.sync(d), d.Close())
	})
}

// fill creates the temporary file and writes its content.
func (w *writer) fill(o Options, parts [][]byte) error {
	var file *os.File
	if err := w.step(Create, w.path, func() (err error) {
		file, err = w.dir.OpenFile(w.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm(o))
		w.made = err == nil
		return err
	}); err != nil {
		return err
	}
	err := w.step(Fill, w.path, func() error {
		for _, part := range parts {
			if _, err := file.Write(part); err != nil {
				return err
			}
		}
		return file.Chmod(perm(o)) // the umask may have removed permissions
	})
	if err == nil && !o.Volatile {
		err = w.step(Sync, w.path, func() error { return w.sync(file) })
	}
	if err = errors.Join(err, file.Close()); err != nil || o.Time.IsZero() {
		return err
	}
	return w.dir.Chtimes(w.temp, o.Time, o.Time)
}

// give renames or links the temporary file to its final name.
func (w *writer) give(keep bool) error {
	if !keep {
		return w.step(Rename, w.path, w.rename)
	}
	err := w.step(Link, w.path, func() error { return w.dir.Link(w.temp, w.name) })
	if _, failed := errors.AsType[*os.LinkError](err); failed && !errors.Is(err, fs.ErrExist) {
		// Some file systems have no hard links. Another program could create the file
		// between the check and the rename, but package os has no function that does both
		// in one step.
		if _, there := w.dir.Lstat(w.name); errors.Is(there, fs.ErrNotExist) {
			return w.step(Rename, w.path, w.rename)
		}
	}
	if err != nil {
		return err
	}
	return w.drop()
}

func (w *writer) rename() error {
	err := w.dir.Rename(w.temp, w.name)
	w.made = w.made && err != nil
	return err
}

// drop removes the temporary file if it exists.
func (w *writer) drop() error {
	if !w.made {
		return nil
	}
	w.made = false // do not retry a failed removal
	return w.step(Remove, w.path, func() error { return w.dir.Remove(w.temp) })
}
