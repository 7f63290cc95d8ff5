//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// A volume is a small, separate file system that contains a project.
type volume struct {
	dir   string
	names bool // the volume runs out of inodes, not bytes
	files int  // number of files that were created to use up the inodes
}

// mount mounts the volume with the given size in MiB and the given number of files.
func (v *volume) mount(mib, files int) error {
	return system("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm,nr_inodes=%d,mode=700", mib, files), "torture", v.dir)
}

// unmount unmounts the volume, even if a killed process has not exited yet.
func (v *volume) unmount() error { return unix.Unmount(v.dir, unix.MNT_DETACH) }

func (v *volume) filler() string { return filepath.Join(v.dir, ".filler") }

// fill uses up the space on the volume. Calls alternate between using up all bytes and
// using up all inodes.
func (v *volume) fill() error {
	v.names = !v.names
	if err := os.MkdirAll(v.filler(), 0o700); err != nil {
		return orNoSpace(err)
	}
	return v.top()
}

// top uses up the space that has become free since fill.
func (v *volume) top() error {
	if v.names {
		for {
			v.files++
			f, err := os.OpenFile(filepath.Join(v.filler(), strconv.Itoa(v.files)), os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return orNoSpace(err)
			}
			f.Close()
		}
	}
	f, err := os.OpenFile(filepath.Join(v.filler(), "bytes"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return orNoSpace(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; size >>= 4 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if orNoSpace(err) != nil {
			return err
		}
	}
	return nil
}

// empty frees the space again.
func (v *volume) empty() error { return os.RemoveAll(v.filler()) }

func orNoSpace(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return nil
	}
	return err
}

// system runs a system program.
func system(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w: %s", name, args, err, out)
	}
	return nil
}
