package dropbox_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func init() {
	programs["stranger"] = stranger
	programs["closedday"] = closedDay
}

const nobody = 65534

// Unreadable files of another user are set aside or given up, and the reason says so. An
// unreadable key file, however, is an error for the sender that uses the key.
func TestFilesOfAnotherUser(t *testing.T) {
	scratch := fastFolder(t)
	dir := filepath.Join(scratch, ".dead-drop")
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	s := reopen(t, dir, dropbox.Options{}, "coder")
	deliver(t, s, "coder", &dropbox.Message{Key: "the key", Body: bodyOf("keyed")})
	b := mailbox(t, s, "coder")
	if err := b.GiveUp(list(t, b)[0], "gone"); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"drop.md", "new/" + hostileName + ".md", "cur/1-20261121T045102.123456Z-bbbbbbbbbb~1.0.md"} {
		drop(t, s, "coder", place, "---\n---\nsecret")
		if err := os.Chmod(filepath.Join(dir, "coder", place), 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "coder/keys", keyName("the key")), 0); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		// Change the owner of the folders to the other user; the files in the mailbox still
		// belong to root.
		err := filepath.WalkDir(scratch, func(path string, e fs.DirEntry, err error) error {
			if err == nil && (e.IsDir() || !strings.Contains(path, "/coder/")) {
				err = os.Chown(path, nobody, nobody)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if out, err := helper("stranger", dir).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	tally(t, "files of another user", 4)
}

func stranger(dir string, _ []string) error {
	if err := leaveRoot(); err != nil {
		return err
	}
	s, err := dropbox.Open(dir, dropbox.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	b, err := s.Mailbox("coder")
	if err != nil {
		return err
	}
	if err := takeUp(b); err != nil {
		return fmt.Errorf("take up: %w", err)
	}
	if err := second(s.Deliver("coder", &dropbox.Message{Key: "the key", Body: bodyOf("again")})); !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("deliver with a key that cannot be read: %w, want that said", err)
	}
	if err := second(s.Deliver("coder", &dropbox.Message{Body: bodyOf("plain")})); err != nil {
		return err
	}
	strays, err := b.Drops().List()
	if err != nil || len(strays) != 1 || strays[0].Kind != dropbox.KindUnreadable {
		return fmt.Errorf("Strays = %v, %w, want one that is unreadable", strays, err)
	}
	if _, err := b.Drops().TakeIn(strays[0], dropbox.Defaults{From: "lead"}); !errors.Is(err, dropbox.ErrInvalid) {
		return fmt.Errorf("TakeIn = %w, want ErrInvalid", err)
	}
	entries, err := b.List()
	if err != nil {
		return err
	}
	good := 0
	for _, e := range entries {
		c, err := b.Claim(e)
		if err != nil {
			return err
		}
		if c.Bad == nil {
			good++
			continue
		}
		if err := b.GiveUp(c.Entry, c.Bad.Error()); err != nil {
			return err
		}
	}
	dead, err := b.DeadLetters().List()
	if err != nil || good != 1 || len(dead) != 4 {
		return fmt.Errorf("%d good, dead %+v, %w, want 1 and 4", good, dead, err)
	}
	for _, d := range dead {
		if d.Reason != "gone" && !strings.Contains(d.Reason, "cannot be read") && !strings.Contains(d.Reason, "permission") {
			// The reason file of the message that was given up earlier is also unreadable
			// to another user.
			return fmt.Errorf("%s has the reason %q", d.Name, d.Reason)
		}
	}
	return nil
}

// leaveRoot switches this process to another user, because root can read every file.
func leaveRoot() error {
	if os.Getuid() != 0 {
		return nil
	}
	return errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody))
}

// A batch does not file an old message while the day folders in done/ cannot be listed,
// because an earlier attempt may have filed it in one of them.
func TestABatchNeedsTheDays(t *testing.T) {
	scratch := fastFolder(t)
	dir := filepath.Join(scratch, ".dead-drop")
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	reopen(t, dir, dropbox.Options{}, "coder")
	if os.Getuid() == 0 {
		err := filepath.WalkDir(scratch, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Chown(path, nobody, nobody))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if out, err := helper("closedday", dir).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func closedDay(dir string, _ []string) error {
	if err := leaveRoot(); err != nil {
		return err
	}
	now := time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC)
	s, err := dropbox.Open(dir, dropbox.Options{Now: func() time.Time { return now }})
	if err != nil {
		return err
	}
	defer s.Close()
	b, err := s.Mailbox("coder")
	if err != nil {
		return err
	}
	claimed := func() ([]dropbox.Settlement, error) {
		if err := second(s.Deliver("coder", &dropbox.Message{Body: []byte("work")})); err != nil {
			return nil, err
		}
		entries, err := b.List()
		if err != nil {
			return nil, err
		}
		c, err := b.Claim(entries[0])
		if err != nil {
			return nil, err
		}
		return []dropbox.Settlement{{Entry: c.Entry, Receipt: []byte("receipt\n")}}, nil
	}
	old, err := claimed()
	if err != nil {
		return err
	}
	now = now.AddDate(0, 0, 10)
	if today, err := claimed(); err != nil {
		return err
	} else if err := b.SettleBatch(today)[0]; err != nil {
		return err
	}
	done := filepath.Join(dir, "coder/done")
	if err := os.Chmod(done, 0o300); err != nil {
		return err
	}
	if err := b.SettleBatch(old)[0]; !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("SettleBatch = %v, want %w", err, fs.ErrPermission)
	}
	if err := os.Chmod(done, 0o700); err != nil {
		return err
	}
	return b.SettleBatch(old)[0]
}
