//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// fewFiles temporarily limits the daemon to between one and three more open files than it
// has when no turn is running.
var fewFiles = fault{
	name: "too many open files", what: "the daemon may open no more than it needs when idle",
	full: 16, short: 2, rare: true,
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		return inArenas(ctx, r, min(4, times), times, arenaSpec{agents: 3}, func(ctx context.Context, a *arena, times int) (counts, error) {
			var give func() error
			return a.starve(ctx, times, scarcity{
				word: "too many open files",
				take: func() (err error) {
					daemons := a.of(daemonRole)
					if len(daemons) != 1 {
						return fmt.Errorf("%d daemons run", len(daemons))
					}
					give, err = limitFiles(daemons[0].pid, 1+rand.IntN(3))
					return err
				},
				give: func() error { return give() },
			})
		})
	},
}

// limitFiles sets a daemon's limit on open files to more plus the number that it has open
// when no turn is running.
func limitFiles(pid, more int) (restore func() error, err error) {
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		return nil, err
	}
	idle := 0
	for _, link := range links {
		target, err := os.Readlink(link)
		if err == nil && !strings.HasPrefix(target, "pipe:") && !strings.Contains(target, "pidfd") && !strings.Contains(target, "/turns/") {
			idle++
		}
	}
	var old unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &old); err != nil {
		return nil, err
	}
	less := old
	less.Cur = uint64(idle + more)
	restore = func() error { return unix.Prlimit(pid, unix.RLIMIT_NOFILE, &old, nil) }
	return restore, unix.Prlimit(pid, unix.RLIMIT_NOFILE, &less, nil)
}

// noRights removes the daemon's permission to write to the mailboxes, as a careless chmod
// would. For this to have an effect, the daemon runs without root privileges.
var noRights = fault{
	name: "rights taken away", what: "for a while, no folder of the mailboxes can be written to",
	full: 12, short: 2, alone: true, rare: true,
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		spec := arenaSpec{agents: 3, starter: []string{"setpriv", "--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search"}}
		return inArenas(ctx, r, min(4, times), times, spec, func(ctx context.Context, a *arena, times int) (counts, error) {
			return a.starve(ctx, times, scarcity{
				word: "permission denied",
				take: func() error { return a.chmod(0o500) },
				give: func() error { return a.chmod(0o700) },
			})
		})
	},
}

// chmod sets the mode of every folder in the mailboxes.
func (a *arena) chmod(mode os.FileMode) error {
	return filepath.WalkDir(a.mail(), func(path string, d os.DirEntry, err error) error {
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil // moved in the meantime
		case err != nil:
			return err
		case d.IsDir():
			return os.Chmod(path, mode)
		}
		return nil
	})
}

// readOnly remounts the disk read-only after a crash, as a kernel does after an error,
// and later makes it writable again. While the disk is read-only, start and send fail.
var readOnly = fault{
	name: "disk read-only", what: "crash, remount read-only: start and send refuse; then writable",
	full: 12, short: 2, alone: true,
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		return inArenas(ctx, r, min(4, times), times, arenaSpec{agents: 3, disk: 64}, func(ctx context.Context, a *arena, times int) (counts, error) {
			const word = "read-only file system"
			k := &killer{a: a}
			return a.fight(ctx, times, battle{traffic: traffic{keyed: true}, strike: func(ctx context.Context, c *counts) error {
				p, err := k.find(ctx, daemonRole)
				if err != nil {
					return err
				}
				p.kill()
				if err := a.disk.remount(ctx, "ro"); err != nil {
					return err
				}
				err = errors.Join(a.refused(ctx, scarcity{word: word, more: func() error { return nil }}), wantRefused(a.start(ctx), word))
				return errors.Join(err, a.disk.remount(ctx, "rw"), k.ensureDaemon(ctx))
			}, after: a.calm})
		})
	},
}

// wantRefused returns an error unless err is a refusal that contains word and names a
// next step.
func wantRefused(err error, word string) error {
	verb, ok := errors.AsType[*verbError](err)
	if !ok || !strings.Contains(verb.text, word) || !strings.Contains(verb.text, "\n  try: ") || verb.code != 1 {
		return fmt.Errorf("not refused with %q and a next step: %w", word, err)
	}
	return nil
}

// remount remounts the volume with other options as soon as no process is writing to it.
func (v *volume) remount(ctx context.Context, how string) error {
	flags := uintptr(unix.MS_REMOUNT)
	if how == "ro" {
		flags |= unix.MS_RDONLY
	}
	var err error
	return errors.Join(until(ctx, "the disk mounted "+how, func() bool {
		err = unix.Mount("torture", v.dir, "tmpfs", flags, "")
		return !errors.Is(err, syscall.EBUSY)
	}), err)
}
