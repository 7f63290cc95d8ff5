//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A misbehaviour is a script that makes the stand-in misbehave, with the end of its turn in
// the ledger. The end is "done" if the client does the work despite the misbehavior. A
// script with @first misbehaves only in the first attempt.
type misbehaviour struct{ name, script, end string }

var misbehaviours = []misbehaviour{
	{"dies before its first event", "@first unborn", "unborn"},
	{"ends well without a result", "@first noresult", "failed"},
	{"ends badly without a result", "@say begun\n@first exit 3", "failed"},
	{"kills itself", "@say begun\n@first die", "failed"},
	{"says that it failed", "@first fail no luck", "failed"},
	{"meets a fault of the API", "@first status 500 retry-after 60", "limited"},
	{"has a message that the API refuses", "@first status 400", "failed"},
	{"reaches a usage limit", "@first limited 2s", "limited"},
	{"begins a separate turn", "@again and more", "done"},
	{"leaves a grandchild with its output", "@orphan 10m", "done"},
	{"prints rubbish", "@rubbish\n@unknown", "done"},
	{"prints 34 MB in a line", "@big 34000000", "done"},
	{"floods standard error", "@noise 30000000", "done"},
	{"fails always", "@say begun\n@exit 9", "failed"},
	{"stays after its result", "@linger 10m", "done"},
	{"stays and hears nothing", "@deaf\n@linger 10m", "done"},
	{"is silent and idle", "@say begun\n@first sleep 10m", "stalled"},
	{"closes its output", "@say begun\n@first closeout", "stalled"},
	{"is silent and deaf", "@say begun\n@first hang", "stalled"},
	{"is silent and busy", "@say begun\n@first spin", "timed-out"},
	{"never ends a call", "@first pending Task think", "timed-out"},
	{"never ends a command", "@first sh sleep 600", "timed-out"},
}

// unruly makes clients misbehave for every tenth message, each time in a different way. A
// simulated person restarts agents that the breaker has stopped. The clients that only
// turn_timeout ends have an arena of their own, in which it is short. In the others it is
// so long that it ends no turn that is only slow.
var unruly = fault{
	name: "clients that misbehave", what: "every tenth message in a different way; each is done, or given up once, and the rest in order",
	full: 3 * len(misbehaviours), short: len(misbehaviours),
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		var endless, others []misbehaviour
		for _, m := range misbehaviours {
			if m.end == "timed-out" {
				endless = append(endless, m)
			} else {
				others = append(others, m)
			}
		}
		share := times * len(endless) / len(misbehaviours)
		var (
			wg   sync.WaitGroup
			c    counts
			cerr error
		)
		wg.Go(func() { c, cerr = misbehave(ctx, r, endless, 1, share, "  stall_timeout: 3s\n  turn_timeout: 20s\n") })
		sum, err := misbehave(ctx, r, others, 3, times-share, "  max_failures: 3\n  stall_timeout: 3s\n  turn_timeout: 10m\n")
		wg.Wait()
		sum.add(c)
		return sum, errors.Join(err, cerr)
	},
}

// misbehave sends messages to a number of arenas. Every tenth message, times of them in
// all, makes the client misbehave in one of the given ways.
func misbehave(ctx context.Context, r *rig, ways []misbehaviour, arenas, times int, defaults string) (counts, error) {
	var begun atomic.Int32
	return inArenas(ctx, r, arenas, times, arenaSpec{agents: 4, defaults: defaults}, func(ctx context.Context, a *arena, times int) (counts, error) {
		// Each arena begins with a different way, so together the arenas cover all of them.
		first := int(begun.Add(1)-1) * len(ways) / arenas
		way := func(n int) misbehaviour { return ways[(first+n/10)%len(ways)] }
		talk := traffic{messages: 10 * times, script: func(n int) string {
			if n%10 != 7 {
				return shortTurn(n)
			}
			return fmt.Sprintf("%s\n@say did %d", way(n).script, n)
		}}
		c, err := a.fight(ctx, times, battle{traffic: talk, calm: 2, strike: func(context.Context, *counts) error { return nil }})
		return c, errors.Join(err, a.endedAs(func(n int) (name, end string) {
			if n%10 != 7 {
				return "", ""
			}
			return way(n).name, way(n).end
		}))
	})
}

// endedAs compares the ends of each job's turns with the end that want returns for the
// job's number. An empty end matches any end. endedAs also checks that the sender of a
// message that was given up gets at most one bounce.
func (a *arena) endedAs(want func(n int) (name, end string)) error {
	ends := map[string][]string{}
	err := journal.ReadLedger(a.own().Ledger(), func(l journal.LedgerLine) bool {
		ends[l.Message] = append(ends[l.Message], l.Outcome)
		return true
	})
	if err != nil {
		return err
	}
	_, bounces, err := a.answers()
	if err != nil {
		return err
	}
	wrong := map[string]bool{}
	for _, o := range a.sent() {
		if bounces[o.id] > 1 {
			wrong[fmt.Sprintf("the sender of job %d was told %d times that it was given up", o.n, bounces[o.id])] = true
		}
		name, end := want(o.n)
		if end == "" || o.err != nil {
			continue
		}
		if got := ends[o.id]; !slices.Contains(got, end) {
			wrong[fmt.Sprintf("a client that %s ended %s, not %s", name, strings.Join(got, ", "), end)] = true
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return errors.New(strings.Join(slices.Sorted(maps.Keys(wrong)), "\n"))
}
