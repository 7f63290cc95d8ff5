package webhook_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/webhook"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The test binary is also the program that the test kills.
func TestMain(m *testing.M) {
	if os.Getenv("WEBHOOK_LIFE") == "" {
		os.Exit(m.Run())
	}
	if err := life(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// events is the number of events that each call to life passes to Hear.
const events = 2

// life passes some events to Hear and posts them. It kills its own process before the nth
// change to the disk.
func life(dir, home, url, nth string) error {
	last, err := strconv.ParseInt(nth, 10, 64)
	if err != nil {
		return err
	}
	var steps atomic.Int64
	store, err := dropbox.Open(dir, dropbox.Options{Step: func(dropbox.Step) error {
		if steps.Add(1) == last {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}})
	if err != nil {
		return err
	}
	s, err := webhook.New(webhook.Options{
		Store: store, Home: home, Project: "demo", Token: token, Log: slog.New(slog.DiscardHandler), Waits: short,
		Post: webhook.PosterOptions{Proxy: direct},
	})
	if err == nil {
		err = s.Set([]webhook.Hook{{Name: "ops", URL: url, Kind: webhook.Generic, Events: journal.Words(), Private: true}})
	}
	if err != nil {
		return err
	}
	for n := range events {
		if err := s.Hear(context.Background(), []journal.Event{crashed(n)}); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	go func() {
		for box, err := store.Mailbox(dropbox.Hooks); ctx.Err() == nil; time.Sleep(2 * time.Millisecond) {
			waits, err1 := box.Peek()
			claimed, err2 := box.Claimed()
			if err == nil && err1 == nil && err2 == nil && len(waits)+len(claimed) == 0 {
				cancel()
			}
		}
	}()
	return s.Run(ctx)
}

// A daemon does not lose an event, no matter which disk change it is about to make when it
// is killed. It posts an event twice, with the same id, only if it was killed between the
// answer and the receipt.
func TestKilledAtEachStep(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	doubled := 0
	for n, over := 1, false; !over; n++ {
		dir, home := t.TempDir(), t.TempDir()
		if err := dropbox.Create(dir); err != nil {
			t.Fatal(err)
		}
		rc := newReceiver(t, nil)
		run := func(nth int) error {
			cmd := exec.CommandContext(t.Context(), os.Args[0], dir, home, rc.URL, strconv.Itoa(nth))
			cmd.Env = append(os.Environ(), "WEBHOOK_LIFE=1")
			cmd.Stderr = os.Stderr
			return cmd.Run()
		}
		err := run(n)
		if over = err == nil; !over {
			if err := run(0); err != nil {
				t.Fatalf("after a kill before step %d: %v", n, err)
			}
		}
		times := map[string]int{}
		texts := map[string]int{}
		for _, g := range rc.got() {
			times[g.id]++
			texts[g.body[len(g.body)-200:]]++
		}
		repeated := 0
		for id, count := range times {
			if repeated += count - 1; count > 2 {
				t.Errorf("step %d: %s was posted %d times", n, id, count)
			}
		}
		sc := &scene{t: t, dir: dir}
		if len(times) != events || sc.done() != events || len(sc.files("dead")) != 0 || repeated > 1 {
			t.Errorf("step %d: %d ids posted, %d repeated, %d done, %d dead; want %d, at most 1, %d, 0", n, len(times), repeated, sc.done(), len(sc.files("dead")), events, events)
		}
		doubled += repeated
		if n > 400 {
			t.Fatal("the program is still killed after 400 steps")
		}
		if over {
			t.Logf("killed before each of %d steps: %d events posted twice", n-1, doubled)
			if doubled == 0 || doubled > 2*events*6 {
				t.Errorf("%d events were posted twice: only kills between an answer and its receipt do that", doubled)
			}
		}
	}
}
