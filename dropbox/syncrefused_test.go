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

// No call reports success after a failed sync, unless it later makes the same data
// durable in another way.
func TestNoRefusedSyncIsPassedOver(t *testing.T) {
	for name, d := range actions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scratch := fastFolder(t)
			refused := 0
			for at := 1; ; at++ {
				var missing *dropbox.Step // the refused sync; nil once its data is durable
				over := true
				failing := func(dir string) (*dropbox.Store, func() error, error) {
					n := 0
					s, err := dropbox.Open(dir, dropbox.Options{Step: func(st dropbox.Step) error {
						if st.Op != dropbox.OpSync && st.Op != dropbox.OpSyncDir {
							return nil
						}
						if n++; n == at {
							missing, over = &st, false
							return syscall.EIO
						}
						// A retry of a file's sync uses a different file.
						if missing != nil && st.Op == missing.Op && (st.Op == dropbox.OpSync || st.Name == missing.Name) {
							missing = nil
						}
						return nil
					}})
					return s, func() error { return nil }, err
				}
				hurt, err := d.runWithFault(filepath.Join(scratch, fmt.Sprint(at)), syscall.EIO, false, failing)
				if err != nil {
					t.Errorf("sync %d: %v", at, err)
				}
				if over { // the action has fewer syncs than at
					break
				}
				refused++
				if missing != nil && !hurt {
					t.Errorf("success was reported, but this was not done: %v", missing)
				}
			}
			if refused == 0 {
				t.Error("nothing is made durable at all")
			}
		})
	}
}

// A power cut left a message with two names, one of them in an earlier day's folder in
// done/. The message is filed under that day and not again under another day.
func TestABatchFilesWhereTheMessageIs(t *testing.T) {
	now := time.Date(2026, 11, 21, 23, 59, 0, 0, time.UTC)
	s := newStore(t, dropbox.Options{Now: func() time.Time { return now }}, "coder")
	b := mailbox(t, s, "coder")
	deliver(t, s, "coder", text("work"))
	c := claim(t, b, list(t, b)[0])
	day := filepath.Join(s.Dir(), "coder/done/2026-11-21")
	if err := os.MkdirAll(day, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(s.Dir(), "coder/cur", c.Name), filepath.Join(day, c.Base()+".md")); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	for _, err := range b.SettleBatch([]dropbox.Settlement{{Entry: c.Entry, Receipt: []byte("receipt\n")}}) {
		if err != nil {
			t.Error(err)
		}
	}
	var got []string
	for _, found := range []string{"coder/cur/*", "coder/new/*", "coder/done/*/*"} {
		names, err := filepath.Glob(filepath.Join(s.Dir(), found))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			got = append(got, strings.TrimPrefix(name, s.Dir()+"/"))
		}
	}
	want := []string{"coder/done/2026-11-21/" + c.Base() + ".md", "coder/done/2026-11-21/" + c.Base() + ".receipt.yaml"}
	if !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
}

// The receipts of a batch stay in cur/ until the disk has made its messages durable in
// done/. After a power cut the receipts show that the turns were completed.
func TestReceiptsOfABatchStayUntilItsMessagesAreFiled(t *testing.T) {
	refused, filed := false, false
	s := newStore(t, dropbox.Options{Step: func(st dropbox.Step) error {
		switch {
		case st.Op == dropbox.OpSyncDir && strings.HasPrefix(st.Name, "coder/done/"):
			if !refused {
				refused = true
				return syscall.EIO
			}
			filed = true
		case st.Op == dropbox.OpReplace && strings.HasSuffix(st.To, ".receipt.yaml") && !filed:
			t.Errorf("before the messages are durable in done/: %v", st)
		}
		return nil
	}}, "coder")
	b := mailbox(t, s, "coder")
	for _, o := range s.DeliverBatch(drafts("coder", texts(2)...)) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
	}
	var done []dropbox.Settlement
	for _, e := range list(t, b) {
		done = append(done, dropbox.Settlement{Entry: claim(t, b, e).Entry, Receipt: []byte("receipt\n")})
	}
	for i, err := range b.SettleBatch(done) {
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if !refused {
		t.Error("the disk refused nothing")
	}
	for _, d := range done {
		if f, err := s.Find(d.Entry.ID); err != nil || f.State != dropbox.Done {
			t.Errorf("%s is %v, %v", d.Entry.ID, f.State, err)
		}
	}
}

// While a message is being put back, a power cut may leave both of its names in new/. The
// name with the higher count is kept.
func TestRecoverTwoNamesInNew(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	deliver(t, s, "coder", text("work"))
	e := list(t, b)[0]
	begun := e
	begun.Begun = 1
	in := filepath.Join(s.Dir(), "coder/new")
	if err := os.Link(filepath.Join(in, e.Name), filepath.Join(in, begun.FileName())); err != nil {
		t.Fatal(err)
	}
	if err := b.Recover(); err != nil {
		t.Fatal(err)
	}
	if got := list(t, b); len(got) != 1 || got[0].Begun != 1 {
		t.Errorf("%v waits, want %s", got, begun.FileName())
	}
}

// A publication is filed directly from new/. A power cut may leave both of its names while
// the receipt is still in cur/. The name in done/ is kept.
func TestRecoverAFiledPublication(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := s.Topics()
	if err := b.Make(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Deliver(text("work"), nil); err != nil {
		t.Fatal(err)
	}
	e := list(t, b)[0]
	if err := b.Commit(e, []byte("receipt\n")); err != nil {
		t.Fatal(err)
	}
	day := filepath.Join(s.Dir(), "topics/done", e.Created.Format("2006-01-02"))
	if err := errors.Join(os.Mkdir(day, 0o700), os.Link(filepath.Join(s.Dir(), "topics/new", e.Name), filepath.Join(day, e.Name))); err != nil {
		t.Fatal(err)
	}
	if err := b.Recover(); err != nil {
		t.Fatal(err)
	}
	if left := list(t, b); len(left) != 0 {
		t.Errorf("%v waits, want nothing: the publication is filed", left)
	}
	if _, err := os.Stat(filepath.Join(day, e.Name)); err != nil {
		t.Error(err)
	}
}

// Recover returns an error if it cannot list one of the mailbox's folders.
func TestRecoverNeedsTheFolders(t *testing.T) {
	for _, folder := range []string{"coder/new", "coder/cur", "coder/dead", "refused/coder"} {
		s := newStore(t, dropbox.Options{}, "coder")
		path := filepath.Join(s.Dir(), folder)
		if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := mailbox(t, s, "coder").Recover(); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("Recover without %s = %v, want %v", folder, err, syscall.ENOTDIR)
		}
	}
}

// Two names of a message may refer to one file that is being moved. If the name to keep
// no longer exists at the second check, the message is put back under the other name.
func TestADuplicateThatIsTheMessageItself(t *testing.T) {
	var keep string
	s := newStore(t, dropbox.Options{Step: func(st dropbox.Step) error {
		if keep != "" && st.Op == dropbox.OpMove && strings.HasPrefix(st.To, "coder/tmp/twin-") {
			return os.Remove(keep) // between the two checks
		}
		return nil
	}}, "coder")
	b := mailbox(t, s, "coder")
	deliver(t, s, "coder", text("work"))
	e := list(t, b)[0]
	c := claim(t, b, e)
	claimed := filepath.Join(s.Dir(), "coder/cur", c.Name)
	if err := os.Link(claimed, filepath.Join(s.Dir(), "coder/new", e.Name)); err != nil {
		t.Fatal(err)
	}
	keep = claimed
	if err := b.Recover(); err != nil {
		t.Fatal(err)
	}
	if got := list(t, b); len(got) != 1 || got[0].ID != e.ID {
		t.Errorf("%v waits, want %s", got, e.ID)
	}
	if left := scaffolding(s.Dir()); len(left) > 0 {
		t.Errorf("left behind %q", left)
	}
}

// Recover returns the error if it cannot remove one of a message's two names. A second
// call completes the removal.
func TestADuplicateThatTheDiskDoesNotRemove(t *testing.T) {
	for _, refused := range []dropbox.Op{dropbox.OpMove, dropbox.OpRemove} {
		var failing bool
		s := newStore(t, dropbox.Options{Step: func(st dropbox.Step) error {
			if failing && st.Op == refused {
				return syscall.EIO
			}
			return nil
		}}, "coder")
		b := mailbox(t, s, "coder")
		deliver(t, s, "coder", text("work"))
		e := list(t, b)[0]
		c := claim(t, b, e)
		if err := os.Link(filepath.Join(s.Dir(), "coder/cur", c.Name), filepath.Join(s.Dir(), "coder/new", e.Name)); err != nil {
			t.Fatal(err)
		}
		failing = true
		if err := b.Recover(); !errors.Is(err, syscall.EIO) {
			t.Errorf("Recover without %s = %v, want %v", refused, err, syscall.EIO)
		}
		failing = false
		if err := b.Recover(); err != nil {
			t.Fatal(err)
		}
		if got := list(t, b); len(got) != 0 {
			t.Errorf("%v waits, want nothing: the message was claimed", got)
		}
	}
}
