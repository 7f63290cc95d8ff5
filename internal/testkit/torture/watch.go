//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// burst suspends the daemon and delivers more messages than the inotify queue can hold.
// About one in a thousand is a task. The tasks must be answered within [patience], and a
// remark reports how long this took. The others are notes, which are either read with a
// task or stay in the mailbox.
var burst = fault{
	name: "renames at once", what: "deliveries while the daemon sleeps, far more than a watch can queue",
	full: 100_000, short: 20_000, alone: true, rare: true,
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		a, err := r.newArena(ctx, arenaSpec{agents: 4, disk: 2048, files: 4*times + 30_000})
		if err != nil {
			return counts{}, err
		}
		c, err := func() (counts, error) {
			if err := a.start(ctx); err != nil {
				return counts{}, err
			}
			daemons := a.of(daemonRole)
			if len(daemons) != 1 {
				return counts{}, fmt.Errorf("%d daemons run", len(daemons))
			}
			daemons[0].signal(syscall.SIGSTOP)
			tasks := times / 1000
			err := errors.Join(
				a.send(ctx, traffic{messages: times - tasks, senders: 8, note: true, library: true}),
				a.send(ctx, traffic{messages: tasks, senders: 4}))
			daemons[0].signal(syscall.SIGCONT)
			woke := time.Now()
			if err == nil {
				err = a.settleTasks(ctx)
			}
			c, cerr := a.halt(ctx)
			c.Injected = times
			c.remark("the %d tasks among them were done %.1f s after it woke", tasks, time.Since(woke).Seconds())
			return c, errors.Join(err, cerr)
		}()
		return c, errors.Join(err, a.close())
	},
}

// fewWatches allows the daemon either no inotify watches or too few, so it scans every
// 30 s instead. The status must say so.
var fewWatches = fault{
	name: "no watches left", what: "max_inotify_instances or max_inotify_watches reached: looks every 30 s, and says so",
	full: 4, short: 2, alone: true, rare: true,
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		even := rand.IntN(2)
		limits := []string{"max_inotify_instances", "max_inotify_watches"}
		most := map[string]int{"max_inotify_instances": 0, "max_inotify_watches": 4}
		return inArenas(ctx, r, times, times, arenaSpec{agents: 3}, func(ctx context.Context, a *arena, times int) (counts, error) {
			id, err := strconv.Atoi(filepath.Base(filepath.Dir(a.dir)))
			if err != nil {
				return counts{}, err
			}
			limit := limits[(id+even)%2]
			// The limits apply to a user namespace, so this daemon gets a new one.
			a.starter = []string{"unshare", "--user", "--map-root-user", "sh", "-c",
				fmt.Sprintf(`echo %d >/proc/sys/user/%s && exec "$0" "$@"`, most[limit], limit)}
			c, err := a.fight(ctx, 1, battle{traffic: traffic{messages: 30}, alone: true, strike: func(ctx context.Context, c *counts) error {
				c.remark("%s was %d", limit, most[limit])
				return a.says(ctx, "cannot be watched")
			}})
			return c, err
		})
	},
}

// settleTasks waits until every accepted task has been answered.
func (a *arena) settleTasks(ctx context.Context) error {
	tasks := 0
	for _, j := range a.sent() {
		if j.err == nil && !j.note {
			tasks++
		}
	}
	return a.await(ctx, "tasks are answered", tasks, func() int {
		names, err := os.ReadDir(filepath.Join(a.box("lead"), "new"))
		if err != nil {
			return 0
		}
		return len(names)
	})
}
