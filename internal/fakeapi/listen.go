package fakeapi

import (
	"context"
	"net"
	"sync"
)

// Listen serves s on addr (port 0 takes any free one) until ctx is done, and
// returns the base URL at once. The caller calls wait, from any number of
// goroutines: it returns when the server has ended and its answers with it,
// with nil when ctx ended it.
func Listen(ctx context.Context, addr string, s *Server) (url string, wait func() error, err error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return "", nil, err
	}
	done := make(chan error, 1)
	go func() { done <- serve(ctx, ln, s) }()
	return "http://" + ln.Addr().String(), sync.OnceValue(func() error { return <-done }), nil
}
