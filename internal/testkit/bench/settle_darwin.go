package main

import "golang.org/x/sys/unix"

// settle asks the system to write all dirty data, but does not wait until all of it has
// been written.
func settle(string) error { return unix.Sync() }

// kernel returns the name and release of the running system.
func kernel() string {
	release, err := unix.Sysctl("kern.osrelease")
	if err != nil {
		return "darwin"
	}
	return "darwin " + release
}
