package dropbox_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// hostile contains functions that create files that are not messages. No call may touch
// the file secret or the folder outside.
var hostile = map[string]func(path, secret, outside string) error{
	"symlink to a file":    func(path, secret, _ string) error { return os.Symlink(secret, path) },
	"symlink to a folder":  func(path, _, outside string) error { return os.Symlink(outside, path) },
	"symlink to nothing":   func(path, _, _ string) error { return os.Symlink("/nowhere/at/all", path) },
	"symlink to itself":    func(path, _, _ string) error { return os.Symlink(filepath.Base(path), path) },
	"hard link to outside": func(path, secret, _ string) error { return os.Link(secret, path) },
	"fifo":                 func(path, _, _ string) error { return syscall.Mkfifo(path, 0o600) },
	"socket":               socketAt,
	"empty folder":         func(path, _, _ string) error { return os.Mkdir(path, 0o700) },
	"full folder": func(path, _, _ string) error {
		return errors.Join(os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, "x"), []byte("x"), 0o600))
	},
	"empty file":  func(path, _, _ string) error { return os.WriteFile(path, nil, 0o600) },
	"garbage":     func(path, _, _ string) error { return os.WriteFile(path, []byte("\x00\xff---\n"), 0o600) },
	"no end":      func(path, _, _ string) error { return os.WriteFile(path, []byte("---\nfrom: x\n"), 0o600) },
	"50 MB":       func(path, _, _ string) error { return os.WriteFile(path, make([]byte, 50<<20), 0o600) },
	"4 GiB, hole": func(path, _, _ string) error { return truncated(path, 4<<30) },
	"device": func(path, _, _ string) error {
		if os.Getuid() != 0 {
			return os.WriteFile(path, nil, 0o600) // only root can create a device
		}
		return syscall.Mknod(path, syscall.S_IFCHR|0o600, 1<<8|3)
	},
}

// socketAt creates a socket at a path. The path may be too long for a socket address, so
// socketAt creates the socket at a short path and then moves it.
func socketAt(path, _, _ string) error {
	short, err := os.MkdirTemp("", "s")
	if err != nil {
		return err
	}
	defer os.RemoveAll(short)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(short, "s")})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	defer l.Close()
	if err := os.Rename(filepath.Join(short, "s"), path); err == nil {
		return nil
	}
	return syscall.Mknod(path, syscall.S_IFSOCK|0o600, 0) // the path is on another disk
}

// makeOld makes a file old enough to be cleaned up, unless it is another name for the
// secret file.
func makeOld(path, secret string) error {
	thing, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if it, err := os.Lstat(secret); err != nil || os.SameFile(it, thing) {
		return err
	}
	old, err := unix.TimeToTimespec(time.Now().Add(-3 * time.Hour))
	if err != nil {
		return err
	}
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{old, old}, unix.AT_SYMLINK_NOFOLLOW)
}

const hostileName = "1-20261121T045102.123456Z-aaaaaaaaaa"

// hostilePlaces lists the paths, relative to the mailbox, at which the tests put a
// hostile file.
var hostilePlaces = []string{
	"drop.md", "new/" + hostileName + ".md", "new/odd.md", "cur/" + hostileName + "~1.0.md", "cur/" + hostileName + ".receipt.yaml",
	"tmp/" + hostileName + ".md", "tmp/odd", "dead/" + hostileName + ".md", "dead/" + hostileName + ".reason.txt", "dead/odd",
	"done/" + time.Now().UTC().Format("2006-01-02"), "done/2026-11-01", "done/odd", "keys/" + keyName("the key"), "keys/odd", "FULL",
}

func keyName(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// With any hostile file at any path in a mailbox, no file outside is touched, no call hangs
// or panics, and ordinary messages are handled. A hostile file among the messages is set
// aside with a reason.
func TestHostileThings(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	injected := 0
	for kind, build := range hostile {
		t.Run(kind, func(t *testing.T) {
			for _, place := range hostilePlaces {
				if kind == "50 MB" && !long && !strings.HasPrefix(place, "drop") && !strings.HasPrefix(place, "new/") {
					continue
				}
				injected++
				guarded(t, kind+" as "+place, func(s *dropbox.Store, secret, outside string) error {
					path := filepath.Join(s.Dir(), "coder", place)
					if err := build(path, secret, outside); err != nil {
						return err
					}
					if err := makeOld(path, secret); err != nil {
						return err
					}
					return ordinaryDay(s, "coder/"+place)
				})
			}
		})
	}
	tally(t, "hostile files", injected)
}

// guarded checks that day returns within a minute and does not change the files outside
// the store.
func guarded(t *testing.T, what string, day func(s *dropbox.Store, secret, outside string) error) {
	t.Helper()
	scratch := fastFolder(t)
	outside := filepath.Join(scratch, "outside")
	secret := filepath.Join(outside, "secret")
	if err := errors.Join(os.Mkdir(outside, 0o700), os.WriteFile(secret, []byte("secret"), 0o400)); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(scratch, ".dead-drop")
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	s := reopen(t, dir, dropbox.Options{}, "coder")
	before := snapshot(t, outside)
	done := make(chan error, 1)
	go func() { done <- day(s, secret, outside) }() // its result is received below
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	case <-time.After(time.Minute):
		t.Fatalf("%s: it does not return", what)
	}
	if diff := cmp.Diff(before, snapshot(t, outside)); diff != "" {
		t.Errorf("%s: outside changed:\n%s", what, diff)
	}
	os.RemoveAll(scratch)
}

// snapshot describes the entries of a folder: names, kinds, modes, modification times and
// contents.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		found[path] = fmt.Sprint(info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			found[path] += string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// ordinaryDay simulates a day in a mailbox with one hostile file: a start, messages with
// and without a key, a turn for each message, and a cleanup.
func ordinaryDay(s *dropbox.Store, strange string) error {
	if err := s.MakeMailbox("coder"); err != nil {
		return err
	}
	b, err := s.Mailbox("coder")
	if err != nil {
		return err
	}
	if err := takeUp(b); err != nil {
		return fmt.Errorf("take up: %w", err)
	}
	for _, m := range []*dropbox.Message{
		{From: dropbox.Swarm, Body: bodyOf("plain")}, // FULL does not apply to this sender
		{From: dropbox.Swarm, Key: "the key", Body: bodyOf("keyed")},
	} {
		if d, err := s.Deliver("coder", m); err != nil || d.Duplicate {
			return fmt.Errorf("deliver: %+v, %w", d, err)
		}
	}
	if strays, err := b.Drops().List(); err != nil {
		return err
	} else {
		for _, st := range strays {
			if _, err := b.Drops().TakeIn(st, dropbox.Defaults{From: "lead"}); err != nil && !errors.Is(err, dropbox.ErrInvalid) {
				return fmt.Errorf("take in: %w", err)
			}
		}
	}
	good := make(map[string]bool)
	entries, err := b.List()
	if err != nil {
		return err
	}
	for _, e := range entries {
		c, err := b.Claim(e)
		if err != nil {
			return err
		}
		if c.Bad != nil {
			if err := b.GiveUp(c.Entry, c.Bad.Error()); err != nil {
				return fmt.Errorf("give up: %w", err)
			}
			continue
		}
		name, _ := nameOf(c.Message.Body)
		good[name] = true
		if err := errors.Join(b.Commit(c.Entry, []byte("r")), b.Finish(c.Entry)); err != nil {
			return fmt.Errorf("finish: %w", err)
		}
	}
	if !good["plain"] || !good["keyed"] {
		return fmt.Errorf("worked on %v, want plain and keyed", good)
	}
	return tidyHostile(s, b, strange)
}

// tidyHostile cleans up, reads all files, and removes the dead letters.
func tidyHostile(s *dropbox.Store, b *dropbox.Mailbox, strange string) error {
	for _, age := range []time.Duration{2 * time.Hour, 9 * 24 * time.Hour} {
		if _, err := b.Clean(time.Now().Add(age)); err != nil {
			return err
		}
	}
	if _, err := s.Retain(30, 100); err != nil {
		return err
	}
	if err := s.Walk(func(dropbox.Found, *dropbox.Message) bool { return true }); err != nil {
		return err
	}
	if _, err := s.Find("aaaaaaaaaa"); err != nil && !errors.Is(err, dropbox.ErrNotFound) {
		return err
	}
	dead, err := b.DeadLetters().List()
	if err != nil {
		return err
	}
	for _, d := range dead {
		// A file that another program put into dead/ has a reason only if the program wrote
		// one.
		if d.Reason == "" && !strings.HasPrefix(strange, "coder/dead/") {
			return fmt.Errorf("%s has no reason", d.Name)
		}
		if err := b.DeadLetters().Purge(d); err != nil {
			return err
		}
	}
	for _, folder := range []string{"new/", "cur/"} {
		left, err := os.ReadDir(filepath.Join(s.Dir(), "coder", folder))
		if err != nil || len(left) > 0 {
			return fmt.Errorf("left in %s: %v, %w", folder, left, err)
		}
	}
	return nil
}

// If a folder of the mailbox was replaced with a fifo, a file or a symlink that points
// outside, no call writes there. The next start recreates the folder.
func TestHostileFolders(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	injected := 0
	for _, folder := range []string{"tmp", "new", "cur", "done", "dead", "keys", "work"} {
		for kind, build := range hostile {
			if strings.HasSuffix(kind, "folder") && !strings.HasPrefix(kind, "symlink") {
				continue // replacing the folder with another folder is harmless
			}
			injected++
			guarded(t, folder+" is a "+kind, func(s *dropbox.Store, secret, outside string) error {
				b, err := s.Mailbox("coder")
				if err != nil {
					return err
				}
				if _, err := s.Deliver("coder", &dropbox.Message{Body: bodyOf("before")}); err != nil {
					return err
				}
				entries, err := b.List()
				if err != nil {
					return err
				}
				path := filepath.Join(s.Dir(), "coder", folder)
				if err := errors.Join(os.RemoveAll(path), build(path, secret, outside)); err != nil {
					return err
				}
				// Each of these calls may fail, but must not write outside the store.
				s.Deliver("coder", &dropbox.Message{Key: "k", Body: bodyOf("meanwhile")})
				b.Drops().TakeIn(dropbox.Stray{Name: "none"}, dropbox.Defaults{})
				c, err := b.Claim(entries[0])
				if err == nil {
					b.Commit(c.Entry, []byte("r"))
					b.Finish(c.Entry)
					b.GiveUp(c.Entry, "why")
					b.PutBack(c.Entry, true)
					b.Refuse(c.Entry, "why")
				}
				b.Cancel(entries[0])
				b.DeadLetters().Purge(dropbox.DeadLetter{Entry: dropbox.Entry{Name: "secret"}, Original: "secret"})
				b.DeadLetters().Retry(dropbox.DeadLetter{Entry: dropbox.Entry{Name: "secret"}, Original: "secret"})
				b.Drops().MoveToWork(dropbox.Stray{Name: "secret"})
				b.Drops().SetAside(dropbox.Stray{Name: "secret"}, "why")
				b.Clean(time.Now().Add(9 * 24 * time.Hour))
				s.Retain(7, 1)
				b.Recover()
				b.HasReceipt(entries[0])
				b.List()
				if err := s.MakeMailbox("coder"); err != nil {
					return err
				}
				return ordinaryDay(s, folder)
			})
		}
	}
	tally(t, "hostile folders", injected)
}

// Reading a file that changes while it is being read returns a message or an error and
// never panics.
func TestHostileWriter(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	rounds := 200
	if long {
		rounds = 20_000
	}
	for range rounds {
		d := deliver(t, s, "coder", &dropbox.Message{Body: bodyOf(strings.Repeat("x", 50))})
		f, err := os.OpenFile(filepath.Join(s.Dir(), "coder/new", d.Name), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		begun, ended := make(chan struct{}), make(chan struct{})
		go func() { // the test waits for it below
			defer close(ended)
			close(begun)
			for range 20 {
				f.Truncate(7)
				f.WriteAt([]byte("---\nid: zzzzzzzzzz\n---\n\x00"), 0)
				f.Truncate(1 << 20)
			}
		}()
		<-begun
		c := claim(t, b, list(t, b)[0])
		if (c.Bad == nil) == (c.Message == nil) || c.Bad != nil && !errors.Is(c.Bad, dropbox.ErrInvalid) && !errors.Is(c.Bad, dropbox.ErrTooLarge) {
			t.Fatalf("claimed %+v, bad: %v", c.Message, c.Bad)
		}
		<-ended
		f.Close()
		if err := b.GiveUp(c.Entry, "it changed"); err != nil {
			t.Fatal(err)
		}
	}
	tally(t, "a message changed while it is read", rounds)
}

// An attachment that was replaced with another file is rewritten, and no call hangs.
func TestHostileAttachments(t *testing.T) {
	for kind, build := range hostile {
		if strings.HasSuffix(kind, "folder") && !strings.HasPrefix(kind, "symlink") {
			continue // a rename cannot replace a folder with a file
		}
		guarded(t, "an attachment is a "+kind, func(s *dropbox.Store, secret, outside string) error {
			a, err := s.Attach("a.txt", strings.NewReader("secret")) // the same length as the secret
			if err != nil {
				return err
			}
			path := filepath.Join(s.Dir(), a.Path)
			if err := errors.Join(os.Remove(path), build(path, secret, outside)); err != nil {
				return err
			}
			if f, err := s.OpenAttachment(a); err == nil {
				f.Close()
				if kind != "hard link to outside" && kind != "garbage" { // a file with the expected length
					return errors.New("it is opened")
				}
			}
			if _, err := s.Attach("a.txt", strings.NewReader("secret")); err != nil {
				return err
			}
			f, err := s.OpenAttachment(a)
			if err != nil {
				return err
			}
			return f.Close()
		})
	}
	// This file has the same length but different content.
	s := newStore(t, dropbox.Options{})
	a, err := s.Attach("a.txt", strings.NewReader("good"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Dir(), a.Path)
	if err := os.WriteFile(path, []byte("evil"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Attach("a.txt", strings.NewReader("good")); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "good" {
		t.Errorf("the attachment is %q, %v, want good", data, err)
	}
}

// FuzzNew checks that a file in new/ with any name and content becomes a message or a dead
// letter with a reason and its full content, or stays in place because it has the name of
// an incomplete file.
func FuzzNew(f *testing.F) {
	f.Add(hostileName+".md", []byte("---\nid: aaaaaaaaaa\n---\nbody"))
	f.Add(hostileName+"~1.0.md", []byte("---\n---\n"))
	f.Add("odd.md", []byte("x"))
	f.Add("-rf", []byte{0xff})
	f.Add("x.reason.txt", []byte("---\n"))
	dir := filepath.Join(f.TempDir(), ".dead-drop")
	if err := dropbox.Create(dir); err != nil {
		f.Fatal(err)
	}
	s := reopen(f, dir, dropbox.Options{})
	n := 0
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		n++
		agent := fmt.Sprintf("b%d-%d", os.Getpid(), n)
		if err := s.MakeMailbox(agent); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(filepath.Join(dir, agent))
		in := filepath.Join(dir, agent, "new")
		if strings.ContainsAny(name, "/\x00") || name == "" || name == "." || name == ".." ||
			os.WriteFile(filepath.Join(in, name), data, 0o600) != nil {
			t.Skip("not the name of a file")
		}
		b := mailbox(t, s, agent)
		for _, e := range list(t, b) {
			c := claim(t, b, e)
			if c.Bad != nil {
				if err := b.GiveUp(c.Entry, c.Bad.Error()); err != nil {
					t.Fatal(err)
				}
			} else if !strings.HasSuffix(string(data), string(c.Message.Body)) {
				t.Fatalf("%q became %q", data, c.Message.Body)
			}
		}
		files := tree(t, filepath.Join(dir, agent))
		files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, ".reason.txt") && strings.HasPrefix(f, "dead/") })
		if len(files) != 1 {
			t.Fatalf("%q became %q", name, files)
		}
		if kept, err := os.ReadFile(filepath.Join(dir, agent, files[0])); err != nil || string(kept) != string(data) {
			t.Fatalf("%q became %q, %v", data, kept, err)
		}
		if strings.HasPrefix(files[0], "dead/") && onlyDead(t, b).Reason == "" {
			t.Fatal("no reason")
		}
	})
}
