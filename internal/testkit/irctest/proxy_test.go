package irctest_test

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
)

// A client that hangs up while the server is sending is counted, whether the proxy notices it
// when it reads or when it writes.
func TestEachClientThatLeavesIsCounted(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var servers sync.WaitGroup
	servers.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			servers.Go(func() {
				defer c.Close()
				go func() { _, _ = io.Copy(io.Discard, c) }() // ends when the connection does
				for err := error(nil); err == nil; {
					_, err = c.Write([]byte(":server NOTICE * :more\r\n"))
				}
			})
		}
	})
	defer servers.Wait()
	defer l.Close()
	p := irctest.NewProxy(t, l.Addr().String())
	const clients = 200
	for range clients {
		c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", p.Addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	for limit := time.Now().Add(2 * time.Minute); p.Counts().Stand > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("not all connections end: %+v", p.Counts())
		}
	}
	if got := p.Counts(); got.Left != clients || got.Ended != 0 {
		t.Errorf("%+v, want %d that left", got, clients)
	}
}
