package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// settle waits until the file system that contains dir has nothing left to write.
func settle(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

// kernel returns the name and release of the running system.
func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "linux"
	}
	return "linux " + unix.ByteSliceToString(u.Release[:])
}
