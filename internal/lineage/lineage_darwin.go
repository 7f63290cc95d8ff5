package lineage

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// Parent is the process that a process belongs to: the one that started it, or the
// one that adopted it. The error is [fs.ErrNotExist] when there is no such process.
func Parent(pid int) (int, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	// The kernel answers with an empty record for a number that no process has.
	if err != nil || int(k.Proc.P_pid) != pid {
		return 0, fs.ErrNotExist
	}
	return int(k.Eproc.Ppid), nil
}

// Variable is the value of a variable in the environment that a process was started
// with; "" when it had none, or is another user's. The kernel gives the arguments in
// the same block.
func Variable(pid int, name string) string {
	block, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return ""
	}
	return value(block, name)
}
