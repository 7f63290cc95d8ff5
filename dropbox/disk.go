package dropbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// An Op is a kind of change to the disk.
type Op string

// The kinds of change that a store makes.
const (
	OpMkdir   Op = "mkdir"   // create the folder Name
	OpCreate  Op = "create"  // create the empty file Name; Name must not exist
	OpWrite   Op = "write"   // write the entire content of Name
	OpSync    Op = "sync"    // make the content of Name durable
	OpLink    Op = "link"    // give the file Name a second name To; To must not exist
	OpMove    Op = "move"    // rename Name to To; To must not exist
	OpReplace Op = "replace" // rename Name to To and replace an existing To
	OpRemove  Op = "remove"  // remove Name
	OpSyncDir Op = "syncdir" // make the name changes in the folder Name durable
)

// A Step is a change to the disk that a store is about to make. Names are relative to the
// store's folder and use slashes.
type Step struct {
	Op   Op
	Name string
	To   string // for link, move and replace
}

func (st Step) String() string {
	if st.To == "" {
		return string(st.Op) + " " + st.Name
	}
	return string(st.Op) + " " + st.Name + " " + st.To
}

// A disk makes all of a store's changes except those to the lock file, and opens the
// files that the store reads. Names are relative to top. It never follows a symlink: a
// path that contains one is an error (ELOOP or ENOTDIR).
//
// It makes the system calls directly: the first opens the folder that contains the name,
// and the second operates relative to that folder. [os.Root] would reopen every folder on
// the path, which would take a quarter of a delivery's time.
//
// If another program deletes the folder, the disk follows its path to the next store there;
// see [disk.followPath].
type disk struct {
	dir  string // the folder's absolute path
	top  *os.File
	fd   int // of top; it keeps its number when the disk follows the path
	step func(Step) error

	following sync.Mutex // held while fd changes to another folder
}

func openDisk(dir string, step func(Step) error) (*disk, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	top, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return &disk{dir: dir, top: top, fd: int(top.Fd()), step: step}, nil
}

func (d *disk) close() error { return d.top.Close() }

// ask calls Options.Step, if it is set, before a change is made.
func (d *disk) ask(op Op, name, to string) error {
	if d.step == nil {
		return nil
	}
	if err := d.step(Step{op, name, to}); err != nil {
		return pathError(string(op), name, err)
	}
	return nil
}

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func linkError(op, old, to string, err error) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: op, Old: old, New: to, Err: err}
}

// retryEINTR repeats the call to f until no signal interrupts it.
func retryEINTR(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

// folder opens a folder, to list it, to sync it, or to move files into it.
func (d *disk) folder(name string) (*os.File, error) {
	return d.openAt(name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
}

func (d *disk) openAt(name string, flags int, perm uint32) (*os.File, error) {
	fd, err := d.open(name, flags|unix.O_CLOEXEC|unix.O_NOFOLLOW, perm)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// open opens a name below the disk's folder.
func (d *disk) open(name string, flags int, perm uint32) (int, error) {
	fd, err := openBeneath(d.fd, name, flags, perm)
	if err == unix.ENOENT && d.followPath() {
		fd, err = openBeneath(d.fd, name, flags, perm)
	}
	return fd, err
}

// A nameAt is a name in an open folder. A call on it follows no symlink, even if the
// folder's path has changed in the meantime.
type nameAt struct {
	dirfd int
	base  string
	own   bool // nameAt opened the folder, so close must close it
}

// nameAt opens the folder that contains name. The caller closes it.
func (d *disk) nameAt(name string) (nameAt, error) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		d.followPath()
		return nameAt{dirfd: d.fd, base: name}, nil
	}
	fd, err := d.open(name[:i], pathOnly|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nameAt{}, pathError("open", name[:i], err)
	}
	return nameAt{fd, name[i+1:], true}, nil
}

// nameIn is nameAt for a folder that the caller has already opened.
func nameIn(folder *os.File, name string) nameAt {
	return nameAt{dirfd: int(folder.Fd()), base: path.Base(name)}
}

// sibling returns another name in the same folder. The caller does not need to close it.
func (sp nameAt) sibling(base string) nameAt { return nameAt{dirfd: sp.dirfd, base: base} }

func (sp nameAt) close() {
	if sp.own {
		unix.Close(sp.dirfd)
	}
}

// isFolder reports whether the name refers to a folder.
func (sp nameAt) isFolder() bool {
	var st unix.Stat_t
	err := retryEINTR(func() error { return unix.Fstatat(sp.dirfd, sp.base, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return err == nil && kindOf(st.Mode) == KindFolder
}

// stat returns the metadata of the file with the given name. It does not follow a
// symlink.
func (d *disk) stat(name string) (unix.Stat_t, error) {
	var st unix.Stat_t
	sp, err := d.nameAt(name)
	if err != nil {
		return st, err
	}
	defer sp.close()
	err = retryEINTR(func() error { return unix.Fstatat(sp.dirfd, sp.base, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return st, pathError("stat", name, err)
}

// readable reports whether permissions let this user read a file.
func (d *disk) readable(name string) bool {
	sp, err := d.nameAt(name)
	if err != nil {
		return false
	}
	defer sp.close()
	return !errors.Is(unix.Faccessat(sp.dirfd, sp.base, unix.R_OK, 0), fs.ErrPermission)
}

// exists reports whether a file or folder with the given name exists. If a folder on the
// path is missing, the name does not exist; any other problem on the path is an error.
func (d *disk) exists(name string) (bool, error) {
	_, err := d.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// eachName calls yield with each name in a folder, in any order, until yield returns
// false.
func (d *disk) eachName(folder string, yield func(string) bool) error {
	f, err := d.folder(folder)
	if err != nil {
		return ignoreMissing(err)
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(512)
		for _, name := range names {
			if !yield(name) {
				return nil
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// names lists the names in a folder. A folder that is missing, or that is deleted while it
// is listed, is treated as empty. See [namesIn]
// for whether the list is a consistent snapshot of the folder.
func (d *disk) names(folder string) ([]string, error) {
	f, err := d.folder(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := namesIn(f)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return list, err
}

// openStepwise opens name below a folder. It opens one folder after another and follows
// no symlink. Names contain no empty part and no "..", because they consist of constants,
// checked names, hashes and names from a listing.
func openStepwise(dirfd int, name string, flags int, perm uint32) (int, error) {
	at := dirfd
	for {
		part, rest, more := strings.Cut(name, "/")
		partFlags, partPerm := flags, perm
		if more {
			partFlags, partPerm = unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0
		}
		var fd int
		err := retryEINTR(func() (err error) {
			fd, err = unix.Openat(at, part, partFlags, partPerm)
			return err
		})
		if at != dirfd {
			unix.Close(at)
		}
		if err != nil || !more {
			return fd, err
		}
		at, name = fd, rest
	}
}
