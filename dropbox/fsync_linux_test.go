package dropbox_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// Options.Step reports each sync of a store; this test compares the reports with the calls
// that the kernel receives. The test runs itself in a separate process, in which the
// kernel reports each fsync call to the test before executing it.
func TestEverySyncReachesTheKernel(t *testing.T) {
	const inside = "DROPBOX_COUNTS_SYNCS"
	if os.Getenv(inside) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), inside+"=1")
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), "--- SKIP") {
			t.Logf("%s", out)
			need.Missing(t, "the kernel's report of sync calls")
		}
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	var mu sync.Mutex
	var asked, said []string
	scratch := fastFolder(t)
	rel := func(path string) string {
		_, path, inStore := strings.Cut(strings.TrimPrefix(path, scratch+"/"), "/")
		if !inStore {
			return "."
		}
		return path
	}
	err := watchSyncs(func(path string) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, rel(path))
	})
	if err != nil {
		t.Skipf("the kernel does not report sync calls: %v", err)
	}
	for name, d := range actions {
		watched := func(dir string) (*dropbox.Store, func() error, error) {
			s, err := dropbox.Open(dir, dropbox.Options{Step: func(st dropbox.Step) error {
				mu.Lock()
				defer mu.Unlock()
				if st.Op == dropbox.OpSync || st.Op == dropbox.OpSyncDir {
					said = append(said, st.Name)
				}
				return nil
			}})
			mu.Lock()
			asked, said = nil, nil
			mu.Unlock()
			return s, func() error { // the action is complete
				mu.Lock()
				defer mu.Unlock()
				slices.Sort(asked)
				slices.Sort(said)
				if diff := cmp.Diff(said, asked); diff != "" {
					t.Errorf("%s: synced (-reported by the store +seen by the kernel):\n%s", name, diff)
				}
				if len(said) == 0 {
					t.Errorf("%s: nothing is synced", name)
				}
				return nil
			}, err
		}
		if _, err := d.runWithFault(filepath.Join(scratch, strings.ReplaceAll(name, " ", "-")), unix.EIO, false, watched); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// watchSyncs calls each before every fsync of this process, with the path of the file.
// The effect is permanent for the process.
func watchSyncs(each func(path string)) error {
	const (
		setFilter = 1 // SECCOMP_SET_MODE_FILTER
		// SECCOMP_FILTER_FLAG_TSYNC, _NEW_LISTENER and _TSYNC_ESRCH: the filter applies to
		// all threads, and the call returns the listener.
		flags  = 1 | 1<<3 | 1<<4
		notify = 0x7fc00000 // SECCOMP_RET_USER_NOTIF
		allow  = 0x7fff0000 // SECCOMP_RET_ALLOW
	)
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the system call number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FSYNC, Jt: 1},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FDATASYNC, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: notify},
		{Code: unix.BPF_RET | unix.BPF_K, K: allow},
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, setFilter, flags, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	go func() { // until the process ends
		for {
			const receive, send, goOn = 0xc0502100, 0xc0182101, 1 // SECCOMP_IOCTL_NOTIF_…, SECCOMP_USER_NOTIF_FLAG_CONTINUE
			var call [80]byte                                     // struct seccomp_notif
			if _, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, receive, uintptr(unsafe.Pointer(&call))); errno != 0 {
				if errno == unix.EINTR || errno == unix.ENOENT {
					continue
				}
				panic(errno)
			}
			path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", int32(binary.NativeEndian.Uint64(call[32:]))))
			if err != nil {
				path = err.Error()
			}
			each(path)
			var answer [24]byte // struct seccomp_notif_resp
			copy(answer[:8], call[:8])
			binary.NativeEndian.PutUint32(answer[20:], goOn)
			if _, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, send, uintptr(unsafe.Pointer(&answer))); errno != 0 && !errors.Is(errno, unix.ENOENT) {
				panic(errno)
			}
		}
	}()
	return nil
}
