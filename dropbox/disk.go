package dropbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"
)

// An Op is a kind of change on disk.
type Op string

// The changes that a store makes.
const (
	OpMkdir   Op = "mkdir"   // make the folder Name
	OpCreate  Op = "create"  // make the empty file Name, which was not there
	OpWrite   Op = "write"   // write all bytes of Name
	OpSync    Op = "sync"    // make the bytes of Name durable
	OpLink    Op = "link"    // call Name also To, which was not there
	OpMove    Op = "move"    // call Name now To, which was not there
	OpReplace Op = "replace" // call Name now To, in place of what was there
	OpRemove  Op = "remove"  // remove Name
	OpSyncDir Op = "syncdir" // make the names in the folder Name durable
)

// A Step is one change on disk that a store is about to make. Names are relative
// to the store's folder, with slashes.
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

// A disk makes all the changes of a store, and opens what a store reads. Names are
// relative to top, and no part of them is ever followed if it is a symlink: a path
// that leads through one is an error (ELOOP, or ENOTDIR).
//
// It speaks to the kernel in single calls relative to one open folder. [os.Root]
// opens every folder on the way anew; that costs a quarter of a delivery. It is
// used, as root, where speed is no matter.
type disk struct {
	root *os.Root
	top  *os.File
	fd   int // of top
	step func(Step) error
}

func openDisk(dir string, step func(Step) error) (*disk, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	top, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &disk{root: root, top: top, fd: int(top.Fd()), step: step}, nil
}

func (d *disk) close() error { return errors.Join(d.top.Close(), d.root.Close()) }

// ask puts a change to Options.Step, if there is one.
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

// again calls f until no signal interrupts it.
func again(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

// folder opens a folder, to list it, to sync it, or to move things into it.
func (d *disk) folder(name string) (*os.File, error) {
	return d.openAt(name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
}

func (d *disk) openAt(name string, flags int, perm uint32) (*os.File, error) {
	fd, err := openBeneath(d.fd, name, flags|unix.O_CLOEXEC|unix.O_NOFOLLOW, perm)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// stat looks at a name without following it.
func (d *disk) stat(name string) (unix.Stat_t, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return st, pathError("stat", name, err)
}

// exists says whether a name is there. Trouble on the way there counts as absent
// only where it says so: a folder that is missing.
func (d *disk) exists(name string) (bool, error) {
	_, err := d.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// names lists a folder by names alone; a folder that is not there is empty.
func (d *disk) names(folder string) ([]string, error) {
	f, err := d.folder(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// mkdir makes a folder; it is no error if one is there already.
func (d *disk) mkdir(name string) error {
	if err := d.ask(OpMkdir, name, ""); err != nil {
		return err
	}
	err := unix.Mkdirat(d.fd, name, 0o700)
	if err == unix.EEXIST {
		st, statErr := d.stat(name)
		if statErr == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
			return nil
		}
		return pathError("mkdir", name, unix.ENOTDIR)
	}
	return pathError("mkdir", name, err)
}

// write makes a new file with these bytes, durable but for its name. After an
// error there is no file.
func (d *disk) write(name string, data []byte) (err error) {
	if err := d.ask(OpCreate, name, ""); err != nil {
		return err
	}
	f, err := d.openAt(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			err = errors.Join(err, ignoreMissing(d.remove(name)))
		}
	}()
	if err := d.ask(OpWrite, name, ""); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := d.ask(OpSync, name, ""); err != nil {
		return err
	}
	return f.Sync()
}

// move renames a file and never replaces another: then the error is fs.ErrExist.
// Of several callers that move one file, one alone succeeds; for the others it is
// gone, fs.ErrNotExist.
func (d *disk) move(name, to string) error {
	if err := d.isFolder(path.Dir(to)); err != nil {
		return err
	}
	return d.moveInto(name, to)
}

// moveInto is move for callers that hold the folder of to open, and so know that it
// is a folder.
func (d *disk) moveInto(name, to string) error {
	err := d.ask(OpMove, name, to)
	if err == nil {
		err = linkError("rename", name, to, again(func() error { return renameNew(d.fd, name, to) }))
	}
	if !unsupported(err) {
		return err
	}
	// An old kernel, or a file system of the network. A link and a remove would
	// refuse to replace, but two callers could both link, with a claim between
	// them, and the message would be there twice. Names carry 50 random bits, so
	// to look first is the smaller risk.
	if _, err := d.stat(to); err == nil {
		return linkError("rename", name, to, unix.EEXIST)
	}
	return d.replace(name, to)
}

// replace renames a file over another, or to a name that is free.
func (d *disk) replace(name, to string) error {
	if err := d.isFolder(path.Dir(to)); err != nil {
		return err
	}
	if err := d.ask(OpReplace, name, to); err != nil {
		return err
	}
	err := again(func() error { return renameNew(d.fd, name, to) })
	if err == unix.EEXIST {
		// A rename between two names of one file does nothing, and both stay: a power
		// cut may have left them.
		if same, err := d.sameFile(name, to); err != nil {
			return err
		} else if same {
			return d.remove(name)
		}
	}
	if err == unix.EEXIST || unsupported(err) {
		err = again(func() error { return unix.Renameat(d.fd, name, d.fd, to) })
	}
	return linkError("rename", name, to, err)
}

// isFile says whether a name stands for that file.
func (d *disk) isFile(name string, ino uint64) (bool, error) {
	st, err := d.stat(name)
	if err != nil {
		return false, ignoreMissing(err)
	}
	return st.Ino == ino, nil
}

// sameFile says whether two names are there and stand for one file.
func (d *disk) sameFile(a, b string) (bool, error) {
	one, err := d.stat(a)
	if err != nil {
		return false, ignoreMissing(err)
	}
	other, err := d.stat(b)
	if err != nil {
		return false, ignoreMissing(err)
	}
	return one.Ino == other.Ino && one.Dev == other.Dev, nil
}

// isFolder refuses a symlink where a folder should be: a rename would go through.
func (d *disk) isFolder(name string) error {
	f, err := d.folder(name)
	if err != nil {
		return err
	}
	return f.Close()
}

// link gives a file a second name, or, on a file system that cannot, puts a copy
// with the same bytes there. Either way it is all there or not at all, and never
// replaces another.
func (d *disk) link(name, to string, data []byte) error {
	err := d.ask(OpLink, name, to)
	if err == nil {
		err = linkError("link", name, to, again(func() error { return unix.Linkat(d.fd, name, d.fd, to, 0) }))
	}
	if !unsupported(err) {
		return err
	}
	scratch := path.Join(path.Dir(name), "copy-"+NewID())
	if err := d.write(scratch, data); err != nil {
		return err
	}
	err = d.ask(OpMove, scratch, to)
	if err == nil {
		err = linkError("rename", scratch, to, again(func() error { return renameNew(d.fd, scratch, to) }))
	}
	if err == nil {
		return nil
	}
	if unsupported(err) {
		err = fmt.Errorf("%w: %w", ErrFileSystem, err)
	}
	return errors.Join(err, d.remove(scratch))
}

// unsupported says whether an error means that this disk never does such a thing.
func unsupported(err error) bool {
	if err == nil {
		return false
	}
	return slices.ContainsFunc([]error{unix.EPERM, unix.EOPNOTSUPP, unix.ENOSYS, unix.EINVAL, unix.EMLINK},
		func(e error) bool { return errors.Is(err, e) })
}

func (d *disk) remove(name string) error {
	if err := d.ask(OpRemove, name, ""); err != nil {
		return err
	}
	return pathError("remove", name, again(func() error { return unix.Unlinkat(d.fd, name, 0) }))
}

// removeFolder removes a folder that is empty.
func (d *disk) removeFolder(name string) error {
	if err := d.ask(OpRemove, name, ""); err != nil {
		return err
	}
	return pathError("remove", name, again(func() error { return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR) }))
}

// syncFolder makes the names in an open folder durable.
func (d *disk) syncFolder(f *os.File) error {
	if err := d.ask(OpSyncDir, f.Name(), ""); err != nil {
		return err
	}
	return f.Sync()
}

// syncDir is syncFolder for a folder that is not open.
func (d *disk) syncDir(name string) error {
	f, err := d.folder(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return d.syncFolder(f)
}

// syncLeft makes it durable that something went away from these folders. A disk may
// keep that apart from where it went to, which must be durable first. A folder that
// somebody deleted has nothing left in it.
func (d *disk) syncLeft(names ...string) error {
	for _, name := range names {
		if err := ignoreMissing(d.syncDir(name)); err != nil {
			return err
		}
	}
	return nil
}

// put makes a small file durable under a name, through scratch in the same file
// system. If one is there already it stays, and that is no error.
func (d *disk) put(scratch, name string, data []byte) error {
	if there, err := d.exists(name); there || err != nil {
		return errors.Join(err, d.syncDir(path.Dir(name)))
	}
	if err := d.write(scratch, data); err != nil {
		return err
	}
	if err := d.move(scratch, name); err != nil {
		err = errors.Join(err, ignoreMissing(d.remove(scratch)))
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return d.syncDir(path.Dir(name))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
