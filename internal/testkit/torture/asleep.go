//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// asleep suspends the daemon temporarily, as closing a laptop does. During this time,
// clients exit and mail arrives; the daemon detects both only when it continues.
var asleep = fault{
	name: "daemon asleep", what: "SIGSTOP for up to three seconds, then SIGCONT",
	full: 40, short: 4, rare: true,
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		return inArenas(ctx, r, min(4, times), times, arenaSpec{agents: 4}, func(ctx context.Context, a *arena, times int) (counts, error) {
			c, err := a.fight(ctx, times, battle{alone: true, strike: func(ctx context.Context, c *counts) error {
				return nap(ctx, a, daemonRole, time.Duration(rand.IntN(3000))*time.Millisecond)
			}})
			return c, errors.Join(err, a.onlyGoodEnds())
		})
	},
}

// drowsy suspends clients briefly. Every turn continues and ends successfully.
var drowsy = fault{
	name: "client asleep", what: "SIGSTOP for up to half a second, then SIGCONT; no turn fails",
	full: 60, short: 6, rare: true,
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		return inArenas(ctx, r, min(3, times), times, arenaSpec{agents: 4}, func(ctx context.Context, a *arena, times int) (counts, error) {
			c, err := a.fight(ctx, times, battle{alone: true, strike: func(ctx context.Context, c *counts) error {
				return nap(ctx, a, clientRole, time.Duration(rand.IntN(500))*time.Millisecond)
			}})
			return c, errors.Join(err, a.onlyGoodEnds())
		})
	},
}

// stalled suspends clients permanently. The daemon detects this and ends the turn,
// although the client reacts only to SIGKILL. The next client works on the message.
var stalled = fault{
	name: "client never wakes", what: "SIGSTOP for good; the turn is terminated, and its message is done later",
	full: 3, short: 1, rare: true,
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		spec := arenaSpec{agents: 2, defaults: "  stall_timeout: 1s\n"}
		return inArenas(ctx, r, times, times, spec, func(ctx context.Context, a *arena, times int) (counts, error) {
			var stopped string
			// The messages run no commands, because a client that waits for a command is
			// not stalled.
			talk := traffic{messages: 10, script: func(n int) string { return fmt.Sprintf("@sleep 500ms\n@say did %d", n) }}
			c, err := a.fight(ctx, times, battle{traffic: talk, strike: func(ctx context.Context, c *counts) error {
				return until(ctx, "a client in the middle of its turn", func() bool {
					p, err := (&killer{a: a}).find(ctx, clientRole)
					if err != nil {
						return false
					}
					stopped = p.turn
					p.signal(syscall.SIGSTOP)
					said, err := os.ReadFile(a.own().Stream(p.turn))
					if err == nil && bytes.Contains(said, []byte(`"init"`)) && !bytes.Contains(said, []byte(`"result"`)) {
						return true
					}
					p.signal(syscall.SIGCONT)
					return false
				})
			}})
			ends, lerr := a.badEnds()
			if err = errors.Join(err, lerr); err == nil && (len(ends) != 1 || ends[0].Turn != stopped || ends[0].Outcome != "stalled") {
				err = fmt.Errorf("turn %s was stopped; what ended badly is %v", stopped, ends)
			}
			return c, err
		})
	},
}

// nap suspends a process with role r for d. If the process ends first, nap has no effect.
func nap(ctx context.Context, a *arena, r role, d time.Duration) error {
	p, err := (&killer{a: a}).find(ctx, r)
	if err != nil {
		return err
	}
	p.signal(syscall.SIGSTOP)
	err = pause(ctx, d)
	p.signal(syscall.SIGCONT)
	return err
}

// badEnds returns the attempts in the ledger that did not end successfully. It ignores
// attempts whose client was killed before it had written its session.
func (a *arena) badEnds() ([]journal.LedgerLine, error) {
	var bad []journal.LedgerLine
	err := journal.ReadLedger(a.own().Ledger(), func(l journal.LedgerLine) bool {
		if l.Outcome != "done" && l.Outcome != "no-session" {
			bad = append(bad, l)
		}
		return true
	})
	return bad, err
}

// onlyGoodEnds returns an error if any attempt did not end successfully.
func (a *arena) onlyGoodEnds() error {
	bad, err := a.badEnds()
	if err != nil || len(bad) == 0 {
		return err
	}
	var lines []string
	for _, l := range bad {
		lines = append(lines, fmt.Sprintf("turn %s of %s: %s, %s", l.Turn, l.Agent, l.Outcome, l.Reason))
	}
	return fmt.Errorf("%d turns ended badly:\n%s", len(bad), strings.Join(lines, "\n"))
}
