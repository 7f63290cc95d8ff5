//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// kills end processes in the middle of their work: the daemon, while it works and
// while it starts; a client; a command that a client runs; daemon and client at
// once. Each time the daemon is started again, and clients that outlive it are
// found and followed. A message whose turn had printed its result is not run again.
var kills = fault{
	name: "kill -9", what: "daemon, client, command, daemon and client, at random moments",
	full: 300, short: 30,
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		arenas := min(6, max(2, times/10))
		return inArenas(ctx, r, arenas, times, arenaSpec{agents: 4}, func(ctx context.Context, a *arena, times int) (counts, error) {
			return underFire(ctx, a, 10*times, times, (&killer{a: a}).strike)
		})
	},
}

// inArenas shares out a fault to several arenas at once.
func inArenas(ctx context.Context, r *rig, arenas, times int, spec arenaSpec, inject func(context.Context, *arena, int) (counts, error)) (counts, error) {
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		sum  counts
		errs []error
	)
	for i := range arenas {
		share := times*(i+1)/arenas - times*i/arenas
		wg.Go(func() {
			a, err := r.newArena(ctx, spec)
			var c counts
			if err == nil {
				c, err = inject(ctx, a, share)
				err = errors.Join(err, a.close())
			}
			mu.Lock()
			defer mu.Unlock()
			sum.add(c)
			errs = append(errs, err)
		})
	}
	wg.Wait()
	sum.Notes = addUp(sum.Notes)
	return sum, errors.Join(errs...)
}

// addUp makes one line of notes that differ in nothing, with their number.
func addUp(notes []string) []string {
	times := map[string]int{}
	for _, n := range notes {
		times[n]++
	}
	var out []string
	for _, n := range slices.Sorted(maps.Keys(times)) {
		if times[n] > 1 {
			n = fmt.Sprintf("%d × %s", times[n], n)
		}
		out = append(out, n)
	}
	return out
}

// underFire sends messages to an arena, strikes so many times while they are
// worked on, and counts.
func underFire(ctx context.Context, a *arena, messages, times int, strike func(context.Context, *counts) error) (counts, error) {
	if err := a.start(ctx); err != nil {
		return counts{}, err
	}
	var c counts
	err := func() error {
		ctx, cancel := context.WithCancel(ctx)
		var others sync.WaitGroup
		defer others.Wait()
		defer cancel()
		others.Go(func() { a.mind(ctx) })
		sent := make(chan error, 1)
		others.Go(func() {
			sent <- a.send(ctx, traffic{messages: messages, senders: 4, rest: func(ctx context.Context, n int) error {
				// Ahead of the work, but not by all of it: there is something to hit as long
				// as there is something to send.
				for a.accepted()-a.finished() > 40 {
					if err := pause(ctx, 20*time.Millisecond); err != nil {
						return err
					}
				}
				return nil
			}})
		})
		for range times {
			if err := pause(ctx, time.Duration(rand.IntN(250))*time.Millisecond); err != nil {
				return err
			}
			if err := strike(ctx, &c); err != nil {
				return err
			}
			c.Injected++
		}
		if err := <-sent; err != nil {
			return err
		}
		return a.settle(ctx)
	}()
	got, cerr := a.count(ctx)
	got.add(c)
	return got, errors.Join(err, cerr)
}

// mind does what a person would do: an agent that the breaker stopped is started
// again, and one that waits after a failure is told to try at once.
func (a *arena) mind(ctx context.Context) {
	for pause(ctx, 300*time.Millisecond) == nil {
		c, err := a.dial(ctx)
		if err != nil {
			continue // killed just now
		}
		if st, err := c.Status(ctx); err == nil {
			for _, ag := range st.Agents {
				switch ag.State {
				case swarm.Stopped:
					_ = c.Start(ctx, ag.Name, "lead") // tried again soon
				case swarm.Backoff:
					_ = c.Resume(ctx, ag.Name, "lead")
				}
			}
		}
		c.Close()
	}
}

// A killer kills processes of one arena.
type killer struct{ a *arena }

// strike kills one, and makes sure that a daemon runs.
func (k *killer) strike(ctx context.Context, c *counts) error {
	switch what := rand.IntN(10); {
	case what < 3:
		c.note("the daemon was killed")
		return k.daemon(ctx)
	case what < 4:
		c.note("the daemon was killed while it started")
		return k.unborn(ctx)
	case what < 6:
		return k.one(ctx, c, clientRole)
	case what < 8:
		return k.one(ctx, c, childRole)
	}
	// A client that is left alone would go on to its end.
	p, err := k.find(ctx, clientRole)
	if err != nil {
		return err
	}
	daemons := k.a.of(daemonRole)
	for _, d := range daemons {
		d.kill()
	}
	p.kill()
	c.note("the daemon and a client were killed")
	return k.again(ctx)
}

// find waits for a process of that role, and picks one.
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
	c.note("a %s was killed", r)
	return nil
}

func (k *killer) daemon(ctx context.Context) error {
	p, err := k.find(ctx, daemonRole)
	if err != nil {
		return err
	}
	p.kill()
	return k.again(ctx)
}

// unborn kills the daemon, and the next one before it is ready or soon after.
func (k *killer) unborn(ctx context.Context) error {
	for _, p := range k.a.of(daemonRole) {
		p.kill()
	}
	started := make(chan error, 1)
	go func() { started <- k.a.start(ctx) }() // read below
	err := pause(ctx, time.Duration(rand.IntN(40))*time.Millisecond)
	for _, p := range k.a.of(daemonRole) {
		p.kill()
	}
	if serr := <-started; err == nil && serr != nil && !strings.Contains(serr.Error(), "died before it was ready") {
		err = serr
	}
	return errors.Join(err, k.again(ctx))
}

// again starts the daemon, unless it lives.
func (k *killer) again(ctx context.Context) error {
	err := k.a.start(ctx)
	if err != nil && strings.Contains(err.Error(), "runs here already") {
		return nil
	}
	return err
}
