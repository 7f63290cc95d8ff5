package dropbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options configures a Store. The zero value is ready to use.
type Options struct {
	MaxBody       int64 // maximum size of a body, in bytes; 0 means 8 KiB
	MaxAttachment int64 // maximum size of an attachment or dropped file, in bytes; 0 means 10 MiB
	MaxWaiting    int   // maximum number of waiting messages in a mailbox; 0 means 10,000
	MaxHops       int   // how many times programs may pass a message on; 0 means [MaxHops], a negative number means no limit

	// Now returns the time; nil means time.Now.
	Now func() time.Time

	// Step, if set, is called before every change that the store makes to the disk, except
	// changes to the lock file. It is called in the caller's goroutine. If Step returns an
	// error, the store does not make the change and continues as if the disk had refused it.
	// A program can use Step to record changes, keep a store read-only, or simulate a full
	// disk.
	Step func(Step) error
}

// A Store is a folder of mailboxes. It is safe for concurrent use, and several processes
// can use the same folder.
type Store struct {
	dir     string
	disk    *disk
	opts    Options
	last    atomic.Int64                // the newest time that stamp returned, in microseconds
	days    sync.Map                    // the folders of this Store that are known to be durable; for done/, only the newest
	tooMany sync.Map                    // for each mailbox; see [fullMark.excess]
	leases  sync.Once                   // guards leased
	leased  bool                        // see hasLeases
	locked  atomic.Pointer[fs.FileInfo] // the file that Lock locked most recently; nil if there is none
}

// The folders of a mailbox.
const (
	tmpFolder  = "tmp"
	newFolder  = "new"
	curFolder  = "cur"
	doneFolder = "done"
	deadFolder = "dead"
	keysFolder = "keys"
	workFolder = "work"
)

// mailboxFolders lists the folders in the order in which they are created. work/ is the
// last; see [makeMailbox].
var mailboxFolders = []string{tmpFolder, newFolder, curFolder, doneFolder, deadFolder, keysFolder, workFolder}

// Files and folders of the store itself.
const (
	versionFile = "version"
	lockFile    = ".lock"
	haltFile    = "HALT"
	fullFile    = "FULL"
	boardDir    = "board"
	refusedDir  = "refused"
	topicsDir   = "topics"
)

// scratchPrefix is the name prefix of incomplete files outside the mailboxes.
const scratchPrefix = ".scratch-"

// haltedDir contains a file for every halted conversation.
const haltedDir = "halted"

// Create creates the folder dir and the initial content of a store: version, .gitignore,
// board/, attach/, refused/ and the lead's mailbox. It does not change existing files, so
// it is safe to call again. The error is [ErrVersion] if dir is a store with an unknown
// version.
func Create(dir string) error {
	return create(dir, func() error { return os.MkdirAll(dir, 0o700) })
}

// Recreate is like Create, but the folder in which dir lies must exist. A program that
// repairs a store uses it, because a project that is moved at that moment must not appear
// again at its old path.
func Recreate(dir string) error {
	return create(dir, func() error {
		if err := os.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	})
}

// Refill is like Create, but dir itself must exist. A program that recreates files which were
// deleted from a store uses it, because a store that is moved at that moment must not appear
// again at its old path: then it could not be put back.
func Refill(dir string) error { return create(dir, func() error { return nil }) }

func create(dir string, mkdir func() error) error {
	err := mkdir()
	if err == nil {
		err = fill(dir)
	}
	if err != nil {
		return fmt.Errorf("create mailboxes in %s: %w", dir, err)
	}
	return nil
}

// fill creates the content of a store.
func fill(dir string) error {
	d, err := openDisk(dir, nil)
	if err != nil {
		return err
	}
	defer d.close()
	if err := checkVersion(d); err != nil && !errors.Is(err, ErrNoStore) {
		return err
	}
	for _, folder := range []string{boardDir, boardDir + "/handoff", attachDir, refusedDir} {
		if err := d.mkdir(folder); err != nil {
			return err
		}
	}
	if err := makeMailbox(d, Lead); err != nil {
		return err
	}
	if err := d.put(scratchPrefix+NewID(), ignoreFile, []byte(ignored)); err != nil {
		return err
	}
	// Write the version file last, because without it the folder is not a store.
	return d.put(scratchPrefix+NewID(), versionFile, []byte(strconv.Itoa(Version)+"\n"))
}

// Open opens the store in dir. The caller must close it. The error is [ErrNoStore] or
// [ErrVersion] if dir does not contain a store that this program can use.
func Open(dir string, o Options) (*Store, error) {
	s, err := open(dir, o)
	if err != nil {
		return nil, fmt.Errorf("open mailboxes in %s: %w", dir, err)
	}
	return s, nil
}

func open(dir string, o Options) (*Store, error) {
	if o.MaxBody == 0 {
		o.MaxBody = 8 << 10
	}
	if o.MaxAttachment == 0 {
		o.MaxAttachment = 10 << 20
	}
	if o.MaxWaiting == 0 {
		o.MaxWaiting = 10_000
	}
	if o.MaxHops == 0 {
		o.MaxHops = MaxHops
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	d, err := openDisk(dir, o.Step)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoStore
	} else if err != nil {
		return nil, err
	}
	if err := checkVersion(d); err != nil {
		d.close()
		return nil, err
	}
	return &Store{dir: dir, disk: d, opts: o}, nil
}

func checkVersion(d *disk) error {
	data, err := d.readFile(versionFile, 64)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoStore
	} else if err != nil {
		return err
	}
	text := strings.TrimSpace(string(data))
	if n, err := strconv.Atoi(text); err != nil || n < 1 || n > Version {
		return fmt.Errorf("%w: %q", ErrVersion, text)
	}
	return nil
}

// Close closes the open files of the store. No messages are lost.
func (s *Store) Close() error { return s.disk.close() }

// Dir returns the absolute path of the store's folder.
func (s *Store) Dir() string { return s.dir }

// Now returns the store's time; see [Options].
func (s *Store) Now() time.Time { return s.opts.Now() }

// MaxBody returns the maximum size of a message body, in bytes; see [Options].
func (s *Store) MaxBody() int64 { return s.opts.MaxBody }

// MaxHops returns how many times programs may pass a message on; a negative number means
// no limit. See [Options].
func (s *Store) MaxHops() int { return s.opts.MaxHops }

// TooManyHops reports whether a number of hops exceeds the store's limit.
func (s *Store) TooManyHops(hops int) bool { return s.opts.MaxHops > 0 && hops > s.opts.MaxHops }

// stamp returns the time for a new file name: the current time in microseconds, but
// always later than any earlier stamp. Messages of one Store that have the same priority
// therefore sort in the order in which they were sent.
func (s *Store) stamp() time.Time {
	now := s.opts.Now().UnixMicro()
	for {
		last := s.last.Load()
		next := max(now, last+1)
		if s.last.CompareAndSwap(last, next) {
			return time.UnixMicro(next).UTC()
		}
	}
}

// makeMailbox durably creates the missing folders of a mailbox. It creates work/ last,
// after the other folders are durable. If work/ is missing, an earlier call may have been
// killed before its syncs. If no folder is missing, no sync is necessary.
func makeMailbox(d *disk, name string) error {
	if there, err := d.exists(name); err != nil {
		return err
	} else if !there {
		if err := d.mkdir(name); err != nil {
			return err
		}
	}
	box, err := d.nameAt(name + "/" + tmpFolder)
	if err != nil {
		return err
	}
	defer box.close()
	missing := slices.DeleteFunc(slices.Clone(mailboxFolders), func(folder string) bool {
		return box.sibling(folder).isFolder()
	})
	if len(missing) == 0 {
		return nil
	}
	sync := func() error { return errors.Join(d.syncDir(name), d.syncDir(".")) }
	for _, folder := range missing {
		if folder == workFolder {
			if err := sync(); err != nil {
				return err
			}
		}
		path := name + "/" + folder
		if err := d.clearWay(path, path); err != nil {
			return err
		}
		if err := d.mkdir(path); err != nil {
			return err
		}
	}
	if slices.Contains(missing, workFolder) {
		return nil // a power cut may remove work/, but the next call recreates it
	}
	return sync()
}
