//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// manyAgents sends a message to each agent of a daemon that has thousands of agents.
var manyAgents = fault{
	name: "5,000 agents", what: "in one daemon, a message for each at once",
	full: 5000, short: 300, rare: true,
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		return inArenas(ctx, r, 1, times, arenaSpec{agents: times}, func(ctx context.Context, a *arena, times int) (counts, error) {
			began := time.Now()
			if err := a.start(ctx); err != nil {
				return counts{}, err
			}
			ready := time.Since(began)
			err := a.send(ctx, traffic{messages: times, senders: 8, library: true, script: func(n int) string { return fmt.Sprintf("@say did %d", n) }})
			if err == nil {
				err = a.settle(ctx)
			}
			f, ferr := a.figures(ctx)
			asked := time.Now()
			out, serr := a.swarm(ctx, "status", "--json")
			answered := time.Since(asked)
			// The status is complete even if it does not fit in one line of the protocol.
			var st swarm.Status
			if serr == nil {
				serr = json.Unmarshal([]byte(out), &st)
			}
			if len(st.Agents) != times {
				serr = errors.Join(serr, fmt.Errorf("the status contains %d agents, not %d", len(st.Agents), times))
			}
			ferr = errors.Join(ferr, serr)
			c, cerr := a.count(ctx)
			c.Injected = times
			c.remark("status took %.0f ms", 1000*answered.Seconds())
			c.remark("ready after %.1f s, all done after %.0f s; then %v", ready.Seconds(), time.Since(began).Seconds(), f)
			return c, errors.Join(err, ferr, cerr)
		})
	},
}

// bigMailbox puts a very large number of messages in one mailbox. The agent works on some
// of them in order, and none of the others is lost.
var bigMailbox = fault{
	name: "100,000 wait in one box", what: "worked on in order for a while, then halted; all is there",
	full: 100_000, short: 5_000, alone: true, rare: true,
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		spec := arenaSpec{agents: 1, disk: 2048, files: 4*times + 30_000}
		return inArenas(ctx, r, 1, times, spec, func(ctx context.Context, a *arena, times int) (counts, error) {
			if err := a.send(ctx, traffic{messages: times, senders: 8, library: true, script: func(n int) string { return fmt.Sprintf("@say did %d", n) }}); err != nil {
				return counts{}, err
			}
			began := time.Now()
			if err := a.start(ctx); err != nil {
				return counts{}, err
			}
			enough := min(times/5, 300)
			a.halted = true
			err := until(ctx, "the first turn", func() bool { return a.finished() > 0 })
			first := time.Since(began)
			if err == nil {
				err = a.await(ctx, "messages are done", enough, a.finished)
			}
			f, ferr := a.figures(ctx)
			err = errors.Join(err, ferr, a.store.Halt("torture"), a.stop(ctx))
			c, cerr := a.halt(ctx)
			c.Injected = times
			c.remark("first turn %.0f ms after the start; after %d turns %v", 1000*first.Seconds(), a.finished(), f)
			return c, errors.Join(err, cerr)
		})
	},
}
