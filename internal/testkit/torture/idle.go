//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// idle leaves the agents without work. During this time, the daemon does nothing except
// scan the folders every 30 s, and its resource usage does not grow. Before and after
// this time, every agent gets a message, which shows that all agents still work.
var idle = fault{
	name: "1,000 agents idle", what: "for a minute: no work, nothing grows, and mail still wakes",
	full: 1000, short: 100, rare: true,
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		rest := time.Minute
		if times < 1000 {
			rest = 5 * time.Second
		}
		return inArenas(ctx, r, 1, times, arenaSpec{agents: times}, func(ctx context.Context, a *arena, times int) (counts, error) {
			if err := a.start(ctx); err != nil {
				return counts{}, err
			}
			each := traffic{messages: times, senders: 4, library: true, script: func(n int) string { return fmt.Sprintf("@say did %d", n) }}
			before, after, err := func() (before, after figures, err error) {
				if err := errors.Join(a.send(ctx, each), a.settle(ctx), pause(ctx, time.Second)); err != nil {
					return before, after, err
				}
				if before, err = a.figures(ctx); err == nil {
					err = pause(ctx, rest)
				}
				if err == nil {
					after, err = a.figures(ctx)
				}
				return before, after, errors.Join(err, a.send(ctx, each))
			}()
			c, cerr := a.count(ctx)
			c.Injected = times
			perSecond := float64(after.switches-before.switches) / rest.Seconds()
			c.remark("before: %v; after: %v; %.1f context switches per second", before, after, perSecond)
			if err == nil {
				err = notGrown(before, after)
			}
			return c, errors.Join(err, cerr)
		})
	},
}

// notGrown returns an error if a daemon uses more resources than before, with some
// tolerance for the garbage collector.
func notGrown(before, after figures) error {
	var errs []error
	if after.MiB > 1.5*before.MiB+16 {
		errs = append(errs, fmt.Errorf("memory grew from %.0f to %.0f MiB", before.MiB, after.MiB))
	}
	if after.files > before.files+16 {
		errs = append(errs, fmt.Errorf("open files grew from %d to %d", before.files, after.files))
	}
	if after.threads > before.threads+16 {
		errs = append(errs, fmt.Errorf("threads grew from %d to %d", before.threads, after.threads))
	}
	if after.routines > before.routines+16 {
		errs = append(errs, fmt.Errorf("goroutines grew from %d to %d", before.routines, after.routines))
	}
	if after.children > before.children+8 {
		errs = append(errs, fmt.Errorf("children grew from %d to %d", before.children, after.children))
	}
	return errors.Join(errs...)
}
