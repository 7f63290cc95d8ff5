package runner

import (
	"syscall"
	"unsafe"
)

// These numbers are from sys/wait.h, because x/sys has no waitid wrapper for this system.
const (
	pPID    = 1
	wExited = 0x4
	wNoWait = 0x20
)

// awaitExit blocks until our child pid has ended. It does not reap the child.
func awaitExit(pid int) {
	var info [16]uint64 // space for a siginfo_t, which has 104 bytes; its content is not needed
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(pid), uintptr(unsafe.Pointer(&info)), wExited|wNoWait, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}
