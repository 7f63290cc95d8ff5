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
	var cred *unix.Xucred
	var optErr error
	err = raw.Control(func(fd uintptr) {
		cred, optErr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if optErr == nil {
			p.pid, optErr = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		}
	})
	if err == nil {
		err = optErr
	}
	if err != nil {
		return peer{}, err
	}
	p.uid, p.known = int(cred.Uid), true
	return p, nil
}
