package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

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
	sc.o.Lost = func(hook, _ string) {
		if hook == "ops" {
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
	if len(sc.files("dead")) != 1 || len(sc.files("new")) != 1 {
		t.Errorf("dead %q, new %q, want the message that caused the panic in dead, and the other in new", sc.files("dead"), sc.files("new"))
	}
	if err := s.Set([]webhook.Hook{hookTo("ops", rc)}); err != nil {
		t.Fatal(err)
	}
	next := make(chan string, 1)
	go func() { // the receive below waits for this goroutine
		panicked, err := runs(ctx, s)
		next <- fmt.Sprint(panicked, err)
	}()
	sc.until("both messages are dead", func() bool { return len(sc.files("dead")) == 2 })
	cancel()
	if end := <-next; end != "<nil>" {
		t.Errorf("the next run ended with %s", end)
	}
	s.Drain(t.Context()) // ends, because no attempt is counted as running
}

// A panic in the step that claims a message, or in the step that gives it up, also reaches
// the caller of Run.
func TestAPanicInADiskStep(t *testing.T) {
	for _, folder := range []string{"hooks/cur/", "hooks/dead/"} {
		sc := newScene(t, dropbox.Options{Step: func(s dropbox.Step) error {
			if strings.HasPrefix(s.To, folder) {
				panic("a bug")
			}
			return nil
		}})
		s, err := webhook.New(sc.o)
		if err != nil {
			t.Fatal(err)
		}
		sc.Service = s
		if err := s.Set([]webhook.Hook{hookTo("ops", newReceiver(t, nil))}); err != nil {
			t.Fatal(err)
		}
		sc.hear(crashed(1))
		if err := s.Set(nil); err != nil { // an unknown webhook, so the message is given up
			t.Fatal(err)
		}
		if panicked, err := runs(t.Context(), s); !strings.HasPrefix(panicked, "a bug") {
			t.Errorf("%s: Run panicked with %q and returned %v", folder, panicked, err)
		}
		s.Drain(t.Context()) // ends, because no attempt is counted as running
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
