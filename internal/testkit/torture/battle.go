//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// inArenas injects a fault into several arenas at the same time. The given number of
// injections is divided equally among the arenas.
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

// addUp combines identical notes into one line that begins with their count.
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

// A battle is message traffic during which a fault strikes.
type battle struct {
	traffic traffic // messages of the battle; more are sent until the last strike
	backlog int     // maximum number of waiting messages; 0 means 40
	calm    int     // maximum pause before a strike, in milliseconds; 0 means 250
	alone   bool    // the agents must continue without a simulated person
	strike  func(ctx context.Context, c *counts) error
	after   func(ctx context.Context) error // called when all messages are done, before the daemon is stopped; may be nil
}

// fight starts the daemon, strikes the given number of times, and counts the outcomes.
func (a *arena) fight(ctx context.Context, times int, b battle) (counts, error) {
	if err := a.start(ctx); err != nil {
		return counts{}, err
	}
	var c counts
	err := a.untilSettled(ctx, times, b, &c)
	if err == nil && b.after != nil {
		err = b.after(ctx)
	}
	got, cerr := a.count(ctx)
	got.add(c)
	return got, errors.Join(err, cerr)
}

// untilSettled strikes and then waits until all messages are done or given up. The
// simulated person acts until the end, because the breaker may open even after the last
// strike, and the messages behind it would then wait forever.
func (a *arena) untilSettled(ctx context.Context, times int, b battle, c *counts) error {
	ctx, cancel := context.WithCancel(ctx)
	var person sync.WaitGroup
	defer person.Wait()
	defer cancel()
	if !b.alone {
		person.Go(func() { a.mind(ctx) })
	}
	if err := a.underFire(ctx, times, b, c); err != nil {
		return err
	}
	return a.settle(ctx)
}

func (a *arena) underFire(ctx context.Context, times int, b battle, c *counts) error {
	ctx, cancel := context.WithCancel(ctx)
	var others sync.WaitGroup
	defer others.Wait()
	defer cancel()
	t := b.traffic
	t.senders = cmp.Or(t.senders, 4)
	enough := make(chan struct{})
	t.enough = enough
	var struck atomic.Int64
	rest := t.rest
	t.rest = func(ctx context.Context) error {
		// The senders stay slightly ahead of the work, because every strike needs
		// something to hit, but there should not be many more messages than requested.
		for {
			ahead := cmp.Or(b.backlog, 40)
			if t.messages > 0 && a.accepted() > t.messages*int(struck.Load()+1)/times {
				ahead = min(ahead, 12)
			}
			if a.accepted()-a.finished() <= ahead {
				break
			}
			if err := pause(ctx, 20*time.Millisecond); err != nil {
				return err
			}
		}
		if rest != nil {
			return rest(ctx)
		}
		return nil
	}
	sent := make(chan error, 1)
	others.Go(func() { sent <- a.send(ctx, t) })
	for range times {
		if err := pause(ctx, time.Duration(rand.IntN(cmp.Or(b.calm, 250)))*time.Millisecond); err != nil {
			return err
		}
		if err := b.strike(ctx, c); err != nil {
			return err
		}
		c.Injected++
		struck.Add(1)
	}
	close(enough)
	return <-sent
}

// mind simulates a person. It restarts agents that the breaker has stopped, and makes
// agents that wait after a failure retry immediately.
func (a *arena) mind(ctx context.Context) {
	for pause(ctx, 300*time.Millisecond) == nil {
		c, err := a.dial(ctx)
		if err != nil {
			continue // the daemon may have just been killed
		}
		if st, err := c.Status(ctx); err == nil {
			for _, ag := range st.Agents {
				switch ag.State {
				case swarm.Stopped:
					_ = c.Start(ctx, ag.Name, "lead") // ignore the error, because mind will retry soon
				case swarm.Backoff:
					_ = c.Resume(ctx, ag.Name, "lead")
				}
			}
		}
		c.Close()
	}
}
