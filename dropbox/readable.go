package dropbox

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// readFile reads an entire regular file of at most limit bytes. For any other kind of
// file, the error is an [*InvalidError]; for a larger file, it is a [*TooLargeError].
func (d *disk) readFile(name string, limit int64) ([]byte, error) {
	f, err := d.openRead(name)
	if isOdd(err) && !errors.Is(err, fs.ErrPermission) && d.isFolder(path.Dir(name)) == nil {
		err = cannotOpen(err) // the file itself cannot be opened, but its path is valid
	}
	if err != nil {
		return nil, err
	}
	defer f.close()
	return f.read(limit)
}

// A readable is a file that is open for a single read. It is a plain descriptor, because
// [os.File] would first try to register it with the runtime's poller.
type readable struct {
	fd   int
	name string
	st   unix.Stat_t
}

// readFlags are the flags for opening a file for reading. With them, an open follows no
// symlink and does not wait for the other end of a fifo.
const readFlags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOFOLLOW

// openRead opens a file of any kind. It does not wait for the other end of a fifo.
func (d *disk) openRead(name string) (readable, error) {
	fd, err := d.open(name, readFlags, 0)
	if err != nil {
		return readable{}, pathError("open", name, err)
	}
	f := readable{fd: fd, name: name}
	if err := retryEINTR(func() error { return unix.Fstat(fd, &f.st) }); err != nil {
		f.close()
		return readable{}, pathError("stat", name, err)
	}
	return f, nil
}

func (f *readable) close() { unix.Close(f.fd) }

func (f *readable) read(limit int64) ([]byte, error) {
	if k := kindOf(f.st.Mode); k != KindFile {
		return nil, invalid("not a file but a %s", k)
	}
	if f.st.Size > limit {
		return nil, &TooLargeError{What: "file", Size: f.st.Size, Max: limit}
	}
	data := make([]byte, f.st.Size)
	for n := 0; n < len(data); {
		m, err := unix.Read(f.fd, data[n:])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, pathError("read", f.name, err)
		case m == 0:
			return data[:n], nil
		default:
			n += m
		}
	}
	return data, nil
}

// A Kind is the kind of file that a name refers to.
type Kind string

// The kinds of files.
const (
	KindFile       Kind = "file"
	KindUnreadable Kind = "unreadable file"
	KindSymlink    Kind = "symlink"
	KindFolder     Kind = "folder"
	KindFifo       Kind = "fifo"
	KindSocket     Kind = "socket"
	KindDevice     Kind = "device"
)

// kindOf returns the kind for a mode from the kernel, which is a uint32 on Linux and a
// uint16 on macOS.
func kindOf[M uint16 | uint32](mode M) Kind {
	switch uint32(mode) & unix.S_IFMT {
	case unix.S_IFREG:
		return KindFile
	case unix.S_IFLNK:
		return KindSymlink
	case unix.S_IFDIR:
		return KindFolder
	case unix.S_IFIFO:
		return KindFifo
	case unix.S_IFSOCK:
		return KindSocket
	}
	return KindDevice
}

// isOdd reports whether opening a file failed permanently because of the file itself,
// such as its kind or permissions, and not because of a temporary problem with the disk
// or the process.
func isOdd(err error) bool {
	return slices.ContainsFunc([]error{
		fs.ErrPermission, unix.ELOOP, unix.ENXIO, unix.ENODEV, unix.EISDIR, unix.ENOTDIR, unix.EOPNOTSUPP, unix.ETXTBSY, unix.EOVERFLOW,
	}, func(e error) bool { return errors.Is(err, e) })
}

// cannotOpen turns permanent causes of a failed open into errors about the file.
func cannotOpen(err error) error {
	switch {
	case errors.Is(err, unix.ELOOP):
		return invalid("not a file but a %s", KindSymlink)
	case errors.Is(err, fs.ErrPermission):
		return invalid("the file cannot be read: %v", err)
	case errors.Is(err, unix.ENXIO):
		return invalid("not a file but a %s", KindSocket)
	}
	return invalid("the file cannot be opened: %v", err)
}

func modTime(st *unix.Stat_t) time.Time { return time.Unix(st.Mtim.Unix()).UTC() }

func changeTime(st *unix.Stat_t) time.Time { return time.Unix(st.Ctim.Unix()).UTC() }
