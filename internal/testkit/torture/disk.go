//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// fullDisk fills the project's disk, either with data or with files, and then empties it.
var fullDisk = fault{
	name: "disk full", what: "no room for bytes, or for names; then room again",
	full: 24, short: 4, alone: true,
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		return inArenas(ctx, r, min(4, times), times, arenaSpec{agents: 3, disk: 64}, func(ctx context.Context, a *arena, times int) (counts, error) {
			return a.starve(ctx, times, scarcity{
				word: "no space left on device",
				take: a.disk.fill,
				more: a.disk.top,
				give: a.disk.empty,
			})
		})
	},
}

// A scarcity is the temporary lack of a resource that the daemon needs.
type scarcity struct {
	word string // text that the status must contain
	take func() error
	more func() error // uses up what has become free in the meantime; nil if senders are not affected
	give func() error
}

// starve takes a resource away while agents work on messages, and then gives it back. It
// checks that the status names the problem, that a send is refused if senders are
// affected, and that the work continues automatically.
func (a *arena) starve(ctx context.Context, times int, s scarcity) (counts, error) {
	c, err := a.fight(ctx, times, battle{
		traffic: traffic{keyed: true, senders: 3}, backlog: 30, alone: true,
		strike: func(ctx context.Context, c *counts) (err error) {
			if err := a.hoard(ctx); err != nil {
				return err
			}
			if err := errors.Join(s.take(), a.store.Unhalt()); err != nil {
				return err
			}
			given := false
			give := func() error {
				if given {
					return nil
				}
				given = true
				return s.give()
			}
			defer func() { err = errors.Join(err, give()) }()
			if err := a.says(ctx, s.word); err != nil {
				return err
			}
			if s.more != nil { // senders are also affected
				if err := a.refused(ctx, s); err != nil {
					return err
				}
			}
			if err := pause(ctx, time.Duration(rand.IntN(1000))*time.Millisecond); err != nil {
				return err
			}
			if err := give(); err != nil {
				return err
			}
			return a.recovers(ctx)
		},
		after: a.calm,
	})
	return c, errors.Join(err, a.noScaffolding())
}

// hoard halts the work and lets mail accumulate, so there is work to do afterwards.
func (a *arena) hoard(ctx context.Context) error {
	if err := a.store.Halt("torture"); err != nil {
		return err
	}
	return until(ctx, "mail that waits", func() bool { return a.accepted()-a.finished() > 10 })
}

// says waits until the status shows a reason that contains word, either for a daemon problem
// or for an agent in backoff. For such an agent, the status must also show a next step.
func (a *arena) says(ctx context.Context, word string) error {
	var st swarm.Status
	var err error
	said := until(ctx, fmt.Sprintf("a status that says %q", word), func() bool {
		if st, err = a.status(ctx); err != nil {
			return false
		}
		return slices.ContainsFunc(st.Trouble, func(p swarm.Problem) bool { return strings.Contains(p.Why, word) }) ||
			slices.ContainsFunc(st.Agents, func(ag swarm.AgentStatus) bool {
				return ag.State == swarm.Backoff && strings.Contains(ag.Why, word) && ag.Next != ""
			})
	})
	if said != nil {
		return errors.Join(fmt.Errorf("%w\n%s", said, a.picture(ctx)), err)
	}
	return nil
}

// refused sends a message and checks that it is refused, with an error that contains s.word
// and names a next step. Enough space for a message may have become free, so refused uses
// it up first.
func (a *arena) refused(ctx context.Context, s scarcity) error {
	for range 50 {
		if err := s.more(); err != nil {
			return err
		}
		// A message with this number is sent by a separate process.
		j := &job{n: (a.reserve(2*everyProcess)/everyProcess+1)*everyProcess + 3, agent: a.agents[0], sender: -1}
		if j.id, j.err = a.deliver(ctx, j, traffic{}); j.err == nil {
			a.keep(j)
			continue
		}
		return wantRefused(j.err, s.word)
	}
	return errors.New("send continued without what it needs")
}

// recovers waits until the work continues automatically.
func (a *arena) recovers(ctx context.Context) error {
	was := a.finished()
	var st swarm.Status
	err := until(ctx, "work that continues", func() bool {
		var err error
		st, err = a.status(ctx)
		return err == nil && a.finished() > was+5 &&
			!slices.ContainsFunc(st.Agents, func(ag swarm.AgentStatus) bool { return ag.State == swarm.Backoff || ag.State == swarm.Stopped })
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, a.picture(ctx))
	}
	return nil
}

// calm waits until the status shows no problems. The daemon checks every 30 s whether its
// problems have been solved.
func (a *arena) calm(ctx context.Context) error {
	var st swarm.Status
	err := until(ctx, "a status without trouble", func() bool {
		var err error
		st, err = a.status(ctx)
		return err == nil && len(st.Trouble) == 0
	})
	if err != nil {
		return fmt.Errorf("%w: %v", err, st.Trouble)
	}
	return nil
}

// noScaffolding returns an error if there are leftover files from failed deliveries. No
// process was killed, so every process must have removed its files.
func (a *arena) noScaffolding() error {
	left, err := filepath.Glob(filepath.Join(a.mail(), "*", "tmp", "*"))
	if err != nil || len(left) == 0 {
		return err
	}
	return fmt.Errorf("left in tmp/: %v", left)
}
