package lineage

import (
	"os"
	"strconv"
)

// SameNamespace reports whether a process and the calling process are in the same PID
// namespace. It returns false if the process cannot be seen from here.
func SameNamespace(pid int) bool {
	own, err := os.Readlink("/proc/self/ns/pid")
	other, otherErr := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/pid")
	return err == nil && otherErr == nil && own == other
}
