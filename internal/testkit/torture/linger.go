//go:build linux

package main

import (
	"context"
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
			k := &killer{a: a}
			stayed := 0
			return a.fight(ctx, times, battle{traffic: traffic{rest: rest}, strike: func(ctx context.Context, c *counts) error {
				before := stayed
				err := until(ctx, "one more turn whose client had stayed", func() bool {
					stayed = a.turnsOfStayedClients()
					return stayed > before
				})
				if err == nil { // the client may then be working, waiting or about to exit
					err = pause(ctx, time.Duration(rand.IntN(500))*time.Millisecond)
				}
				if err != nil {
					return err
				}
				return k.strike(ctx, c)
			}})
		})
	},
}

// turnsOfStayedClients counts the turns so far whose client was started by an earlier turn.
func (a *arena) turnsOfStayedClients() int {
	n := 0
	for _, t := range a.turns() {
		if t.Client != "" {
			n++
		}
	}
	return n
}
