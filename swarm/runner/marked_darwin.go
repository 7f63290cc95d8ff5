package runner

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// pids returns the IDs of all processes.
func pids() []int {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	numbers := make([]int, len(all))
	for i := range all {
		numbers[i] = int(all[i].Proc.P_pid)
	}
	return numbers
}

// newestPID returns "" because this system does not report this ID.
func newestPID() string { return "" }

// An environReader reads environments.
type environReader struct{}

// carries reports whether a process was started with this entry in its environment or as
// an argument. The kernel returns both in one block, and only for processes of the same
// user.
func (environReader) carries(pid int, entry []byte) bool {
	block, err := unix.SysctlRaw("kern.procargs2", pid)
	return err == nil && bytes.Contains(block, entry) && hasEntry(block, entry)
}
