package swarm

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Folders are recreated only after the deletions have ended, because a program that deletes a
// tree fails if its folders are filled again. A program that never stops cannot prevent it.
func TestAfterDeletions(t *testing.T) {
	for name, c := range map[string]struct {
		deletions []time.Duration // since the first one
		want      time.Duration
	}{
		"one":          {nil, restoreDelay},
		"a long clean": {[]time.Duration{200 * time.Millisecond, 450 * time.Millisecond, 700 * time.Millisecond}, 700*time.Millisecond + restoreDelay},
		"without end":  {every(200*time.Millisecond, time.Minute), mostDelay},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				lost, begun := make(chan struct{}, 1), time.Now()
				go func() {
					for _, at := range c.deletions {
						select {
						case <-time.After(time.Until(begun.Add(at))):
						case <-ctx.Done():
							return
						}
						select {
						case lost <- struct{}{}:
						default:
						}
					}
				}()
				if !afterDeletions(ctx, lost) {
					t.Error("afterDeletions ended although its context goes on")
				}
				if got := time.Since(begun); got != c.want {
					t.Errorf("the recreation begins after %v, want %v", got, c.want)
				}
				cancel()
				if afterDeletions(ctx, nil) {
					t.Error("afterDeletions ignores its context")
				}
			})
		})
	}
}

func every(step, until time.Duration) (all []time.Duration) {
	for at := step; at < until; at += step {
		all = append(all, at)
	}
	return all
}
