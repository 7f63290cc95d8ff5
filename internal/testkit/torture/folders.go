//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// folders changes the mailbox folders in ways that people and programs might: it deletes
// them, moves them away and back, replaces them with symlinks, and mounts file systems
// on them. Messages may be refused during this time; their senders then retry.
var folders = fault{
	name: "folders moved, deleted", what: "deleted, moved away and back, a symlink or a mount in their place",
	full: 50, short: 5, alone: true,
	inject: func(ctx context.Context, r *rig, times int) (counts, error) {
		return inArenas(ctx, r, min(5, times), times, arenaSpec{agents: 3}, func(ctx context.Context, a *arena, times int) (counts, error) {
			m := &mover{a: a, next: rand.IntN(5)}
			c, err := a.fight(ctx, times, battle{traffic: traffic{keyed: true, senders: 3}, backlog: 20, alone: true, strike: m.strike, after: a.calm})
			// A wrong order is not an error here, because the daemon cannot know that
			// hidden mail is older.
			if c.Disorder > 0 {
				c.remark("%d messages were worked on after later ones, since they were out of sight", c.Disorder)
				c.Disorder, c.Evidence = 0, slices.DeleteFunc(c.Evidence, func(e string) bool { return strings.HasPrefix(e, "out of order") })
			}
			if !c.clean() || err != nil {
				c.remark("the folders were changed in this order: %s", strings.Join(m.struck, "; "))
			}
			return c, err
		})
	},
}

// A mover changes the folders of one arena. The strikes cycle through five kinds of
// change.
type mover struct {
	a      *arena
	next   int
	struck []string // the changes so far
}

func (m *mover) strike(ctx context.Context, c *counts) error {
	name := m.a.agents[rand.IntN(len(m.a.agents))]
	m.next++
	what, err := "", error(nil)
	switch m.next % 5 {
	case 0:
		what, err = "delete a folder", m.deletes(ctx, name)
	case 1:
		what, err = "move all mailboxes", m.movesAll(ctx)
	case 2:
		what, err = "move the mailbox", m.quietly(ctx, name, func() error { return m.movesOne(ctx, name) })
	case 3:
		what, err = "put a symlink in place of new/", m.quietly(ctx, name, func() error { return m.links(ctx, name) })
	default:
		what, err = "mount over new/", m.mounts(ctx, name)
	}
	m.struck = append(m.struck, what+" of "+name)
	if err != nil {
		return fmt.Errorf("%s of %s: %w", what, name, err)
	}
	return nil
}

// away waits for a random time, during which a folder is not in its place.
func away(ctx context.Context) error {
	return pause(ctx, time.Duration(rand.IntN(1500))*time.Millisecond)
}

// deletes deletes an empty mailbox folder, even while it is in use.
func (m *mover) deletes(ctx context.Context, name string) error {
	// Several folders are tried, because new/ may contain low-priority mail the whole
	// time.
	return until(ctx, "a folder of "+name+" that is empty", func() bool {
		folder := []string{"new", "cur", "tmp", "dead", "work"}[rand.IntN(5)]
		return syscall.Rmdir(filepath.Join(m.a.box(name), folder)) == nil
	})
}

// movesAll moves all mailboxes away and back.
func (m *mover) movesAll(ctx context.Context) error {
	to := m.a.mail() + "-away"
	if err := os.Rename(m.a.mail(), to); err != nil {
		return err
	}
	return errors.Join(away(ctx), os.Rename(to, m.a.mail()))
}

// quietly changes a mailbox while its agent is paused and has no running turn, so no file
// of a running turn is moved.
func (m *mover) quietly(ctx context.Context, name string, do func() error) error {
	if _, err := m.a.swarm(ctx, "pause", name); err != nil {
		return err
	}
	err := until(ctx, name+" is paused", func() bool {
		st, err := m.a.status(ctx)
		for _, ag := range st.Agents {
			if ag.Name == name {
				return err == nil && ag.State == swarm.Paused
			}
		}
		return false
	})
	if err == nil {
		err = do()
	}
	_, rerr := m.a.swarm(ctx, "resume", name)
	return errors.Join(err, rerr)
}

// movesOne moves a mailbox away and back. If another mailbox with that name has been
// created in the meantime, movesOne merges the two. It does so between two deliveries: a
// delivery keeps the folders open in which it began, so it may put its message into one of
// the old folders after merge has read it, and that message would be removed with it.
func (m *mover) movesOne(ctx context.Context, name string) error {
	at, to := m.a.box(name), filepath.Join(filepath.Dir(m.a.dir), "away-"+name)
	if err := os.Rename(at, to); err != nil {
		return err
	}
	err := away(ctx)
	rerr := os.Rename(to, at)
	if errors.Is(rerr, os.ErrExist) || errors.Is(rerr, syscall.ENOTEMPTY) {
		rerr = m.a.betweenDeliveries(func() error { return errors.Join(merge(to, at), removeFolders(to)) })
	}
	return errors.Join(err, rerr)
}

// betweenDeliveries calls f while no message is being delivered.
func (a *arena) betweenDeliveries(f func() error) error {
	a.delivering.Lock()
	defer a.delivering.Unlock()
	return f()
}

// removeFolders removes a folder that contains only folders.
func removeFolders(dir string) error {
	var folders []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		folders = append(folders, path)
		return err
	})
	for _, folder := range slices.Backward(folders) {
		err = errors.Join(err, os.Remove(folder))
	}
	return err
}

// merge moves every file below a folder to the same relative path below another.
func merge(from, to string) error {
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		return os.Rename(path, filepath.Join(to, rel))
	})
}

// links replaces new/ with a symlink to another folder. No program may follow the
// symlink, so the waiting mail is hidden, and nothing may be written to the other folder.
// The daemon may move the symlink aside and recreate new/, in which case links merges the
// two folders.
func (m *mover) links(ctx context.Context, name string) error {
	at := filepath.Join(m.a.box(name), "new")
	// Both are outside the mailbox, because a folder in it would count as a drop.
	aside, other := filepath.Join(filepath.Dir(m.a.dir), "aside-"+name), filepath.Join(filepath.Dir(m.a.dir), "other-"+name)
	if err := errors.Join(os.MkdirAll(other, 0o700), os.Symlink(other, aside), swap(at, aside)); err != nil {
		return err
	}
	err := away(ctx)
	if is, lerr := os.Lstat(at); lerr == nil && is.Mode()&os.ModeSymlink != 0 {
		err = errors.Join(err, swap(at, aside))
	}
	// The entry at aside is either the symlink or a new/ to which another process may be
	// writing.
	rerr := os.Remove(aside)
	for errors.Is(rerr, syscall.ENOTEMPTY) {
		if merr := merge(aside, at); merr != nil {
			return errors.Join(err, merr)
		}
		rerr = os.Remove(aside)
	}
	err = errors.Join(err, rerr)
	if wrong, rerr := os.ReadDir(other); rerr != nil || len(wrong) > 0 {
		err = errors.Join(err, rerr, fmt.Errorf("%d files went through the symlink", len(wrong)))
	}
	return err
}

// swap exchanges two names atomically. Both names always exist, so no program can create a
// file under either of them.
func swap(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// mounts mounts another file system on new/ and later unmounts it.
func (m *mover) mounts(ctx context.Context, name string) error {
	at := filepath.Join(m.a.box(name), "new")
	if err := unix.Mount("torture", at, "tmpfs", 0, "size=1m"); err != nil {
		return err
	}
	err := away(ctx)
	if wrong, rerr := os.ReadDir(at); rerr != nil || len(wrong) > 0 {
		err = errors.Join(err, rerr, fmt.Errorf("%d messages went to the file system on top", len(wrong)))
	}
	return errors.Join(err, unix.Unmount(at, unix.MNT_DETACH))
}
