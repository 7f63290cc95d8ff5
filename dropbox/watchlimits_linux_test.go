package dropbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func init() {
	programs["fewwatches"] = fewWatches
	programs["watchmount"] = watchMount
}

// If the system allows no more watchers or watches, the error is ErrWatches. Listing the
// folders still finds every message. Once the limit is raised, changes are reported
// again.
func TestWatchLimits(t *testing.T) {
	cmd := inNamespace(t, helper("fewwatches", t.TempDir()))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	tally(t, "watcher, limits reached", 2)
}

// setLimit sets a limit in this user namespace.
func setLimit(name string, n int) error {
	return os.WriteFile("/proc/sys/user/"+name, []byte(strconv.Itoa(n)), 0o600)
}

func fewWatches(dir string, _ []string) error {
	store := filepath.Join(dir, ".dead-drop")
	if err := dropbox.Create(store); err != nil {
		return err
	}
	s, err := dropbox.Open(store, dropbox.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.MakeMailbox("coder"); err != nil {
		return err
	}
	const plenty = 10_000
	for _, limit := range []struct {
		name string
		few  int
	}{{"max_inotify_instances", 0}, {"max_inotify_watches", 0}, {"max_inotify_watches", 2}} {
		name, few := limit.name, limit.few
		if err := setLimit(name, few); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		l, err := listen(s)
		if err != nil {
			return fmt.Errorf("%s = %d: Watch: %w", name, few, err)
		}
		missing, err := l.w.Missing()
		if missing == 0 || !errors.Is(err, dropbox.ErrWatches) || errors.Is(err, unix.ENOSPC) {
			return fmt.Errorf("%s = %d: Missing = %d, %w, want some and ErrWatches", name, few, missing, err)
		}
		again, err := l.w.Rewatch()
		if again != missing || !errors.Is(err, dropbox.ErrWatches) {
			return fmt.Errorf("%s = %d: Rewatch = %d, %w, want %d as before", name, few, again, err, missing)
		}
		d, err := s.Deliver("coder", text("found by a look"))
		if err != nil {
			return err
		}
		if err := l.see(); err != nil || !l.known[d.Name] {
			return fmt.Errorf("%s = %d: a look does not find it: %w", name, few, err)
		}
		if err := setLimit(name, plenty); err != nil {
			return err
		}
		if missing, err := l.sweep(); missing != 0 || err != nil {
			return fmt.Errorf("%s lifted: Rewatch = %d, %w", name, missing, err)
		}
		if err := errors.Join(l.sendAndHear(), l.quiet(), l.w.Close()); err != nil {
			return fmt.Errorf("%s lifted: %w", name, err)
		}
	}
	return nil
}

// No message is lost if another disk is mounted on a watched folder and then unmounted.
// No event reports the mount, but the next check detects it.
func TestWatchMount(t *testing.T) {
	cmd := inNamespace(t, helper("watchmount", t.TempDir()))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	tally(t, "watcher, another mount on top", 2)
}

func watchMount(dir string, _ []string) error {
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
		return err
	}
	store := filepath.Join(dir, ".dead-drop")
	if err := dropbox.Create(store); err != nil {
		return err
	}
	s, err := dropbox.Open(store, dropbox.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.MakeMailbox("coder"); err != nil {
		return err
	}
	l, err := listen(s)
	if err != nil {
		return err
	}
	defer l.w.Close()
	coder := filepath.Join(store, "coder")
	onTop := func() error { return unix.Mount("tmpfs", coder, "tmpfs", 0, "") }
	away := func() error { return unix.Unmount(coder, 0) }
	// The first time, the disk is unmounted before the next check. The second time, a
	// check runs while it is mounted.
	if err := l.survives(onTop, away); err != nil {
		return fmt.Errorf("mounted and taken away: %w", err)
	}
	if err := l.survives(onTop, nothing); err != nil {
		return fmt.Errorf("mounted: %w", err)
	}
	if err := l.survives(away, nothing); err != nil {
		return fmt.Errorf("taken away: %w", err)
	}
	return nil
}
