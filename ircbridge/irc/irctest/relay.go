package irctest

import (
	"io"
	"net"
	"sync"
)

// Relay passes every connection of l on to a server until l is closed, and
// returns when all have ended: for a listener with TLS before a server without.
func Relay(l net.Listener, server string) {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		behind, err := net.Dial("tcp", server)
		if err != nil {
			_ = client.Close()
			continue
		}
		pass := func(to, from net.Conn) {
			_, _ = io.Copy(to, from)
			_ = to.Close()
			_ = from.Close()
		}
		all.Go(func() { pass(client, behind) })
		all.Go(func() { pass(behind, client) })
	}
}
