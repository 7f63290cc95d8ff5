package dropbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// An action makes one or more calls for the only message in the mailbox "coder".
// Repeating the action after an error completes it.
type action struct {
	prepare func(*dropbox.Store, *dropbox.Mailbox) error
	do      func(*dropbox.Store, *dropbox.Mailbox) error
	want    dropbox.State
	counted [2]int // the numbers of begun and failed attempts after the action
}

// only returns the single entry in a list.
func only(entries []dropbox.Entry, err error) (dropbox.Entry, error) {
	if err == nil && len(entries) != 1 {
		err = fmt.Errorf("%d messages, want one: %v", len(entries), entries)
	}
	if err != nil {
		return dropbox.Entry{}, err
	}
	return entries[0], nil
}

func send(s *dropbox.Store, _ *dropbox.Mailbox) error {
	return second(s.Deliver("coder", &dropbox.Message{From: "tester", Body: bodyOf("m")}))
}

// take claims the message, regardless of the state in which an error left it.
func take(_ *dropbox.Store, b *dropbox.Mailbox) error {
	if err := putAllBack(b); err != nil {
		return err
	}
	e, err := only(b.List())
	if err != nil {
		return err
	}
	c, err := b.Claim(e)
	if err == nil && c.Bad != nil {
		return fmt.Errorf("a good message is bad: %w", c.Bad)
	}
	return err
}

// sentAndTaken, givenUp and refused put the message into the state in which an action
// begins.
func sentAndTaken(s *dropbox.Store, b *dropbox.Mailbox) error {
	return errors.Join(send(s, b), take(s, b))
}

func givenUp(s *dropbox.Store, b *dropbox.Mailbox) error {
	if err := sentAndTaken(s, b); err != nil {
		return err
	}
	e, err := entry(s, 1)
	return errors.Join(err, b.GiveUp(e, "the reason"))
}

func refused(s *dropbox.Store, b *dropbox.Mailbox) error {
	if err := sentAndTaken(s, b); err != nil {
		return err
	}
	e, err := entry(s, 1)
	return errors.Join(err, b.Refuse(e, "the reason"))
}

// entry returns the entry that the message has, or had, after begun attempts.
func entry(s *dropbox.Store, begun int) (dropbox.Entry, error) {
	for f, err := range s.All() {
		if err != nil {
			return dropbox.Entry{}, err
		}
		e := f.Entry
		e.Begun, e.Failed = begun, 0
		e.Name = e.FileName()
		return e, nil
	}
	return dropbox.Entry{}, errors.New("there is no message")
}

// with returns a function that calls do with the entry that the message has, or had,
// after begun attempts.
func with(begun int, do func(b *dropbox.Mailbox, e dropbox.Entry) error) func(*dropbox.Store, *dropbox.Mailbox) error {
	return func(s *dropbox.Store, b *dropbox.Mailbox) error {
		e, err := entry(s, begun)
		if err != nil {
			return err
		}
		return do(b, e)
	}
}

// toLetter returns a function that calls do with the dead letter, if it still exists.
func toLetter(do func(dropbox.DeadLetters, dropbox.DeadLetter) error) func(*dropbox.Store, *dropbox.Mailbox) error {
	return func(_ *dropbox.Store, b *dropbox.Mailbox) error {
		dead, err := b.DeadLetters().List()
		if err != nil || len(dead) == 0 {
			return err
		}
		return do(b.DeadLetters(), dead[0])
	}
}

var actions = map[string]action{
	"deliver": {do: send, want: dropbox.Waiting},
	"deliver with a key": {do: func(s *dropbox.Store, _ *dropbox.Mailbox) error {
		return second(s.Deliver("coder", &dropbox.Message{From: "tester", Key: "k", Body: bodyOf("m")}))
	}, want: dropbox.Waiting},
	"deliver in a batch": {do: func(s *dropbox.Store, _ *dropbox.Mailbox) error {
		return s.DeliverBatch([]dropbox.Draft{{To: "coder", Message: &dropbox.Message{From: "tester", Body: bodyOf("m")}}})[0].Err
	}, want: dropbox.Waiting},
	"deliver in a batch with a key": {do: func(s *dropbox.Store, _ *dropbox.Mailbox) error {
		m := &dropbox.Message{From: "tester", Key: "k", Body: bodyOf("m")}
		outcomes := s.DeliverBatch([]dropbox.Draft{{To: "coder", Message: m}, {To: "coder", Message: m}})
		return errors.Join(outcomes[0].Err, outcomes[1].Err)
	}, want: dropbox.Waiting},
	"deliver with an attachment": {do: func(s *dropbox.Store, _ *dropbox.Mailbox) error {
		a, err := s.Attach("a.txt", strings.NewReader("the attachment"))
		if err != nil {
			return err
		}
		return second(s.Deliver("coder", &dropbox.Message{Attachments: []dropbox.Attachment{a}, Body: bodyOf("m")}))
	}, want: dropbox.Waiting},
	"take in": {
		prepare: func(s *dropbox.Store, _ *dropbox.Mailbox) error {
			return os.WriteFile(filepath.Join(s.Dir(), "coder/m.md"), bodyOf("m"), 0o600)
		},
		do: func(_ *dropbox.Store, b *dropbox.Mailbox) error {
			strays, err := b.Drops().List()
			if err != nil || len(strays) == 0 {
				return err
			}
			return second(b.Drops().TakeIn(strays[0], dropbox.Defaults{From: "lead"}))
		}, want: dropbox.Waiting},
	"claim": {prepare: send, do: take, want: dropbox.Claimed, counted: [2]int{1, 0}},
	"put back": {prepare: sentAndTaken, do: with(1, func(b *dropbox.Mailbox, e dropbox.Entry) error {
		return second(b.PutBack(e, true))
	}), want: dropbox.Waiting, counted: [2]int{1, 1}},
	"release": {prepare: sentAndTaken, do: with(1, func(b *dropbox.Mailbox, e dropbox.Entry) error {
		return second(b.Release(e))
	}), want: dropbox.Waiting},
	"finish": {prepare: sentAndTaken, do: with(1, func(b *dropbox.Mailbox, e dropbox.Entry) error {
		done, err := b.HasReceipt(e)
		if err == nil && !done {
			err = b.Commit(e, []byte("receipt of m\n"))
		}
		if err != nil {
			return err
		}
		return b.Finish(e)
	}), want: dropbox.Done},
	"settle in a batch": {prepare: sentAndTaken, do: with(1, func(b *dropbox.Mailbox, e dropbox.Entry) error {
		return b.SettleBatch([]dropbox.Settlement{{Entry: e, Receipt: []byte("receipt of m\n")}})[0]
	}), want: dropbox.Done},
	"giveup": {prepare: sentAndTaken, do: with(1, func(b *dropbox.Mailbox, e dropbox.Entry) error {
		return b.GiveUp(e, "the reason")
	}), want: dropbox.Dead},
	"refuse": {prepare: sentAndTaken, do: with(1, func(b *dropbox.Mailbox, e dropbox.Entry) error {
		return b.Refuse(e, "the reason")
	}), want: dropbox.Refused},
	"readmit": {prepare: refused, do: with(0, func(b *dropbox.Mailbox, e dropbox.Entry) error {
		return notGone(b.Refusals().Readmit(e, false))
	}), want: dropbox.Waiting},
	"cancel": {prepare: send, do: with(0, func(b *dropbox.Mailbox, e dropbox.Entry) error {
		return notGone(b.Cancel(e))
	}), want: dropbox.Dead},
	"retry": {prepare: givenUp, do: toLetter(dropbox.DeadLetters.Retry), want: dropbox.Waiting},
	"purge": {prepare: givenUp, do: toLetter(dropbox.DeadLetters.Purge), want: nowhere},
	"file":  {prepare: send, do: with(0, (*dropbox.Mailbox).File), want: dropbox.Done},
}

// notGone ignores ErrGone, so that repeating an action that is already complete succeeds.
func notGone(err error) error {
	if errors.Is(err, dropbox.ErrGone) {
		return nil
	}
	return err
}

// diskFaults are the ways in which a disk fails.
var diskFaults = map[string]func(st dropbox.Step, n, at int) bool{
	"once": func(st dropbox.Step, n, at int) bool { return n == at },
	"full": func(st dropbox.Step, n, at int) bool { return n >= at && st.Op != dropbox.OpRemove },
	"dead": func(st dropbox.Step, n, at int) bool { return n >= at },
}

// Each change to the disk fails in each of these ways, and the caller gets the error.
// Every scratch file that can be removed is removed. No message is incomplete, lost or
// duplicated. Repeating the call on a healthy disk succeeds.
func TestDiskTrouble(t *testing.T) {
	ways := []error{syscall.ENOSPC, syscall.EIO}
	if long {
		ways = append(ways, syscall.EROFS, syscall.EDQUOT, syscall.EMFILE, syscall.ENOMEM, syscall.ESTALE)
	}
	for name, d := range actions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			injected := 0
			scratch := fastFolder(t)
			for fault, fails := range diskFaults {
				for i, errno := range ways {
					for at := 1; ; at++ {
						dir := filepath.Join(scratch, fmt.Sprintf("%s-%d-%d", fault, i, at))
						fell := false
						_, err := d.runWithFault(dir, errno, fault == "dead", failingDisk(fails, at, errno, &fell))
						if err != nil {
							t.Errorf("%s, %v at step %d: %v", fault, errno, at, err)
						}
						if !fell { // the action has fewer steps than at
							break
						}
						injected++
					}
				}
			}
			if injected < 3*len(ways) {
				t.Errorf("only %d faults", injected)
			}
			tally(t, "disk, "+name, injected)
		})
	}
}

// failingDisk makes a disk fail at a step and records whether it failed.
func failingDisk(fails func(st dropbox.Step, n, at int) bool, at int, errno error, fell *bool) faultyDisk {
	return func(dir string) (*dropbox.Store, func() error, error) {
		n := 0
		s, err := dropbox.Open(dir, dropbox.Options{Step: func(st dropbox.Step) error {
			if n++; fails(st, n, at) {
				*fell = true
				return errno
			}
			return nil
		}})
		return s, func() error { return nil }, err
	}
}

// A faultyDisk opens the store in dir on a disk that refuses some operations. repair makes
// the disk work again.
type faultyDisk func(dir string) (s *dropbox.Store, repair func() error, err error)

// runWithFault performs the action on the faulty disk and, if it failed there, repeats it
// on the repaired one. hurt reports whether the action failed the first time; in that
// case, the action's error must be errno. left allows scratch files to remain, because the disk
// also refused to remove them.
func (d action) runWithFault(dir string, errno error, left bool, open faultyDisk) (hurt bool, err error) {
	if err := dropbox.Create(dir); err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	s, err := dropbox.Open(dir, dropbox.Options{})
	if err != nil {
		return false, err
	}
	defer s.Close()
	if err := s.MakeMailbox("coder"); err != nil {
		return false, err
	}
	b, err := s.Mailbox("coder")
	if err != nil {
		return false, err
	}
	if d.prepare != nil {
		if err := d.prepare(s, b); err != nil {
			return false, fmt.Errorf("prepare: %w", err)
		}
	}
	faulty, repair, err := open(dir)
	if err != nil {
		return false, err
	}
	defer faulty.Close()
	box, err := faulty.Mailbox("coder")
	if err == nil {
		err = d.do(faulty, box)
	}
	if err := repair(); err != nil {
		return false, err
	}
	switch {
	case err == nil:
		return false, d.achieved(s, b)
	case !errors.Is(err, errno):
		return true, fmt.Errorf("the caller was told: %w", err)
	case errors.Is(err, dropbox.ErrNotDurable):
		return true, d.achieved(s, b) // but the result may not be durable yet
	}
	if err := d.whole(s, b); err != nil {
		return true, fmt.Errorf("after the error: %w", err)
	}
	if found := scaffolding(dir); len(found) > 0 && !left {
		return true, fmt.Errorf("after the error there is left %q", found)
	}
	if err := d.do(s, b); err != nil {
		return true, fmt.Errorf("repeated: %w", err)
	}
	return true, d.achieved(s, b)
}

// whole returns an error if the message is incomplete, lost or duplicated.
func (d action) whole(s *dropbox.Store, b *dropbox.Mailbox) error {
	n := 0
	for f, err := range s.All() {
		if err != nil {
			return err
		}
		m, err := s.Load(f)
		if err != nil {
			return err
		}
		if _, ok := nameOf(m.Body); !ok {
			return fmt.Errorf("%s is not whole", f.Path)
		}
		n++
	}
	if n > 1 {
		return fmt.Errorf("the message is there %d times", n)
	}
	if strays, err := b.Drops().List(); err != nil || n == 0 && d.prepare != nil && len(strays) == 0 && d.want != nowhere {
		return errors.Join(errors.New("the message is lost"), err)
	}
	return nil
}

// achieved checks that the message is in the correct final state.
func (d action) achieved(s *dropbox.Store, b *dropbox.Mailbox) error {
	var places []place
	for f, err := range s.All() {
		if err != nil {
			return err
		}
		places = append(places, place{f.State, f.Entry.Begun, f.Entry.Failed})
	}
	var want []place
	if d.want != nowhere {
		want = []place{{d.want, d.counted[0], d.counted[1]}}
	}
	if d.want == dropbox.Claimed && len(places) == 1 {
		places[0].begun = min(1, places[0].begun) // a claim that was undone may be counted
	}
	if !slices.Equal(places, want) {
		return fmt.Errorf("in the end the message is in %v, want %v", places, want)
	}
	if d.want == dropbox.Dead {
		if dead, err := b.DeadLetters().List(); err != nil || dead[0].Reason == "" {
			return errors.Join(errors.New("a dead letter without a reason"), err)
		}
	}
	later := time.Now().Add(2 * time.Hour)
	if err := errors.Join(second(b.Clean(later)), second(s.Clean(later))); err != nil {
		return err
	}
	if left := scaffolding(s.Dir()); len(left) > 0 {
		return fmt.Errorf("in the end there is left %q", left)
	}
	return nil
}

// scaffolding lists the files that are neither messages nor marks: in tmp/, hidden, or at
// the top of the store. It omits files in tmp/ whose key is linked, because they are
// still being delivered.
func scaffolding(dir string) (left []string) {
	filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		rel, _ := filepath.Rel(dir, path)
		hidden := e.Name()[0] == '.' && rel != ".gitignore"
		if filepath.Base(filepath.Dir(rel)) == "tmp" || hidden || !strings.Contains(rel, "/") && !hidden && rel != "version" && rel != ".gitignore" {
			var st syscall.Stat_t
			if syscall.Lstat(path, &st) == nil && st.Nlink == 1 {
				left = append(left, rel)
			}
		}
		return nil
	})
	return left
}
