package dropbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// drafts returns message drafts for one mailbox.
func drafts(to string, messages ...*dropbox.Message) []dropbox.Draft {
	var list []dropbox.Draft
	for _, m := range messages {
		list = append(list, dropbox.Draft{To: to, Message: m})
	}
	return list
}

// A batch of any size arrives complete and in order. Each message arrives as if it had
// been delivered individually.
func TestDeliverBatch(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, n := range []int{0, 1, 63, 64, 65, 200} {
		s := newStore(t, dropbox.Options{}, "coder", "reviewer")
		var batch []dropbox.Draft
		for i := range n {
			to := []string{"coder", "coder", "reviewer"}[i%3]
			m := text("message %d", i)
			if i%2 == 0 {
				m.Key = fmt.Sprintf("key %d", i)
			}
			batch = append(batch, dropbox.Draft{To: to, Message: m, Sign: func(m *dropbox.Message) string { return "proof-" + m.ID }})
		}
		outcomes := s.DeliverBatch(batch)
		got := map[string][]string{}
		for _, name := range []string{"coder", "reviewer"} {
			b := mailbox(t, s, name)
			for _, e := range list(t, b) {
				m, err := b.Read(e)
				if err != nil {
					t.Fatal(err)
				}
				if m.Proof != "proof-"+e.ID {
					t.Errorf("%s has the proof %q", e.ID, m.Proof)
				}
				got[name] = append(got[name], e.ID)
			}
		}
		want := map[string][]string{}
		for i, o := range outcomes {
			if o.Err != nil || o.Duplicate || o.To != batch[i].To {
				t.Fatalf("%d of %d: %+v", i, n, o)
			}
			want[o.To] = append(want[o.To], o.ID)
		}
		if len(outcomes) != n || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d messages: waiting %v, want %v", n, got, want)
		}
		if left := scaffolding(s.Dir()); len(left) > 0 {
			t.Errorf("%d messages: left behind %q", n, left)
		}
	}
}

// An error in one message of a batch does not affect the others.
func TestDeliverBatchWithFaults(t *testing.T) {
	s := newStore(t, dropbox.Options{MaxBody: 20}, "coder", "full", "broken")
	drop(t, s, "full", "FULL", "")
	if err := os.RemoveAll(filepath.Join(s.Dir(), "broken/new")); err != nil {
		t.Fatal(err)
	}
	first := deliver(t, s, "coder", keyed("known"))
	outcomes := s.DeliverBatch([]dropbox.Draft{
		{To: "coder", Message: text("one")},
		{To: "codr", Message: text("no such mailbox")},
		{To: "coder", Message: text("%s", strings.Repeat("long ", 10))},
		{To: "coder", Message: &dropbox.Message{From: "a\x00b", Body: []byte("bad")}},
		{To: "full", Message: text("no room")},
		{To: "coder", Message: keyed("known")},
		{To: "coder", Message: keyed("twice")},
		{To: "coder", Message: keyed("twice")},
		{To: "broken", Message: text("made whole")},
		{To: "coder", Message: &dropbox.Message{Hops: 1000, Body: []byte("far")}},
		{To: "coder", Message: text("two")},
	})
	for i, want := range []error{
		nil, dropbox.ErrNoMailbox, dropbox.ErrTooLarge, dropbox.ErrInvalid, dropbox.ErrFull, nil, nil, nil, nil, dropbox.ErrHops, nil,
	} {
		if err := outcomes[i].Err; !errors.Is(err, want) {
			t.Errorf("%d: %v, want %v", i, err, want)
		} else if err != nil && !strings.HasPrefix(err.Error(), "deliver to ") {
			t.Errorf("%d: %v", i, err)
		}
	}
	if o := outcomes[5]; !o.Duplicate || o.ID != first.ID {
		t.Errorf("a known key: %+v, want the delivery of %s", o, first.ID)
	}
	if o := outcomes[7]; !o.Duplicate || o.ID != outcomes[6].ID {
		t.Errorf("a key twice: %+v, want the delivery of %s", o, outcomes[6].ID)
	}
	if n := len(list(t, mailbox(t, s, "coder"))); n != 4 { // known, one, twice, two
		t.Errorf("%d messages wait", n)
	}
	if n := len(list(t, mailbox(t, s, "broken"))); n != 1 {
		t.Errorf("%d messages wait where a folder was missing", n)
	}
}

// Four concurrent batches with the same keys deliver one message per key.
func TestBatchesAtOnce(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	var batch []dropbox.Draft
	for i := range 40 {
		batch = append(batch, dropbox.Draft{To: "coder", Message: keyed(fmt.Sprint(i))})
	}
	const writers = 4
	all := make(chan []dropbox.Outcome, writers)
	for range writers {
		go func() { all <- s.DeliverBatch(batch) }() // its result is received below
	}
	ids, fresh := map[int]string{}, 0
	for range writers {
		for i, o := range <-all {
			if o.Err != nil {
				t.Fatal(o.Err)
			}
			if !o.Duplicate {
				fresh++
			}
			if ids[i] == "" {
				ids[i] = o.ID
			}
			if ids[i] != o.ID {
				t.Errorf("key %d: %s and %s", i, ids[i], o.ID)
			}
		}
	}
	if n := len(list(t, mailbox(t, s, "coder"))); n != len(batch) || fresh != len(batch) {
		t.Errorf("%d messages wait, %d were new; want %d", n, fresh, len(batch))
	}
}

// SettleBatch settles each message like Commit and Finish, even if an earlier attempt has
// already committed or filed some of them.
func TestSettleBatch(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	const n = 70
	for _, o := range s.DeliverBatch(drafts("coder", texts(n)...)) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
	}
	var done []dropbox.Settlement
	for i, e := range list(t, b) {
		done = append(done, dropbox.Settlement{Entry: claim(t, b, e).Entry, Receipt: fmt.Appendf(nil, "receipt %d\n", i)})
	}
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(b.Commit(done[3].Entry, done[3].Receipt))
	ok(b.Commit(done[4].Entry, done[4].Receipt))
	ok(b.Finish(done[4].Entry))
	for i, err := range b.SettleBatch(done) {
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	for i, d := range done {
		if r, err := b.Receipt(d.Entry); err != nil || string(r) != string(d.Receipt) {
			t.Errorf("%d has the receipt %q, %v", i, r, err)
		}
		if f, err := s.Find(d.Entry.ID); err != nil || f.State != dropbox.Done {
			t.Errorf("%d is %v, %v", i, f.State, err)
		}
	}
	if left := scaffolding(s.Dir()); len(left) > 0 {
		t.Errorf("left behind %q", left)
	}
	if claimed, err := b.Claimed(); err != nil || len(claimed) > 0 {
		t.Errorf("claimed: %v, %v", claimed, err)
	}
}

func texts(n int) (list []*dropbox.Message) {
	for i := range n {
		list = append(list, text("message %d", i))
	}
	return list
}

// A folder that is removed during the delivery of a batch is recreated, and all messages of
// the batch arrive.
func TestDeliverBatchIntoAMailboxThatLosesAFolder(t *testing.T) {
	for _, at := range []dropbox.Op{dropbox.OpCreate, dropbox.OpLink, dropbox.OpMove} {
		for _, folder := range []string{"tmp", "new", "keys"} {
			for n := 1; n <= 2; n++ {
				s := newStore(t, dropbox.Options{}, "coder")
				removed := false
				lossy := reopen(t, s.Dir(), dropbox.Options{Step: func(st dropbox.Step) error {
					if st.Op == at && !removed {
						removed = true
						return os.RemoveAll(filepath.Join(s.Dir(), "coder", folder))
					}
					return nil
				}})
				batch := drafts("coder", text("one"), text("two"))[:n]
				for i := range batch {
					batch[i].Message.Key = fmt.Sprint("key ", i)
				}
				for i, o := range lossy.DeliverBatch(batch) {
					if o.Err != nil {
						t.Errorf("%s is lost at %s: message %d of %d: %v", folder, at, i+1, n, o.Err)
					}
				}
				if got := len(list(t, mailbox(t, s, "coder"))); got != n {
					t.Errorf("%s is lost at %s: %d messages, want %d", folder, at, got, n)
				}
			}
		}
	}
}
