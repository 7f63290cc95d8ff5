//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// lingering kills processes as [kills] does, but with clients that stay for the next
// message. When a client is killed, it may be in a later turn, idle, or about to exit.
var lingering = fault{
	name: "kill -9, clients linger", what: "the same with clients that stay for the next message; two may wait",
	full: 100, short: 12,
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		spec := arenaSpec{agents: 4, top: "max_warm: 2\n", defaults: "  linger: 400ms\n"}
		return inArenas(ctx, r, min(4, max(2, times/10)), times, spec, func(ctx context.Context, a *arena, times int) (counts, error) {
			// The long pauses leave the agents without work from time to time.
			now := time.Now()
			rest := func(ctx context.Context) error {
				if time.Since(now)/time.Second%3 == 0 {
					return pause(ctx, time.Duration(rand.IntN(900))*time.Millisecond)
				}
				return pause(ctx, time.Duration(rand.IntN(60))*time.Millisecond)
			}
			c, err := a.fight(ctx, times, battle{traffic: traffic{rest: rest}, strike: (&killer{a: a}).strike})
			later := 0
			for _, t := range a.turns() {
				if t.Client != "" {
					later++
				}
			}
			if err == nil && later < times {
				err = errors.Join(err, fmt.Errorf("only %d turns had a client that had stayed", later))
			}
			return c, err
		})
	},
}
