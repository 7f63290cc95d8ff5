package dropbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// onlyRefusal returns the single refused message.
func onlyRefusal(t *testing.T, b *dropbox.Mailbox) dropbox.Refusal {
	t.Helper()
	list, err := b.Refusals().List()
	if err != nil || len(list) != 1 {
		t.Fatalf("Refusals = %+v, %v, want one", list, err)
	}
	return list[0]
}

func TestRefuse(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	d := deliver(t, s, "coder", keyed("k"))
	c := claim(t, b, list(t, b)[0])
	for _, reason := range []string{"too large:\n9 bytes\n", "a second reason"} {
		if err := b.Refuse(c.Entry, reason); err != nil {
			t.Fatal(err)
		}
	}
	r := onlyRefusal(t, b)
	if r.ID != d.ID || r.Reason != "too large:\n9 bytes" || r.Begun != 0 || time.Since(r.At).Abs() > time.Hour {
		t.Errorf("Refusals = %+v", r)
	}
	for since, want := range map[time.Time]int{time.Now().Add(-time.Hour): 1, time.Now().Add(time.Hour): 0} {
		if kept, fresh, err := b.Refusals().Count(since); kept != 1 || fresh != want || err != nil {
			t.Errorf("Count(%v) = %d, %d, %v, want 1, %d", since, kept, fresh, err, want)
		}
	}
	f, err := s.Find(d.ID)
	if err != nil || f.State != dropbox.Refused || f.Mailbox != "coder" {
		t.Errorf("Find = %+v, %v", f, err)
	}
	if m, err := s.Load(f); err != nil || m.ID != d.ID {
		t.Errorf("Load = %+v, %v", m, err)
	}
	if again := deliver(t, s, "coder", keyed("k")); !again.Duplicate || again.ID != d.ID {
		t.Errorf("its key again = %+v, want a duplicate", again)
	}
	if left := list(t, b); len(left) != 0 {
		t.Errorf("%+v waits", left)
	}
	if strangers, err := s.Strangers(); err != nil || len(strangers) != 0 {
		t.Errorf("Strangers = %q, %v", strangers, err)
	}
}

func TestReadmit(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	d := deliver(t, s, "coder", text("x"))
	e := list(t, b)[0]
	for _, pass := range []bool{false, true} {
		if err := b.Refuse(e, "no"); err != nil { // from new/
			t.Fatal(err)
		}
		if err := b.Refusals().Readmit(e, pass); err != nil {
			t.Fatal(err)
		}
		if err := b.Refusals().Readmit(e, pass); !errors.Is(err, dropbox.ErrGone) {
			t.Errorf("second Readmit = %v, want ErrGone", err)
		}
		if passes, err := b.Refusals().Passes(e); passes != pass || err != nil {
			t.Errorf("Passes = %v, %v, want %v", passes, err, pass)
		}
		waits := list(t, b)
		if len(waits) != 1 || waits[0].ID != d.ID {
			t.Fatalf("%+v waits", waits)
		}
	}
	if kept, fresh, err := b.Refusals().Count(time.Time{}); kept+fresh != 0 || err != nil {
		t.Errorf("Count = %d, %d, %v, want none", kept, fresh, err)
	}
	claim(t, b, e)
	if cut, err := b.Refusals().Unfinished(); err != nil || len(cut) != 0 {
		t.Errorf("Unfinished = %+v, %v: it was let through", cut, err)
	}
}

func TestRefuseWhatIsGone(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	e, err := dropbox.ParseName("1-20261121T045102.123456Z-k7f3q9m2xd.md")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Refuse(e, "why"); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("Refuse = %v, want ErrGone", err)
	}
	if list, err := b.Refusals().List(); err != nil || len(list) != 0 {
		t.Errorf("Refusals = %+v, %v", list, err)
	}
	if left := tree(t, filepath.Join(s.Dir(), "refused", "coder")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// A refusal can be interrupted at any step. After the next start the message is either
// refused once, with the first reason, or still claimed.
func TestRefuseCutAnywhere(t *testing.T) {
	for n := 1; ; n++ {
		dir := filepath.Join(t.TempDir(), ".dead-drop")
		if err := dropbox.Create(dir); err != nil {
			t.Fatal(err)
		}
		left, cut := -1, errors.New("cut")
		s, err := dropbox.Open(dir, dropbox.Options{Step: func(dropbox.Step) error {
			if left > 0 {
				left--
			}
			if left == 0 {
				return cut
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.MakeMailbox("coder"); err != nil {
			t.Fatal(err)
		}
		b := mailbox(t, s, "coder")
		deliver(t, s, "coder", text("x"))
		c := claim(t, b, list(t, b)[0])
		left = n
		err = b.Refuse(c.Entry, "the reason")
		left = -1
		if err != nil && !errors.Is(err, cut) {
			t.Fatalf("step %d: %v", n, err)
		}
		begun, err2 := b.Refusals().Unfinished()
		if err2 != nil {
			t.Fatal(err2)
		}
		for _, e := range begun {
			if err := b.Refuse(e, "another reason"); err != nil {
				t.Fatalf("step %d, again: %v", n, err)
			}
		}
		claimed, err2 := b.Claimed()
		if err2 != nil {
			t.Fatal(err2)
		}
		if len(claimed) == 0 {
			if r := onlyRefusal(t, b); r.Reason != "the reason" {
				t.Errorf("step %d: %+v", n, r)
			}
		} else if got, err := b.Refusals().List(); err != nil || len(got) != 0 {
			t.Errorf("step %d: claimed, and refused as well: %+v, %v", n, got, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err == nil {
			if n < 6 {
				t.Errorf("only %d steps", n)
			}
			return
		}
	}
}

func TestHaltThread(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	if h, err := s.Threads().Halted("k7f3q9m2xd"); h != nil || err != nil {
		t.Errorf("Halted of a store without halted threads = %+v, %v", h, err)
	}
	odd := "a thread/../named by a stranger"
	for _, thread := range []string{"k7f3q9m2xd", odd} {
		for _, why := range []string{"ring: a → b → a\nby itself", "a second reason"} {
			if err := s.Threads().Halt(thread, why); err != nil {
				t.Fatal(err)
			}
		}
		h, err := s.Threads().Halted(thread)
		if err != nil || h == nil || h.Thread != thread || h.Why != "ring: a → b → a\nby itself" || time.Since(h.Since).Abs() > time.Hour {
			t.Errorf("Halted(%q) = %+v, %v", thread, h, err)
		}
	}
	// An empty file, such as one created by `touch`, is enough.
	if err := os.WriteFile(filepath.Join(s.Dir(), "halted", "byhand"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if h, err := s.Threads().Halted("byhand"); err != nil || h == nil || h.Why != "" {
		t.Errorf("Halted(byhand) = %+v, %v", h, err)
	}
	all, err := s.Threads().List()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, h := range all {
		names = append(names, h.Thread)
	}
	slices.Sort(names)
	if want := []string{odd, "byhand", "k7f3q9m2xd"}; !slices.Equal(names, want) {
		t.Errorf("the halted threads are %q, want %q", names, want)
	}
	for range 2 {
		if err := s.Threads().Unhalt(odd); err != nil {
			t.Fatal(err)
		}
	}
	if h, err := s.Threads().Halted(odd); h != nil || err != nil {
		t.Errorf("Halted after Unhalt = %+v, %v", h, err)
	}
	for _, bad := range []string{"", "a\nb"} {
		if err := s.Threads().Halt(bad, "why"); !errors.Is(err, dropbox.ErrInvalid) {
			t.Errorf("Halt(%q) = %v, want ErrInvalid", bad, err)
		}
	}
	if strangers, err := s.Strangers(); err != nil || len(strangers) != 0 {
		t.Errorf("Strangers = %q, %v", strangers, err)
	}
	if err := dropbox.CheckAgent("halted"); !errors.Is(err, dropbox.ErrName) {
		t.Errorf("an agent may be called halted: %v", err)
	}
}

// A store delivers messages with as many hops as its limit allows. The limit is either
// the default or another number, or there is no limit.
func TestMaxHops(t *testing.T) {
	for most, last := range map[int]int{0: dropbox.MaxHops, 3: 3, -1: 1000} {
		s := newStore(t, dropbox.Options{MaxHops: most}, "coder")
		m := text("x")
		m.Hops = last
		deliver(t, s, "coder", m)
		m.Hops++
		if _, err := s.Deliver("coder", m); errors.Is(err, dropbox.ErrHops) != (most >= 0) {
			t.Errorf("MaxHops %d: %d hops = %v", most, m.Hops, err)
		}
	}
}
