package dropbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// The test binary also serves as the program that is killed.
func TestMain(m *testing.M) {
	if os.Getenv("DROPBOX_HELPER") == "" {
		os.Exit(m.Run())
	}
	if err := helperMain(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// programs lists the programs, in addition to those in lives, that the test binary can
// run as.
var programs = map[string]func(dir string, args []string) error{
	"deliver": func(dir string, args []string) error {
		s, err := dropbox.Open(dir, dropbox.Options{})
		if err != nil {
			return err
		}
		d, err := s.Deliver("coder", keyed(args[0]))
		fmt.Println(d.ID)
		return err
	},
	"lock": func(dir string, _ []string) error {
		s, err := dropbox.Open(dir, dropbox.Options{})
		if err != nil {
			return err
		}
		if _, err := s.Lock(); err != nil {
			return err
		}
		fmt.Println("locked")
		_, err = os.Stdin.Read(make([]byte, 1)) // until killed
		return err
	},
}

func helperMain(verb, dir string, args []string) error {
	if run := programs[verb]; run != nil {
		return run(dir, args)
	}
	// A life is a program that the test kills before its n-th step.
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	s, err := dropbox.Open(dir, dropbox.Options{Step: func(dropbox.Step) error {
		if n--; n == 0 {
			return errors.Join(syscall.Kill(os.Getpid(), syscall.SIGKILL), errors.New("still alive"))
		}
		return nil
	}})
	if err != nil {
		return err
	}
	return lives[verb](s)
}

// lives contains the sequences of calls that the helper process makes on the mailbox
// "coder", which contains at most one message.
var lives = map[string]func(*dropbox.Store) error{
	"send": func(s *dropbox.Store) error {
		_, err := s.Deliver("coder", keyed("k"))
		return err
	},
	"work": func(s *dropbox.Store) error { // the steps of a daemon, which are the same after a crash
		b, err := s.Mailbox("coder")
		if err != nil {
			return err
		}
		return work(b)
	},
	"giveup": func(s *dropbox.Store) error {
		b, err := s.Mailbox("coder")
		if err != nil {
			return err
		}
		if cut, err := b.Reasons(); err != nil {
			return err
		} else if len(cut) > 0 {
			return b.GiveUp(cut[0], "another reason")
		}
		if err := putAllBack(b); err != nil {
			return err
		}
		entries, err := b.List()
		if err != nil || len(entries) == 0 {
			return err
		}
		c, err := b.Claim(entries[0])
		if err != nil {
			return err
		}
		return b.GiveUp(c.Entry, "the reason")
	},
	"take in": func(s *dropbox.Store) error {
		b, err := s.Mailbox("coder")
		if err != nil {
			return err
		}
		strays, err := b.Drops().List()
		if err != nil || len(strays) == 0 {
			return err
		}
		_, err = b.Drops().TakeIn(strays[0], dropbox.Defaults{From: "lead"})
		return err
	},
}

// work acts like a daemon: it completes operations that a crash interrupted, and puts
// claimed messages back. Then it claims, commits and finishes the waiting messages.
func work(b *dropbox.Mailbox) error {
	committed, err := b.Receipts()
	if err != nil {
		return err
	}
	for _, e := range committed {
		if err := b.Finish(e); err != nil {
			return err
		}
	}
	if err := putAllBack(b); err != nil {
		return err
	}
	entries, err := b.List()
	if err != nil {
		return err
	}
	for _, e := range entries {
		c, err := b.Claim(e)
		if err != nil {
			return err
		}
		if has, err := b.HasReceipt(c.Entry); err != nil {
			return err
		} else if has {
			return errors.New("a message with a receipt came back")
		}
		if err := b.Commit(c.Entry, []byte("receipt\n")); err != nil {
			return err
		}
		if err := b.Finish(c.Entry); err != nil {
			return err
		}
	}
	return nil
}

func putAllBack(b *dropbox.Mailbox) error {
	claimed, err := b.Claimed()
	if err != nil {
		return err
	}
	for _, e := range claimed {
		if _, err := b.PutBack(e, false); err != nil {
			return err
		}
	}
	return nil
}

// Each life is killed with SIGKILL before each of its steps. A second process runs the life
// again and is killed before its third step; the test itself then completes the life. No
// message is lost or duplicated.
func TestKilledBetweenTheSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for verb, test := range map[string]struct {
		prepare func(*testing.T, *dropbox.Store)
		state   dropbox.State
		beside  string // the suffix of the file that must be beside the message at the end
	}{
		"send":    {nil, dropbox.Waiting, ""},
		"work":    {func(t *testing.T, s *dropbox.Store) { deliver(t, s, "coder", text("x")) }, dropbox.Done, ".receipt.yaml"},
		"giveup":  {func(t *testing.T, s *dropbox.Store) { deliver(t, s, "coder", text("x")) }, dropbox.Dead, ".reason.txt"},
		"take in": {func(t *testing.T, s *dropbox.Store) { drop(t, s, "coder", "plan.md", "do it") }, dropbox.Waiting, ""},
	} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			for n, killed := 1, true; killed; n++ {
				s := newStore(t, dropbox.Options{}, "coder")
				if test.prepare != nil {
					test.prepare(t, s)
				}
				killed = runKilled(t, verb, s.Dir(), n)
				if !killed && n < 4 {
					t.Fatalf("only %d steps", n-1)
				}
				runKilled(t, verb, s.Dir(), 3)
				for range 2 { // once more than necessary
					if err := lives[verb](s); err != nil {
						t.Fatalf("killed before step %d, then: %v", n, err)
					}
				}
				var found []dropbox.Found
				for f, err := range s.All() {
					if err != nil {
						t.Fatal(err)
					}
					found = append(found, f)
				}
				if len(found) != 1 || found[0].State != test.state {
					t.Fatalf("killed before step %d: in the end there is %+v, want one that is %s", n, found, test.state)
				}
				if m, err := s.Load(found[0]); err != nil || len(m.Body) == 0 {
					t.Errorf("killed before step %d: %+v, %v", n, m, err)
				}
				if test.beside != "" {
					beside := filepath.Join(s.Dir(), filepath.Dir(found[0].Path), found[0].Entry.Base()+test.beside)
					if _, err := os.Stat(beside); err != nil {
						t.Errorf("killed before step %d: %v", n, err)
					}
				}
				for _, name := range []string{"cur", ""} {
					left, err := os.ReadDir(filepath.Join(s.Dir(), "coder", name))
					left = slices.DeleteFunc(left, os.DirEntry.IsDir)
					if err != nil || len(left) > 0 {
						t.Errorf("killed before step %d: left in coder/%s: %v, %v", n, name, left, err)
					}
				}
			}
		})
	}
}

// runKilled runs the helper process and reports whether it was killed before it exited.
func runKilled(t *testing.T, verb, dir string, n int) bool {
	t.Helper()
	out, err := helper(verb, dir, strconv.Itoa(n)).CombinedOutput()
	if err == nil {
		return false
	}
	var exit interface{ Sys() any }
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("helper %s: %v: %s", verb, err, out)
	}
	return true
}

// Eight writers deliver messages, each through a separate Store, while one reader claims
// them. Every message arrives once, and each writer's messages arrive in order.
func TestManyWriters(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const writers, each = 8, 50
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	errs := make(chan error, writers)
	for w := range writers {
		go func() { // its result is received below
			own, err := dropbox.Open(s.Dir(), dropbox.Options{})
			if err != nil {
				errs <- err
				return
			}
			defer own.Close()
			for i := range each {
				if _, err := own.Deliver("coder", text("%d %d", w, i)); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	next := make(map[int]int)
	take := func() {
		for _, e := range list(t, b) {
			c := claim(t, b, e)
			var w, i int
			if _, err := fmt.Sscan(string(c.Message.Body), &w, &i); err != nil || next[w] != i {
				t.Errorf("writer %d: message %d came, want %d (%v)", w, i, next[w], err)
			}
			next[w]++
			if err := errors.Join(b.Commit(c.Entry, nil), b.Finish(c.Entry)); err != nil {
				t.Error(err)
			}
		}
	}
	for done := 0; done < writers; {
		take()
		select {
		case err := <-errs:
			if err != nil {
				t.Error(err)
			}
			done++
		default:
		}
	}
	take()
	for w := range writers {
		if next[w] != each {
			t.Errorf("writer %d: %d messages, want %d", w, next[w], each)
		}
	}
}

// Any change to the disk can fail, and each failure is reported.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for n := 1; n < 40; n++ {
		s := newStore(t, dropbox.Options{}, "coder")
		steps := 0
		full := reopen(t, s.Dir(), dropbox.Options{Step: func(dropbox.Step) error {
			if steps++; steps == n {
				return errors.New("no space left")
			}
			return nil
		}})
		b := mailbox(t, full, "coder")
		_, err := full.Deliver("coder", keyed("k"))
		if err == nil {
			if entries, listErr := b.List(); listErr == nil && len(entries) == 1 {
				var c *dropbox.Claim
				if c, err = b.Claim(entries[0]); err == nil {
					err = errors.Join(b.Commit(c.Entry, []byte("r")), b.Finish(c.Entry))
				}
			}
		}
		if steps < n {
			if n < 15 {
				t.Errorf("only %d steps", n-1)
			}
			return
		}
		if err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("step %d failed, and no call returned its error: %v", n, err)
		}
	}
}
