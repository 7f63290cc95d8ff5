//go:build linux

package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"
)

// kills kills processes in the middle of their work: the daemon, both while it works and
// while it starts; a client; a command that a client runs; and the daemon together with a
// client. After it has killed the daemon, the fault starts a new one, which finds and
// follows the surviving clients. A message whose turn has already printed its result is
// not run again.
var kills = fault{
	name: "kill -9", what: "daemon, client, command, daemon and client, at random moments",
	full: 300, short: 12,
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		arenas := min(6, max(2, times/10))
		return inArenas(ctx, r, arenas, times, arenaSpec{agents: 4}, func(ctx context.Context, a *arena, times int) (counts, error) {
			return a.fight(ctx, times, battle{traffic: traffic{messages: 10 * times}, strike: (&killer{a: a}).strike})
		})
	},
}

// A killer kills processes in one arena.
type killer struct{ a *arena }

// strike kills a process, or the daemon together with a client. After it has killed the
// daemon, it starts a new one.
func (k *killer) strike(ctx context.Context, c *counts) error {
	switch what := rand.IntN(10); {
	case what < 3:
		c.remark("the daemon was killed")
		return k.daemon(ctx)
	case what < 4:
		c.remark("the daemon was killed while it started")
		return k.killAtStart(ctx)
	case what < 6:
		return k.one(ctx, c, clientRole)
	case what < 8:
		return k.one(ctx, c, childRole)
	}
	// The client is also killed, because without a daemon it would run to completion.
	p, err := k.find(ctx, clientRole)
	if err != nil {
		return err
	}
	daemons := k.a.of(daemonRole)
	for _, d := range daemons {
		d.kill()
	}
	p.kill()
	c.remark("the daemon and a client were killed")
	return k.ensureDaemon(ctx)
}

// find waits until there are processes with role r, and picks one at random.
func (k *killer) find(ctx context.Context, r role) (process, error) {
	var found []process
	err := until(ctx, "a "+string(r)+" to kill", func() bool {
		found = k.a.of(r)
		return len(found) > 0
	})
	if err != nil {
		return process{}, err
	}
	return found[rand.IntN(len(found))], nil
}

func (k *killer) one(ctx context.Context, c *counts, r role) error {
	p, err := k.find(ctx, r)
	if err != nil {
		return err
	}
	p.kill()
	c.remark("a %s was killed", r)
	return nil
}

func (k *killer) daemon(ctx context.Context) error {
	p, err := k.find(ctx, daemonRole)
	if err != nil {
		return err
	}
	p.kill()
	return k.ensureDaemon(ctx)
}

// killAtStart kills the daemon, and then kills the next one before it is ready or soon
// afterwards.
func (k *killer) killAtStart(ctx context.Context) error {
	for _, p := range k.a.of(daemonRole) {
		p.kill()
	}
	started := make(chan error, 1)
	go func() { started <- k.a.start(ctx) }() // read below
	err := pause(ctx, time.Duration(rand.IntN(40))*time.Millisecond)
	for _, p := range k.a.of(daemonRole) {
		p.kill()
	}
	if serr := <-started; err == nil && serr != nil && !strings.Contains(serr.Error(), "ended before it was ready") {
		err = serr
	}
	return errors.Join(err, k.ensureDaemon(ctx))
}

// ensureDaemon starts the daemon unless it is running.
func (k *killer) ensureDaemon(ctx context.Context) error {
	err := k.a.start(ctx)
	if err != nil && strings.Contains(err.Error(), "is already running here") {
		return nil
	}
	return err
}
