package config

import "golang.org/x/sys/unix"

// totalMemory returns the memory of this machine in bytes, or 0 if it is unknown.
func totalMemory() uint64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return uint64(info.Totalram) * uint64(info.Unit) // Totalram is 32 bits wide on some architectures
}
