package main

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/control"
)

// Start waits while a daemon that does not answer still holds the project's lock, because
// a daemon that was just killed releases the lock a moment later. It does not wait longer
// than settlePatience.
func TestStartWaitsForAKilledDaemon(t *testing.T) {
	for name, c := range map[string]struct {
		holds time.Duration // 0 means that the lock is never released
		free  bool
	}{
		"it releases the lock":     {holds: time.Second, free: true},
		"it does not release it":   {},
		"it releases it too late":  {holds: settlePatience + time.Second},
		"it has released the lock": {holds: time.Nanosecond, free: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := shortProject(t)
			release, err := lockDaemon(p.home)
			if err != nil {
				t.Fatal(err)
			}
			released := false
			free := func() {
				if err := release(); err != nil {
					t.Error(err)
				}
				released = true
			}
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				if c.holds > 0 {
					defer time.AfterFunc(c.holds, free).Stop()
				}
				_, err := dialSettled(&cli.Context{Context: t.Context()}, p)
				if !errors.Is(err, control.ErrNoDaemon) {
					t.Errorf("dialSettled = %v, want %v", err, control.ErrNoDaemon)
				}
				took, held := time.Since(begun), lockHeld(p.home)
				if held == c.free || took < min(c.holds, settlePatience) || took > settlePatience+time.Second {
					t.Errorf("it gave up after %v, and the lock is held: %v; the lock is released after %v", took, held, c.holds)
				}
			})
			if !released {
				free()
			}
		})
	}
}
