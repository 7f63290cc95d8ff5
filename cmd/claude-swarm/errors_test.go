package main

import (
	"fmt"
	"io/fs"
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
