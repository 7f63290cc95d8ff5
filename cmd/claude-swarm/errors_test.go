package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// An error about a full, read-only or broken disk, or about too many open files, is reported
// with a hint.
func TestAMachineThatIsOutOfSomethingHasANextStep(t *testing.T) {
	for errno, word := range map[syscall.Errno]string{
		syscall.ENOSPC: "df -h", syscall.EDQUOT: "df -h", syscall.EROFS: "mount", syscall.EIO: "dmesg", syscall.EMFILE: "ulimit -n",
	} {
		var out strings.Builder
		err := fmt.Errorf("deliver to coder: %w", &fs.PathError{Op: "open", Path: "coder/tmp/x", Err: errno})
		if code := report(&out, err); code != exitFailed {
			t.Errorf("%v: exit status %d, want %d", errno, code, exitFailed)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 2 || !strings.HasPrefix(lines[1], "  try: ") || !strings.Contains(lines[1], word) {
			t.Errorf("%v: %q, want a second line with %q", errno, out.String(), word)
		}
	}
}

// The error about a file of another user says as whom to run the verb.
func TestAFileOfAnotherUserHasANextStep(t *testing.T) {
	dir, want := "/", "sudo -u root claude-swarm …   (/ belongs to root)"
	if os.Geteuid() == 0 {
		dir = t.TempDir()
		want = "sudo -u '#54321' claude-swarm …   (" + dir + " belongs to '#54321')"
		if err := os.Chown(dir, 54321, 54321); err != nil {
			t.Fatal(err)
		}
	}
	denied := func(path string) error { return &fs.PathError{Op: "open", Path: path, Err: syscall.EACCES} }
	if got := nextStep(denied(filepath.Join(dir, "no-such-folder", "x"))); got != want {
		t.Errorf("nextStep = %q, want %q", got, want)
	}
	own := t.TempDir()
	if got := nextStep(denied(own)); got != "ls -ld "+own {
		t.Errorf("nextStep of a folder of one's own = %q", got)
	}
}
