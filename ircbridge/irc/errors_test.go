package irc_test

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A dialing error contains the address only once, and callers can test for its cause.
func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = irc.Dial(context.Background(), irc.Config{Addr: addr, Nick: "swarm", Clear: true})
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("Dial = %v, want ECONNREFUSED", err)
	}
	if want := "connect to " + addr + ": connection refused"; err.Error() != want {
		t.Errorf("Dial = %q, want %q", err, want)
	}
}
