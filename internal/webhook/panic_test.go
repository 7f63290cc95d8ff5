package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/webhook"
)

// A panic in an attempt reaches the caller of Run after all attempts have ended. The next
// run continues with the mailbox.
func TestAPanicEndsTheRun(t *testing.T) {
	sc := newScene(t, dropbox.Options{})
	reached, left := make(chan struct{}), make(chan struct{})
	slow := newReceiver(t, func(_ int, _ http.ResponseWriter, r *http.Request) {
		close(reached)
		<-r.Context().Done() // the client hangs up
		close(left)
	})
	rc := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		<-reached
		http.Error(w, "not today", http.StatusInternalServerError)
	})
	told := 0
	sc.o.Lost = func(string, string) {
		if told++; told == 1 {
			panic("a bug")
		}
	}
	s, err := webhook.New(sc.o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Set([]webhook.Hook{hookTo("ops", rc), hookTo("slow", slow)}); err != nil {
		t.Fatal(err)
	}
	sc.Service = s
	sc.hear(crashed(1))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if panicked, err := runs(ctx, s); !strings.HasPrefix(panicked, "a bug\n") || !strings.Contains(panicked, "panic_test.go") {
		t.Fatalf("Run panicked with %q and returned %v, want the panic with its stack", panicked, err)
	}
	<-left
	go func() { // the run below lasts until this goroutine has ended
		defer cancel()
		sc.until("both messages are dead", func() bool { return len(sc.files("dead")) == 2 })
	}()
	if err := s.Set([]webhook.Hook{hookTo("ops", rc)}); err != nil {
		t.Fatal(err)
	}
	if panicked, err := runs(ctx, s); panicked != "" || err != nil {
		t.Errorf("the next run: panic %q, error %v", panicked, err)
	}
	draining, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	if s.Drain(draining); draining.Err() != nil {
		t.Error("an attempt is still counted as running")
	}
}

// runs runs a service until it ends or panics.
func runs(ctx context.Context, s *webhook.Service) (panicked string, err error) {
	defer func() {
		if p := recover(); p != nil {
			panicked = fmt.Sprint(p)
		}
	}()
	return "", s.Run(ctx)
}
