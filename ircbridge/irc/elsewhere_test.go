package irc_test

import (
	"context"
	"net"
)

// An elsewhere is a connection that appears to lead to another machine.
type elsewhere struct{ net.Conn }

func (elsewhere) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 6667}
}

func dialElsewhere(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	_ = far.Close()
	return elsewhere{near}, nil
}
