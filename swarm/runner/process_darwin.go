package runner

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// stateZombie is the state of a process that has ended but has not been reaped yet (SZOMB
// in sys/proc.h).
const stateZombie = 5

func stat(pid int) (processStat, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		// If no process has this ID, the kernel returns an empty record.
		return processStat{}, fs.ErrNotExist
	}
	if int(k.Proc.P_pid) != pid {
		return processStat{}, fs.ErrNotExist
	}
	return statOf(k), nil
}

// statOf omits the CPU time, which the kernel no longer provides.
func statOf(k *unix.KinfoProc) processStat {
	t := k.Proc.P_starttime
	session, _ := unix.Getsid(int(k.Proc.P_pid)) // 0 for a process that has ended
	return processStat{
		pid:     int(k.Proc.P_pid),
		parent:  int(k.Eproc.Ppid),
		group:   int(k.Eproc.Pgid),
		session: max(session, 0),
		start:   uint64(t.Sec)*1e6 + uint64(t.Usec),
		dead:    k.Proc.P_stat == stateZombie,
	}
}
