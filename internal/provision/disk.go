package provision

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// A disk changes files and folders. If step is set, it is called before each change.
type disk struct {
	step func(what string) error
}

// asks calls step before a change, if step is set.
func (d disk) asks(what string) error {
	if d.step == nil {
		return nil
	}
	return d.step(what)
}

// write writes the data to a temporary file and then renames it to path, so that readers
// never see a partial file. Unless replace is set, an existing file is not replaced and
// the error is [fs.ErrExist]. If the time is not zero, it becomes the file's modification
// time.
func (d disk) write(path string, data []byte, mode fs.FileMode, at time.Time, replace bool) error {
	tmp := tempPath(path)
	files := durable.Files{Step: func(st durable.Step) error {
		switch st.Op {
		case durable.Create:
			return d.asks("write " + tmp)
		case durable.Rename, durable.Link:
			return d.asks("write " + path)
		case durable.Remove:
			return d.asks("remove " + tmp)
		}
		return nil
	}}
	return files.Write(path, durable.Options{Perm: mode, Time: at, Temp: filepath.Base(tmp), Keep: !replace}, data)
}

// replace replaces the content of a foreign file.
func (d disk) replace(path string, was fs.FileInfo, text []byte, at time.Time) error {
	if st, ok := was.Sys().(*syscall.Stat_t); ok && (int(st.Uid) != os.Geteuid() || st.Nlink > 1) {
		// A new file would have a different owner or lose the other hard links.
		return d.overwrite(path, text, at)
	}
	return d.write(path, text, was.Mode().Perm(), at, true)
}

func (d disk) overwrite(path string, text []byte, at time.Time) error {
	if err := d.asks("write " + path); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = out.WriteAt(text, 0)
	if err == nil {
		err = out.Truncate(int64(len(text)))
	}
	if err = errors.Join(err, out.Close()); err == nil && !at.IsZero() {
		err = os.Chtimes(path, at, at)
	}
	return err
}

// makeFolder creates a folder unless it exists.
func (d disk) makeFolder(path string, mode fs.FileMode) error {
	if err := d.asks("make " + path); err != nil {
		return err
	}
	if err := os.Mkdir(path, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// remove removes a file if it exists.
func (d disk) remove(path string) error {
	if err := d.asks("remove " + path); err != nil {
		return err
	}
	return ignoreMissing(os.Remove(path))
}

// tempPath returns the path of the temporary file for the file at path.
func tempPath(path string) string {
	dir, name := filepath.Split(path)
	return filepath.Join(dir, "."+name+".claude-swarm-new")
}

// followLinks resolves the symbolic links in a path. If the path does not exist, it returns
// the path unchanged.
func followLinks(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

// ignoreMissing returns err, or nil if err means that a file does not exist.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// exists reports whether a path exists.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// count counts the files below a path.
func count(path string) (n int, err error) {
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return ignoreMissing(err)
	})
	return n, err
}

// removeEmpty removes a folder that contains no files, together with the folders in it. If
// it contains a file, even one that has just been created, removeEmpty fails and the file
// remains.
func removeEmpty(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := removeEmpty(filepath.Join(path, e.Name())); err != nil {
				return err
			}
		}
	}
	return ignoreMissing(os.Remove(path))
}
