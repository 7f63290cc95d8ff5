package control

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUID tells which user is at the other end.
func peerUID(c *net.UnixConn) (uid int, known bool, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false, err
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
		return 0, false, err
	}
	return int(cred.Uid), true, nil
}
