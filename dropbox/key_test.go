package dropbox_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func keyed(key string) *dropbox.Message {
	return &dropbox.Message{From: "tester", Key: key, Body: []byte("once")}
}

func guard(s *dropbox.Store, to, key string) string {
	return filepath.Join(s.Dir(), to, "keys", fmt.Sprintf("%x", sha256.Sum256([]byte(key))))
}

// ids returns the ids of all waiting messages, including duplicates.
func ids(t testing.TB, b *dropbox.Mailbox) []string {
	t.Helper()
	var ids []string
	for _, e := range list(t, b) {
		ids = append(ids, e.ID)
	}
	return ids
}

// A key is remembered regardless of its message's state.
func TestKeyIsRememberedInEveryState(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder", "tester")
	b := mailbox(t, s, "coder")
	first := deliver(t, s, "coder", keyed("k"))
	again := func(state string) {
		t.Helper()
		d := deliver(t, s, "coder", keyed("k"))
		if !d.Duplicate || d.ID != first.ID || d.Thread != first.Thread {
			t.Errorf("%s: delivered again as %+v, want a duplicate of %s", state, d, first.ID)
		}
		if d, ok, err := s.Delivered("coder", "k"); err != nil || !ok || d.ID != first.ID {
			t.Errorf("%s: Delivered = %+v, %v, %v, want %s", state, d, ok, err, first.ID)
		}
	}
	again("waiting")
	c := claim(t, b, list(t, b)[0])
	again("claimed")
	if _, err := b.PutBack(c.Entry, true); err != nil {
		t.Fatal(err)
	}
	again("put back")
	c = claim(t, b, list(t, b)[0])
	if err := b.GiveUp(c.Entry, "no"); err != nil {
		t.Fatal(err)
	}
	again("dead")
	dead, err := b.DeadLetters().List()
	if err != nil || len(dead) != 1 {
		t.Fatalf("List() of the dead letters = %v, %v", dead, err)
	}
	if err := b.DeadLetters().Retry(dead[0]); err != nil {
		t.Fatal(err)
	}
	again("retried")
	c = claim(t, b, list(t, b)[0])
	if err := errors.Join(b.Commit(c.Entry, nil), b.Finish(c.Entry)); err != nil {
		t.Fatal(err)
	}
	again("done")
	if got := ids(t, b); len(got) != 0 {
		t.Errorf("%d messages wait, want none", len(got))
	}
	for _, other := range [][2]string{{"coder", "other"}, {"tester", "k"}, {"nobody", "k"}} {
		if d, ok, err := s.Delivered(other[0], other[1]); ok || err != nil {
			t.Errorf("Delivered(%q) = %+v, %v, %v, want none", other, d, ok, err)
		}
	}
	if d := deliver(t, s, "tester", keyed("k")); d.Duplicate {
		t.Error("a key of one mailbox counts in another")
	}
}

func TestKeyOfAPurgedMessage(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	deliver(t, s, "coder", keyed("k"))
	if err := b.Cancel(list(t, b)[0]); err != nil {
		t.Fatal(err)
	}
	dead, err := b.DeadLetters().List()
	if err != nil || len(dead) != 1 {
		t.Fatalf("List() of the dead letters = %v, %v", dead, err)
	}
	if err := b.DeadLetters().Purge(dead[0]); err != nil {
		t.Fatal(err)
	}
	if d := deliver(t, s, "coder", keyed("k")); !d.Duplicate || len(ids(t, b)) != 0 {
		t.Errorf("a purged message came back as %+v", d)
	}
}

// The mark of a purged message may outlive its key. It does not prevent the delivery of
// the next message with that key: if this delivery is interrupted, it is completed.
func TestKeyOfAnEarlierPurgedMessage(t *testing.T) {
	now := time.Now()
	s := newStore(t, dropbox.Options{Now: func() time.Time { return now }}, "coder")
	b := mailbox(t, s, "coder")
	deliver(t, s, "coder", keyed("k"))
	if err := b.Cancel(list(t, b)[0]); err != nil {
		t.Fatal(err)
	}
	if err := b.DeadLetters().Purge(onlyDead(t, b)); err != nil {
		t.Fatal(err)
	}
	now = now.AddDate(0, 0, 8)
	cut := reopen(t, s.Dir(), dropbox.Options{Now: func() time.Time { return now }, Step: refuse(errors.New("cut off"), dropbox.OpMove)})
	if _, err := cut.Deliver("coder", keyed("k")); err == nil {
		t.Fatal("was not cut off")
	}
	d := deliver(t, s, "coder", keyed("k"))
	if got := ids(t, b); !slices.Equal(got, []string{d.ID}) {
		t.Errorf("told %+v, but %v wait", d, got)
	}
}

// RetainRefused may remove a refused message within a week because of its age or the size
// of refused/. Its key is still remembered.
func TestKeyOfARemovedRefusedMessage(t *testing.T) {
	for name, limit := range map[string]struct {
		days int
		mb   int64
	}{"by age": {1, 0}, "by size": {0, 1}} {
		now := time.Now()
		s := newStore(t, dropbox.Options{Now: func() time.Time { return now }, MaxBody: 2 << 20}, "coder")
		b := mailbox(t, s, "coder")
		m := &dropbox.Message{From: "tester", Key: "k", Body: make([]byte, 2<<20)}
		first := deliver(t, s, "coder", m)
		if err := b.Refuse(claim(t, b, list(t, b)[0]).Entry, "why"); err != nil {
			t.Fatal(err)
		}
		now = now.AddDate(0, 0, 2)
		if n, err := s.RetainRefused(limit.days, limit.mb); n != 1 || err != nil {
			t.Fatalf("%s: RetainRefused = %d, %v, want 1", name, n, err)
		}
		if d := deliver(t, s, "coder", m); !d.Duplicate || d.ID != first.ID || len(ids(t, b)) != 0 {
			t.Errorf("%s: delivered again as %+v, and %v wait", name, d, ids(t, b))
		}
	}
}

// If the key of a refused message cannot be recorded on the disk, the message is kept.
func TestARefusedMessageStaysWithoutItsMark(t *testing.T) {
	failing := false
	now := time.Now()
	s := newStore(t, dropbox.Options{Now: func() time.Time { return now }, Step: func(st dropbox.Step) error {
		if failing && strings.HasSuffix(st.To, ".purged") {
			return syscall.ENOSPC
		}
		return nil
	}}, "coder")
	b := mailbox(t, s, "coder")
	deliver(t, s, "coder", keyed("k"))
	if err := b.Refuse(claim(t, b, list(t, b)[0]).Entry, "why"); err != nil {
		t.Fatal(err)
	}
	now = now.AddDate(0, 0, 2)
	failing = true
	if n, err := s.RetainRefused(1, 0); n != 0 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("RetainRefused = %d, %v, want ENOSPC", n, err)
	}
	onlyRefusal(t, b)
}

func TestKeyIsForgottenAfterAWeek(t *testing.T) {
	now := time.Now()
	s := newStore(t, dropbox.Options{Now: func() time.Time { return now }}, "coder")
	first := deliver(t, s, "coder", keyed("k"))
	now = now.Add(7*24*time.Hour - time.Minute)
	if d := deliver(t, s, "coder", keyed("k")); !d.Duplicate {
		t.Error("forgotten within the week")
	}
	now = now.Add(2 * time.Minute)
	var wg sync.WaitGroup
	fresh := make([]dropbox.Delivery, 20)
	for i := range fresh {
		wg.Go(func() {
			d, err := s.Deliver("coder", keyed("k"))
			if err != nil {
				t.Error(err)
			}
			fresh[i] = d
		})
	}
	wg.Wait()
	n := 0
	for _, d := range fresh {
		if d.ID != fresh[0].ID || d.ID == first.ID {
			t.Errorf("delivered as %s and %s, the old one was %s", fresh[0].ID, d.ID, first.ID)
		}
		if !d.Duplicate {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d of 20 deliveries were reported as new, want 1", n)
	}
}

// cutAt opens a store that fails at the n-th step and at every later step. As after a kill,
// the cleanup also fails.
func cutAt(t *testing.T, dir string, n int) (s *dropbox.Store, reached func() bool) {
	steps := 0
	s = reopen(t, dir, dropbox.Options{Step: func(dropbox.Step) error {
		if steps++; steps >= n {
			return errors.New("cut off")
		}
		return nil
	}})
	return s, func() bool { return steps >= n }
}

// A delivery with a key can be interrupted at any step. The next caller completes or
// repeats the delivery, and there is exactly one message.
func TestKeyedDeliveryCutOff(t *testing.T) {
	for n := 1; ; n++ {
		whole := newStore(t, dropbox.Options{}, "coder")
		b := mailbox(t, whole, "coder")
		cut, reached := cutAt(t, whole.Dir(), n)
		_, err := cut.Deliver("coder", keyed("k"))
		if !reached() {
			if err != nil {
				t.Fatal(err)
			}
			if n < 7 {
				t.Fatalf("only %d steps", n-1)
			}
			return
		}
		if err == nil {
			t.Fatalf("cut before step %d: no error", n)
		}
		second := deliver(t, whole, "coder", keyed("k"))
		third := deliver(t, whole, "coder", keyed("k"))
		if got := ids(t, b); !slices.Equal(got, []string{second.ID}) || third.ID != second.ID || !third.Duplicate {
			t.Errorf("cut before step %d: %v wait, told %s, then %+v", n, got, second.ID, third)
		}
	}
}

// After a power cut the disk may contain the key file but neither the scratch file nor
// the message. In that case the key file itself is delivered.
func TestKeyWithoutMessage(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	first := deliver(t, s, "coder", keyed("k"))
	if err := os.Remove(filepath.Join(s.Dir(), "coder/new", first.Name)); err != nil {
		t.Fatal(err)
	}
	d := deliver(t, s, "coder", keyed("k"))
	if got := ids(t, b); !d.Duplicate || !slices.Equal(got, []string{first.ID}) {
		t.Errorf("told %+v, and %v wait, want %s", d, got, first.ID)
	}
}

// A message is delivered even if tmp/ is emptied after the key is linked and before the
// message is moved.
func TestKeyWithoutScratch(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	rude := reopen(t, s.Dir(), dropbox.Options{Step: func(st dropbox.Step) error {
		if st.Op == dropbox.OpMove {
			return ignoreMissing(os.Remove(filepath.Join(s.Dir(), st.Name)))
		}
		return nil
	}})
	d, err := rude.Deliver("coder", keyed("k"))
	if got := ids(t, mailbox(t, s, "coder")); err != nil || d.Duplicate || !slices.Equal(got, []string{d.ID}) {
		t.Errorf("Deliver = %+v, %v, and %v wait", d, err, got)
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// A sender that repeats a known key learns that its message has arrived, even if the
// mailbox is full.
func TestKeyInAFullMailbox(t *testing.T) {
	s := newStore(t, dropbox.Options{MaxWaiting: 1}, "coder")
	first := deliver(t, s, "coder", keyed("k"))
	list(t, mailbox(t, s, "coder"))
	if d := deliver(t, s, "coder", keyed("k")); d.ID != first.ID || !d.Duplicate {
		t.Errorf("Deliver again = %+v", d)
	}
	if _, err := s.Deliver("coder", keyed("other")); !errors.Is(err, dropbox.ErrFull) {
		t.Errorf("Deliver of another key = %v, want ErrFull", err)
	}
}

// refuse returns a function for Options.Step that refuses the given operations.
func refuse(err error, ops ...dropbox.Op) func(dropbox.Step) error {
	return func(st dropbox.Step) error {
		if slices.Contains(ops, st.Op) {
			return err
		}
		return nil
	}
}

func TestFileSystemsThatCannot(t *testing.T) {
	for name, o := range map[string]dropbox.Options{
		"no hard links, EPERM":       {Step: refuse(syscall.EPERM, dropbox.OpLink)},
		"no hard links, EOPNOTSUPP":  {Step: refuse(syscall.EOPNOTSUPP, dropbox.OpLink)},
		"no rename that refuses":     {Step: refuse(syscall.EINVAL, dropbox.OpMove)},
		"everything, for comparison": {},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, o, "coder")
			b := mailbox(t, s, "coder")
			first := deliver(t, s, "coder", keyed("k"))
			var wg sync.WaitGroup
			for range 10 {
				wg.Go(func() {
					if d, err := s.Deliver("coder", keyed("k")); err != nil || d.ID != first.ID || !d.Duplicate {
						t.Errorf("Deliver = %+v, %v, want a duplicate of %s", d, err, first.ID)
					}
				})
			}
			wg.Wait()
			c := claim(t, b, list(t, b)[0])
			if d := deliver(t, s, "coder", keyed("k")); d.ID != first.ID {
				t.Errorf("claimed, then delivered again as %s", d.ID)
			}
			if err := errors.Join(b.Commit(c.Entry, []byte("r\n")), b.Finish(c.Entry)); err != nil {
				t.Fatal(err)
			}
			if left := tree(t, filepath.Join(s.Dir(), "coder/tmp")); len(left) > 0 {
				t.Errorf("left in tmp: %v", left)
			}
		})
	}
	s := newStore(t, dropbox.Options{Step: refuse(syscall.EPERM, dropbox.OpLink, dropbox.OpMove)}, "coder")
	if _, err := s.Deliver("coder", keyed("k")); !errors.Is(err, dropbox.ErrFileSystem) {
		t.Errorf("a key on a disk with neither links nor such a rename: %v, want ErrFileSystem", err)
	}
	deliver(t, s, "coder", text("without a key it works"))
}

// Twenty goroutines or twenty processes that deliver with the same key deliver only one
// message.
func TestOneKeyManyCallers(t *testing.T) {
	t.Run("goroutines", func(t *testing.T) {
		s := newStore(t, dropbox.Options{}, "coder")
		b := mailbox(t, s, "coder")
		stop := make(chan struct{})
		var claims sync.WaitGroup
		claims.Go(func() { // a daemon claims every message as soon as it arrives
			for {
				for _, e := range list(t, b) {
					if c, err := b.Claim(e); err == nil && b.Commit(c.Entry, nil) == nil {
						b.Finish(c.Entry)
					}
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
		for round := range 20 {
			got := make([]dropbox.Delivery, 20)
			var wg sync.WaitGroup
			for i := range got {
				wg.Go(func() {
					d, err := s.Deliver("coder", keyed(fmt.Sprint("round ", round)))
					if err != nil {
						t.Error(err)
					}
					got[i] = d
				})
			}
			wg.Wait()
			for _, d := range got {
				if d.ID != got[0].ID {
					t.Fatalf("delivered as %s and %s", d.ID, got[0].ID)
				}
			}
		}
		close(stop)
		claims.Wait()
		n := 0
		for f, err := range s.All() {
			if err != nil {
				t.Fatal(err)
			}
			if f.Mailbox == "coder" {
				n++
			}
		}
		if n != 20 {
			t.Errorf("%d messages of 20 keys", n)
		}
	})
	t.Run("processes", func(t *testing.T) {
		s := newStore(t, dropbox.Options{}, "coder")
		out := make([]string, 20)
		var wg sync.WaitGroup
		for i := range out {
			wg.Go(func() {
				line, err := helper("deliver", s.Dir(), "the key").CombinedOutput()
				if err != nil {
					t.Errorf("%v: %s", err, line)
				}
				out[i] = strings.TrimSpace(string(line))
			})
		}
		wg.Wait()
		got := ids(t, mailbox(t, s, "coder"))
		if len(got) != 1 || slices.ContainsFunc(out, func(id string) bool { return id != got[0] }) {
			t.Errorf("%v wait; the processes were told %v", got, out)
		}
	})
}

// helper returns a command that runs this test binary as another program; see TestMain.
func helper(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "DROPBOX_HELPER=1")
	return cmd
}
