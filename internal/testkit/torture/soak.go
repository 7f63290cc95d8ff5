//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"
)

// soak injects a fault about every second for a given time. None of these faults ends the
// daemon. The same daemon must still be running at the end, and its resource usage must
// not have grown.
var soak = fault{
	name: "soak", what: "killed and sleeping clients, pauses, a sleeping daemon; at the end it uses no more than at the beginning",
	full: 1, short: 1, rare: true,
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		a, err := r.newArena(ctx, arenaSpec{agents: 6})
		if err != nil {
			return counts{}, err
		}
		s := &soaker{a: a, until: time.Now().Add(r.soak)}
		c, err := a.fight(ctx, times, battle{strike: s.strike, after: s.compare})
		c.Injected = s.faults
		c.remark("%d faults in %v; status %v at first, %v at the end", s.faults, r.soak, s.median(s.first), s.median(s.last))
		c.remark("at first %v", s.before)
		c.remark("at the end %v", s.now)
		return c, errors.Join(err, a.close())
	},
}

// A soaker strikes one arena until a given time.
type soaker struct {
	a           *arena
	until       time.Time
	faults      int
	before, now figures
	first, last []time.Duration // how long each status request took
}

// strike runs the entire soak. The first fifth of the time is the warm-up.
func (s *soaker) strike(ctx context.Context, c *counts) error {
	began := time.Now()
	warm := began.Add(time.Until(s.until) / 5)
	daemon, err := (&killer{a: s.a}).find(ctx, daemonRole)
	if err != nil {
		return err
	}
	for time.Now().Before(s.until) {
		if err := s.one(ctx); err != nil {
			return err
		}
		s.faults++
		asked := time.Now()
		if _, err := s.a.status(ctx); err != nil {
			return fmt.Errorf("status: %w", err)
		}
		took := time.Since(asked)
		if time.Now().Before(warm) {
			s.first = append(s.first, took)
		} else if s.last = append(s.last, took); len(s.last) > len(s.first)+5 {
			s.last = s.last[1:]
		}
		if s.before == (figures{}) && time.Now().After(warm) {
			if s.before, err = s.a.figures(ctx); err != nil {
				return err
			}
		}
		if err := pause(ctx, time.Duration(rand.IntN(1500))*time.Millisecond); err != nil {
			return err
		}
	}
	if still := s.a.of(daemonRole); len(still) != 1 || still[0].pid != daemon.pid {
		return fmt.Errorf("the daemon %d is not the one at the end: %v", daemon.pid, still)
	}
	return nil
}

// one injects one fault.
func (s *soaker) one(ctx context.Context) error {
	k := &killer{a: s.a}
	name := s.a.agents[rand.IntN(len(s.a.agents))]
	switch rand.IntN(5) {
	case 0:
		return k.one(ctx, &counts{}, clientRole)
	case 1:
		return k.one(ctx, &counts{}, childRole)
	case 2:
		return nap(ctx, s.a, clientRole, 300*time.Millisecond)
	case 3:
		p, err := k.find(ctx, daemonRole)
		if err != nil {
			return err
		}
		p.signal(syscall.SIGSTOP)
		err = pause(ctx, time.Second)
		p.signal(syscall.SIGCONT)
		return err
	}
	if _, err := s.a.swarm(ctx, "pause", name); err != nil {
		return err
	}
	err := pause(ctx, 200*time.Millisecond)
	_, rerr := s.a.swarm(ctx, "resume", name)
	return errors.Join(err, rerr)
}

// enoughStatuses is the minimum number of timed status requests, at the start and again
// at the end, that a comparison needs.
const enoughStatuses = 5

// compare compares the daemon's resource usage at the end with that at the start.
func (s *soaker) compare(ctx context.Context) error {
	var err error
	if s.now, err = s.a.figures(ctx); err != nil {
		return err
	}
	// If the machine does other work, a status request can take twice as long, and a
	// single one can take much longer, so a short soak does not check these times.
	first, last := s.median(s.first), s.median(s.last)
	if min(len(s.first), len(s.last)) >= enoughStatuses && last > 10*first+100*time.Millisecond {
		err = fmt.Errorf("a status took %v at first and %v at the end", first, last)
	}
	return errors.Join(err, notGrown(s.before, s.now))
}

// median returns the median of some durations.
func (s *soaker) median(of []time.Duration) time.Duration {
	if len(of) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(of))[len(of)/2].Round(100 * time.Microsecond)
}
