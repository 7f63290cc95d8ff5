package control

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerOf returns the user and the process at the other end.
func peerOf(c *net.UnixConn) (p peer, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return peer{}, err
	}
	var cred *unix.Ucred
	var optErr error
	err = raw.Control(func(fd uintptr) {
		cred, optErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err == nil {
		err = optErr
	}
	if err != nil {
		return peer{}, err
	}
	p = peer{uid: int(cred.Uid), pid: int(cred.Pid), known: true}
	if p.pid != 0 {
		err = raw.Control(func(fd uintptr) { p.opener = openerOf(int(fd), p.pid) })
	}
	return p, err
}
