package config

import "golang.org/x/sys/unix"

// totalMemory returns the memory of this machine in bytes, or 0 if it is unknown.
func totalMemory() uint64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return n
}
