package fakeapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// Listen serves s on addr (port 0 means any free port) until ctx is done, and returns the
// base URL immediately. The caller must call wait; several goroutines may call it. wait
// returns after the server has stopped and all its answers have ended. Its error is nil
// if ctx stopped the server.
func Listen(ctx context.Context, addr string, s *Server) (url string, wait func() error, err error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return "", nil, err
	}
	done := make(chan error, 1)
	go func() { done <- serve(ctx, ln, s) }()
	return "http://" + ln.Addr().String(), sync.OnceValue(func() error { return <-done }), nil
}

func serve(ctx context.Context, ln net.Listener, s *Server) error {
	srv := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 30 * time.Second,
		// An answer that is delayed or stalled ends when ctx is done, not after its
		// scripted delay.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	err := srv.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close() // for a client that does not read its answer
	}
	<-served
	return err
}
