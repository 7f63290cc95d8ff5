package lineage

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// Parent returns the parent of a process: the process that started it or later adopted
// it. The error is [fs.ErrNotExist] if there is no process pid.
func Parent(pid int) (int, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	// The kernel returns an empty record if there is no process with this pid.
	if err != nil || int(k.Proc.P_pid) != pid {
		return 0, fs.ErrNotExist
	}
	return int(k.Eproc.Ppid), nil
}

// Variable returns a variable of the environment with which a process was started, or ""
// if the variable is missing or the process belongs to another user. The block from the
// kernel also contains the process's arguments.
func Variable(pid int, name string) string {
	block, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return ""
	}
	return value(block, name)
}

// programOf returns the name of a process's program, or "".
func programOf(pid int) string {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return ""
	}
	return unix.ByteSliceToString(k.Proc.P_comm[:])
}
