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

// Options tune a Store. The zero value is ready to use.
type Options struct {
	MaxBody       int64 // longest body, in bytes; 0 means 8 KiB
	MaxAttachment int64 // largest attachment or dropped file, in bytes; 0 means 10 MiB
	MaxWaiting    int   // messages that may wait in one mailbox; 0 means 10,000
	MaxHops       int   // how many times programs may pass a message on; 0 means [MaxHops], below 0 no limit

	// Now returns the time; nil means time.Now.
	Now func() time.Time

	// Step, if set, is called before every change that the store makes on disk, except to the
	// lock file, in the goroutine of the store's caller. An error refuses that change, and the
	// store continues as if the disk had refused it. A program can use Step to record changes,
	// keep a store read-only, or simulate a full disk.
	Step func(Step) error
}

// A Store is a folder of mailboxes. It is safe for concurrent use, and several processes
// may use one folder.
type Store struct {
	dir     string
	disk    *disk
	opts    Options
	last    atomic.Int64 // the newest time that stamp returned, in microseconds
	days    sync.Map     // the folders of this Store that are known to be durable; in done/, the newest one
	tooMany sync.Map     // per mailbox: see [fullMark.excess]
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

// mailboxFolders are made in this order; work/ is the last, see [makeMailbox].
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

// ignored is the .gitignore that keeps unfinished mail out of git.
const ignored = "# What is finished is tracked: done/, dead/, attach/, board/; and the subscriptions.\n" +
	"tmp/\nnew/\ncur/\nkeys/\nwork/\ngrants/\nrefused/\nhalted/\n.lock\nHALT\nFULL\n"

// scratchPrefix is the prefix of the names of incomplete files outside a mailbox.
const scratchPrefix = ".scratch-"

// haltedDir contains a file for every halted conversation.
const haltedDir = "halted"

// Create makes the folder dir and the first content of a store: version, .gitignore,
// board/, attach/, refused/ and the mailbox of the lead. Existing files stay unchanged, so
// repeating it is harmless. The error is [ErrVersion] if dir is a store of an unknown
// version.
func Create(dir string) error {
	if err := create(dir); err != nil {
		return fmt.Errorf("create mailboxes in %s: %w", dir, err)
	}
	return nil
}

func create(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
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
	if err := d.put(scratchPrefix+NewID(), ".gitignore", []byte(ignored)); err != nil {
		return err
	}
	// The file version comes last, because without it the folder is not yet a store.
	return d.put(scratchPrefix+NewID(), versionFile, []byte(strconv.Itoa(Version)+"\n"))
}

// Open opens the store in dir. The caller closes it. The error is [ErrNoStore] or
// [ErrVersion] when there is no store that this program can use.
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

// Close closes the open files of the store. It loses no message.
func (s *Store) Close() error { return s.disk.close() }

// Dir returns the absolute path of the store's folder.
func (s *Store) Dir() string { return s.dir }

// Now returns the store's time; see [Options].
func (s *Store) Now() time.Time { return s.opts.Now() }

// MaxBody returns the longest body of a message, in bytes; see [Options].
func (s *Store) MaxBody() int64 { return s.opts.MaxBody }

// MaxHops returns how many times programs may pass a message on; below 0 there is no
// limit. See [Options].
func (s *Store) MaxHops() int { return s.opts.MaxHops }

// TooManyHops reports whether this number of hops is more than the store allows.
func (s *Store) TooManyHops(hops int) bool { return s.opts.MaxHops > 0 && hops > s.opts.MaxHops }

// stamp returns the time for a new file name: the current time in microseconds, but
// always later than any earlier stamp. So the messages of one Store that have the same
// priority sort in the order in which they were sent.
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

// makeMailbox makes the missing folders of a mailbox, durably. It makes work/ last, when the
// other folders are durable. So while work/ is missing, an earlier call may have been killed
// before its syncs, and if nothing is missing, nothing needs a sync.
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
		return nil // a power cut may remove work/, but then the next call recreates it
	}
	return sync()
}
