package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A service that fails or panics is restarted after a delay, which grows after panics, and the status shows
// the reason until the service has run for a while.
func TestAServiceIsRestarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		begun := time.Now()
		var starts []time.Duration
		var shown []string
		trouble := &word{}
		keepRunning(ctx, slog.New(slog.DiscardHandler), "IRC", trouble, func(ctx context.Context) error {
			starts = append(starts, time.Since(begun))
			shown = append(shown, trouble.get())
			switch len(starts) {
			case 1, 4:
				return errors.New("no disk")
			case 2:
				panic("a bug\n\nwith a stack")
			case 3:
				time.Sleep(lastRestart + time.Second)
				panic("a bug")
			}
			time.Sleep(firstRestart + time.Second)
			shown = append(shown, trouble.get())
			cancel()
			return nil
		})
		if want := []time.Duration{0, 5 * time.Second, 15 * time.Second, lastRestart + 21*time.Second, lastRestart + 26*time.Second}; !slices.Equal(starts, want) {
			t.Errorf("started after %v, want %v", starts, want)
		}
		if want := []string{"", "IRC: no disk", "IRC: an internal error in claude-swarm: a bug", "IRC: an internal error in claude-swarm: a bug", "IRC: no disk", ""}; !slices.Equal(shown, want) {
			t.Errorf("the status showed %q, want %q", shown, want)
		}
	})
}

func TestRestartDelay(t *testing.T) {
	var delays []time.Duration
	for range 9 {
		var last time.Duration
		if n := len(delays); n > 0 {
			last = delays[n-1]
		}
		delays = append(delays, restartDelay(last, time.Second, true))
	}
	if d := restartDelay(lastRestart, time.Second, false); d != firstRestart {
		t.Errorf("%v after an error, want %v", d, firstRestart)
	}
	if delays[0] != firstRestart || delays[1] != 2*firstRestart || delays[8] != lastRestart {
		t.Errorf("delays %v, want them to double from %v up to %v", delays, firstRestart, lastRestart)
	}
}
