package dropbox_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

func init() {
	programs["fewfiles"] = fewFiles
	programs["fewforabatch"] = fewForABatch
	programs["smalldisk"] = smallDisk
	programs["kinds"] = kindsOfDisk
}

// A process that cannot open more files gets an error from its call but loses no message.
// In particular, it does not treat any message as unreadable.
func TestFewFiles(t *testing.T) {
	runHelper(t, helper("fewfiles", fastFolder(t)))
}

// A batch succeeds if each of its messages would succeed alone.
func TestBatchWithFewFiles(t *testing.T) {
	if out, err := helper("fewforabatch", fastFolder(t)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func fewForABatch(dir string, _ []string) error {
	if err := dropbox.Create(dir); err != nil {
		return err
	}
	s, err := dropbox.Open(dir, dropbox.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	var batch []dropbox.Draft
	for i := range 40 {
		to := fmt.Sprintf("agent-%d", i%20)
		if err := s.MakeMailbox(to); err != nil {
			return err
		}
		batch = append(batch, dropbox.Draft{To: to, Message: keyed(fmt.Sprint(i))})
	}
	// The test may have inherited an open file with a higher number from its parent
	// process.
	held, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	last, next := 0, 0
	for _, e := range held {
		n, err := strconv.Atoi(e.Name())
		if err != nil {
			return err
		}
		last = max(last, n)
	}
	for next < last {
		if next, err = unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			return err
		}
	}
	unix.Close(next)
	const few = 5 // enough for a single delivery but not for the whole batch
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(next) + few, Max: uint64(next) + few}); err != nil {
		return err
	}
	for i, o := range s.DeliverBatch(batch) {
		if o.Err != nil || o.Duplicate {
			return fmt.Errorf("%d: %+v", i, o)
		}
	}
	return nil
}

// A process that cannot open a folder does not treat the folder's messages as missing.
func TestListsWithoutFiles(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	deliver(t, s, "coder", text("work"))
	c := claim(t, b, list(t, b)[0])
	if err := errors.Join(b.Commit(c.Entry, []byte("r\n")), b.Finish(c.Entry)); err != nil {
		t.Fatal(err)
	}
	var before unix.Rlimit
	err := errors.Join(unix.Getrlimit(unix.RLIMIT_NOFILE, &before), unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: before.Max}))
	filed, filedErr := b.Filed(time.Now())
	finished, finishedErr := b.Finished(time.Now())
	if err := errors.Join(err, unix.Setrlimit(unix.RLIMIT_NOFILE, &before)); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(filedErr, unix.EMFILE) || !errors.Is(finishedErr, unix.EMFILE) {
		t.Errorf("Filed = %v, %v; Finished = %v, %v; want %v", filed, filedErr, finished, finishedErr, unix.EMFILE)
	}
}

// runHelper runs a program that prints how many faults it injected.
func runHelper(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, complaints.String())
	}
	var injected int
	if _, err := fmt.Sscan(string(out), &injected); err != nil || injected < 20 {
		t.Errorf("%d faults, %v: %q", injected, err, out)
	}
	tally(t, t.Name(), injected)
}

// fewFiles runs every action with a limit of 0 more open files, then 1, and so on until
// the action succeeds.
func fewFiles(dir string, _ []string) error {
	var whole unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &whole); err != nil {
		return err
	}
	free := func() error { return unix.Setrlimit(unix.RLIMIT_NOFILE, &whole) }
	injected := 0
	var errs []error
	for name, d := range actions {
		for left := uint64(0); ; left++ {
			hurt, err := d.runWithFault(filepath.Join(dir, dropbox.NewID()), unix.EMFILE, true, func(dir string) (*dropbox.Store, func() error, error) {
				s, err := dropbox.Open(dir, dropbox.Options{})
				if err != nil {
					return nil, nil, err
				}
				next, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
				if err != nil {
					return nil, nil, err
				}
				unix.Close(next)
				return s, free, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(next) + left, Max: whole.Max})
			})
			if err != nil {
				errs = append(errs, fmt.Errorf("%s, %d files left: %w", name, left, err))
			}
			if !hurt {
				break
			}
			injected++
		}
	}
	n, err := scramble(filepath.Join(dir, "scramble"))
	fmt.Println(injected + n)
	return errors.Join(errors.Join(errs...), err)
}

// scramble claims and opens messages while another goroutine repeatedly opens as many
// files as it can and closes them.
func scramble(dir string) (injected int, err error) {
	if err := dropbox.Create(dir); err != nil {
		return 0, err
	}
	s, err := dropbox.Open(dir, dropbox.Options{})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	b, err := s.Mailbox(dropbox.Lead)
	if err != nil {
		return 0, err
	}
	for range 100 {
		if err := second(s.Deliver(dropbox.Lead, text("x"))); err != nil {
			return 0, err
		}
	}
	entries, err := b.List()
	if err != nil {
		return 0, err
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: 64}); err != nil {
		return 0, err
	}
	stop := make(chan struct{})
	var hoarders sync.WaitGroup
	for range 4 {
		hoarders.Go(func() {
			var held []int
			for {
				fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
				if err == nil {
					held = append(held, fd)
					continue
				}
				runtime.Gosched()
				for _, fd := range held {
					unix.Close(fd)
					runtime.Gosched()
				}
				held = nil
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	patiently := func(do func() (*dropbox.Claim, error)) (*dropbox.Claim, error) {
		for {
			c, err := do()
			if err == nil && c.Bad != nil {
				return nil, fmt.Errorf("a good message is bad: %w", c.Bad)
			}
			if !errors.Is(err, unix.EMFILE) {
				return c, err
			}
			injected++
		}
	}
	for _, e := range entries {
		var c *dropbox.Claim
		if c, err = patiently(func() (*dropbox.Claim, error) { return b.Take(e) }); err != nil {
			break
		}
		for range 60 {
			if _, err = patiently(func() (*dropbox.Claim, error) { return b.Open(c.Entry) }); err != nil {
				break
			}
		}
	}
	close(stop)
	hoarders.Wait()
	return injected, err
}

// The actions run on a disk that has no free blocks or inodes or is mounted read-only. The
// disk is a small tmpfs in a separate mount namespace.
func TestSmallDisk(t *testing.T) {
	cmd := helper("smalldisk", t.TempDir())
	runHelper(t, inNamespace(t, cmd))
}

// inNamespace prepares a command for a separate mount namespace, in which it can mount file
// systems that are invisible to other processes. It skips the test if the system has no user
// namespaces.
func inNamespace(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:                 syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings:                []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings:                []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		GidMappingsEnableSetgroups: false,
	}
	trial := exec.Command("true")
	trial.SysProcAttr = cmd.SysProcAttr
	if err := trial.Run(); err != nil {
		t.Log(err)
		need.Missing(t, "a user namespace")
	}
	return cmd
}

func smallDisk(dir string, _ []string) error {
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,nr_inodes=300"); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	injected := 0
	var errs []error
	try := func(how string, d action, errno error, open faultyDisk) (hurt bool) {
		hurt, err := d.runWithFault(filepath.Join(dir, dropbox.NewID()), errno, errno == unix.EROFS, open)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", how, err))
		}
		if hurt {
			injected++
		}
		return hurt
	}
	for name, d := range actions {
		for left := 0; try(fmt.Sprintf("%s, %d pages left", name, left), d, unix.ENOSPC, fillBytes(dir, left)); left++ {
		}
		for left := 0; try(fmt.Sprintf("%s, %d names left", name, left), d, unix.ENOSPC, fillNames(dir, left)); left++ {
		}
		if !try(name+", read-only", d, unix.EROFS, readOnly(dir)) {
			errs = append(errs, errors.New(name+" changes a disk that is read-only"))
		}
	}
	fmt.Println(injected)
	return errors.Join(errs...)
}

// opened returns a faultyDisk that opens the store and then damages the disk by calling
// hurt.
func opened(hurt func() (repair func() error, err error)) faultyDisk {
	return func(dir string) (*dropbox.Store, func() error, error) {
		s, err := dropbox.Open(dir, dropbox.Options{})
		if err != nil {
			return nil, nil, err
		}
		repair, err := hurt()
		return s, repair, err
	}
}

// fillBytes fills the disk except for the given number of pages.
func fillBytes(dir string, pages int) faultyDisk {
	return opened(func() (func() error, error) {
		path := filepath.Join(dir, "filler")
		f, err := os.Create(path)
		if err != nil {
			return nil, err
		}
		size := int64(0)
		for err == nil {
			var n int
			n, err = f.Write(make([]byte, os.Getpagesize()))
			size += int64(n)
		}
		if !errors.Is(err, unix.ENOSPC) {
			return nil, err
		}
		repair := func() error { return errors.Join(f.Close(), os.Remove(path)) }
		return repair, f.Truncate(max(0, size-int64(pages*os.Getpagesize())))
	})
}

// fillNames fills the disk until it has room for only the given number of new files.
func fillNames(dir string, left int) faultyDisk {
	return opened(func() (func() error, error) {
		folder := filepath.Join(dir, "fillers")
		err := os.Mkdir(folder, 0o700)
		n := 0
		for ; err == nil; n++ {
			err = os.Mkdir(filepath.Join(folder, fmt.Sprint(n)), 0o700)
		}
		if !errors.Is(err, unix.ENOSPC) {
			return nil, err
		}
		for i := range min(n-1, left) {
			if err := os.Remove(filepath.Join(folder, fmt.Sprint(i))); err != nil {
				return nil, err
			}
		}
		return func() error { return os.RemoveAll(folder) }, nil
	})
}

func readOnly(dir string) faultyDisk {
	return opened(func() (func() error, error) {
		repair := func() error { return unix.Mount("", dir, "", unix.MS_REMOUNT, "") }
		return repair, unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, "")
	})
}

// ProbeFileSystem recognizes tmpfs and overlay, and all actions succeed on them.
func TestKindsOfDisk(t *testing.T) {
	cmd := inNamespace(t, helper("kinds", t.TempDir()))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func kindsOfDisk(dir string, _ []string) error {
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		return fmt.Errorf("mount tmpfs: %w", err)
	}
	for _, name := range []string{"tmpfs", "overlay", "lower", "upper", "work"} {
		if err := os.Mkdir(at(name), 0o700); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("userxattr,lowerdir=%s,upperdir=%s,workdir=%s", at("lower"), at("upper"), at("work"))
	if err := unix.Mount("overlay", at("overlay"), "overlay", 0, options); err != nil {
		return fmt.Errorf("mount overlay: %w", err)
	}
	var errs []error
	for _, kind := range []string{"tmpfs", "overlay"} {
		f, err := dropbox.ProbeFileSystem(at(kind))
		if err != nil || f.Kind != kind || !f.Volatile || f.Remote || !f.Usable() {
			errs = append(errs, fmt.Errorf("%s is %+v, %w", kind, f, err))
		}
		for name, d := range actions {
			hurt, err := d.runWithFault(filepath.Join(at(kind), dropbox.NewID()), nil, false, opened(func() (func() error, error) {
				return func() error { return nil }, nil
			}))
			if hurt || err != nil {
				errs = append(errs, fmt.Errorf("%s on %s: %w", name, kind, err))
			}
		}
	}
	return errors.Join(append(errs, mountedOver(at("store")))...)
}

// mountedOver checks that the store reports a disk that is mounted on a mailbox folder.
func mountedOver(dir string) error {
	if err := dropbox.Create(dir); err != nil {
		return err
	}
	s, err := dropbox.Open(dir, dropbox.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := unix.Mount("tmpfs", filepath.Join(dir, "lead/new"), "tmpfs", 0, ""); err != nil {
		return err
	}
	if got, err := s.Misplaced(); err != nil || !slices.Equal(got, []string{"lead/new"}) {
		return fmt.Errorf("Misplaced = %v, %w, want lead/new", got, err)
	}
	if err := second(s.Deliver(dropbox.Lead, text("x"))); !errors.Is(err, unix.EXDEV) {
		return fmt.Errorf("Deliver to another disk = %w, want EXDEV", err)
	}
	if left := scaffolding(dir); len(left) > 0 {
		return fmt.Errorf("it left %v", left)
	}
	return nil
}
