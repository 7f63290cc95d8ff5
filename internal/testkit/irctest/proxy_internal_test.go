package irctest

import (
	"net"
	"testing"
	"time"
)

// A fault is triggered only on an open connection. A message that was read from a
// connection that has since ended triggers no fault, because there is no connection to
// break.
func TestOnTextNeedsAnOpenConnection(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	p := NewProxy(t, server.Addr().String())
	client, err := net.Dial("tcp", p.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var open *link
	for open == nil {
		p.mu.Lock()
		for l := range p.links {
			open = l
		}
		p.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	text := []byte("PRIVMSG #project :hello\r\n")
	p.OnText(Up, 0, func() {})
	p.Cut()
	if p.trigger(open, text, Up) != nil {
		t.Error("a text of a connection that has ended begins a fault")
	}
	p.mu.Lock()
	p.links[open] = true
	p.mu.Unlock()
	if p.trigger(open, text, Up) == nil {
		t.Error("a text of an open connection begins no fault")
	}
}
