package dropbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func TestFull(t *testing.T) {
	s := newStore(t, dropbox.Options{MaxWaiting: 2}, "coder")
	b := mailbox(t, s, "coder")
	deliver(t, s, "coder", text("1"))
	list(t, b)
	deliver(t, s, "coder", text("2"))
	entries := list(t, b)
	if _, err := s.Deliver("coder", text("3")); !errors.Is(err, dropbox.ErrFull) {
		t.Errorf("Deliver to a full mailbox = %v, want ErrFull", err)
	}
	if _, err := s.Send(&dropbox.Message{To: []string{"lead", "coder"}, Body: []byte("x")}, nil); !errors.Is(err, dropbox.ErrFull) {
		t.Errorf("Send to a full mailbox = %v, want ErrFull", err)
	}
	if n := len(list(t, mailbox(t, s, "lead"))); n != 0 {
		t.Errorf("a refused Send delivered %d", n)
	}
	deliver(t, s, "coder", &dropbox.Message{Type: dropbox.Result, Body: []byte("answers pass")})
	deliver(t, s, "coder", &dropbox.Message{From: dropbox.Swarm, Body: []byte("alerts pass")})
	for _, e := range entries {
		claim(t, b, e)
	}
	for _, e := range list(t, b) {
		claim(t, b, e)
	}
	list(t, b) // detects that there is room again
	deliver(t, s, "coder", text("4"))
}

// A full mailbox has room as soon as a claim, Cancel, MarkRead, File, GiveUp or Refuse
// takes a message out of it; no listing is needed. If answers raised the count above the
// limit, there is room as soon as the count is below the limit again.
func TestRoomAgain(t *testing.T) {
	for way, take := range map[string]func(b *dropbox.Mailbox, e dropbox.Entry) error{
		"claim":   func(b *dropbox.Mailbox, e dropbox.Entry) error { return second(b.Claim(e)) },
		"take":    func(b *dropbox.Mailbox, e dropbox.Entry) error { return second(b.Take(e)) },
		"cancel":  (*dropbox.Mailbox).Cancel,
		"read":    (*dropbox.Mailbox).MarkRead,
		"file":    (*dropbox.Mailbox).File,
		"give up": func(b *dropbox.Mailbox, e dropbox.Entry) error { return b.GiveUp(e, "why") },
		"refuse":  func(b *dropbox.Mailbox, e dropbox.Entry) error { return b.Refuse(e, "why") },
	} {
		t.Run(way, func(t *testing.T) {
			s := newStore(t, dropbox.Options{MaxWaiting: 2}, "coder")
			b := mailbox(t, s, "coder")
			for range 4 {
				deliver(t, s, "coder", &dropbox.Message{Type: dropbox.Result, Body: []byte("answers pass")})
			}
			for n, e := range list(t, b) {
				full, err := b.Full()
				if err != nil || full != (n < 3) {
					t.Errorf("%d of 4 taken, 2 may wait: full %v (%v)", n, full, err)
				}
				// Each call uses a new Mailbox, because the Store, not the Mailbox,
				// counts the messages that leave.
				if err := take(mailbox(t, s, "coder"), e); err != nil {
					t.Fatal(err)
				}
			}
			deliver(t, s, "coder", text("there is room"))
		})
	}
}

func TestBounds(t *testing.T) {
	s := newStore(t, dropbox.Options{MaxBody: 200, MaxAttachment: 1000}, "coder")
	b := mailbox(t, s, "coder")
	large, ok := errors.AsType[*dropbox.TooLargeError](second(s.Deliver("coder", text("%0201d", 1))))
	if !ok || large.What != "body" || large.Size != 201 || large.Max != 200 {
		t.Errorf("Deliver of 201 bytes: %+v", large)
	}
	if _, err := s.Deliver("coder", &dropbox.Message{Hops: 9, Body: []byte("x")}); !errors.Is(err, dropbox.ErrHops) {
		t.Errorf("Deliver after 9 hops = %v, want ErrHops", err)
	}
	deliver(t, s, "coder", &dropbox.Message{Hops: 8, Body: []byte("x")})
	long := strings.Repeat("€", 300)
	deliver(t, s, "coder", &dropbox.Message{Type: dropbox.Result, Body: []byte(long)})
	m := claim(t, b, list(t, b)[1]).Message
	if len(m.Body) > 200 || len(m.Attachments) != 1 || m.Attachments[0].Size != 900 || !strings.HasPrefix(string(m.Body), "€") {
		t.Errorf("a long result has the body %q and %+v", m.Body, m.Attachments)
	}
	if _, err := s.Deliver("coder", &dropbox.Message{Type: dropbox.Result, Body: make([]byte, 1001)}); !errors.Is(err, dropbox.ErrTooLarge) {
		t.Errorf("Deliver of a huge result = %v, want ErrTooLarge", err)
	}
}

func second[T any](_ T, err error) error { return err }

// Deliver copies the message and does not change the caller's value.
func TestDeliverLeavesTheMessage(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	m := text("x")
	a, b := deliver(t, s, "coder", m), deliver(t, s, "coder", m)
	if a.ID == b.ID || a.Name >= b.Name || m.ID != "" || m.Thread != "" || m.To != nil {
		t.Errorf("delivered %+v and %+v of %+v", a, b, m)
	}
}

// A call that needs deleted folders recreates them.
func TestDeletedFolders(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	remove := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.RemoveAll(filepath.Join(s.Dir(), "coder", name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove("tmp", "new")
	deliver(t, s, "coder", text("1"))
	remove("keys")
	deliver(t, s, "coder", keyed("k"))
	remove("cur")
	c := claim(t, b, list(t, b)[0])
	remove("done", "tmp")
	if err := errors.Join(b.Commit(c.Entry, []byte("r")), b.Finish(c.Entry)); err != nil {
		t.Error(err)
	}
	c = claim(t, b, list(t, b)[0])
	remove("new")
	back, err := b.PutBack(c.Entry, false)
	if err != nil {
		t.Fatal(err)
	}
	remove("dead", "tmp")
	if err := b.GiveUp(claim(t, b, back).Entry, "enough"); err != nil {
		t.Error(err)
	}
	remove("") // removes the whole mailbox
	if _, err := s.Deliver("coder", text("2")); !errors.Is(err, dropbox.ErrNoMailbox) {
		t.Errorf("Deliver after the mailbox was deleted = %v, want ErrNoMailbox", err)
	}
	if err := s.MakeMailbox("coder"); err != nil {
		t.Fatal(err)
	}
	deliver(t, s, "coder", text("2"))
}

// A file in new/ whose name is not a message name is set aside. A file or folder that has
// a message name but is not a message is recognized as bad when it is claimed. Symlinks
// are not followed.
func TestStrangeThingsInNew(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	in := filepath.Join(s.Dir(), "coder/new")
	outside := t.TempDir()
	name := func() string { return "1-20261121T045102.123456Z-" + dropbox.NewID() + ".md" }
	for what, err := range map[string]error{
		"symlink": os.Symlink(outside, filepath.Join(in, name())),
		"folder":  os.Mkdir(filepath.Join(in, name()), 0o700),
		"fifo":    syscall.Mkfifo(filepath.Join(in, name()), 0o600),
		"no text": os.WriteFile(filepath.Join(in, name()), []byte("no front matter"), 0o600),
		"another": os.WriteFile(filepath.Join(in, name()), []byte("---\nid: aaaaaaaaaa\n---\n"), 0o600),
		"large":   truncated(filepath.Join(in, name()), 50<<20),
		"odd":     os.WriteFile(filepath.Join(in, "hello.md"), []byte("hello"), 0o600),
		"odd dir": os.Mkdir(filepath.Join(in, "folder"), 0o700),
		"odd sym": os.Symlink(outside, filepath.Join(in, "link")),
		"hidden":  os.WriteFile(filepath.Join(in, ".nfs0001"), nil, 0o600),
	} {
		if err != nil {
			t.Fatal(what, err)
		}
	}
	before := tree(t, s.Dir())
	if entries, err := b.Peek(); err != nil || len(entries) != 6 || !slices.Equal(tree(t, s.Dir()), before) {
		t.Errorf("Peek = %d entries (%v), want 6 and nothing changed", len(entries), err)
	}
	entries, aside, err := b.ListAside()
	if err != nil || len(entries) != 6 || len(aside) != 3 {
		t.Fatalf("%d entries and %d set aside (%v), want 6 and 3", len(entries), len(aside), err)
	}
	for _, e := range entries {
		c := claim(t, b, e)
		if c.Bad == nil || c.Message != nil {
			t.Errorf("%s was read as %+v", e.Name, c.Message)
			continue
		}
		if again, err := b.Open(c.Entry); err != nil || again.Bad == nil {
			t.Errorf("Open = %+v, %v, want it bad again", again, err)
		}
		if err := b.GiveUp(c.Entry, c.Bad.Error()); err != nil {
			t.Error(err)
		}
	}
	dead, err := b.DeadLetters().List()
	for _, d := range aside {
		if !slices.Contains(dead, d) {
			t.Errorf("ListAside returns %+v, which is not among the dead letters", d)
		}
	}
	if err != nil || len(dead) != 9 {
		t.Fatalf("%d dead letters, %v, want 9", len(dead), err)
	}
	var original []string
	for _, d := range dead {
		if d.Reason == "" {
			t.Errorf("%s has no reason", d.Name)
		}
		if d.Original != "" {
			original = append(original, d.Original)
		}
	}
	slices.Sort(original)
	if want := []string{"folder", "hello.md", "link"}; !slices.Equal(original, want) {
		t.Errorf("set aside %v, want %v", original, want)
	}
	if left := tree(t, in); !slices.Equal(left, []string{".nfs0001"}) {
		t.Errorf("left in new: %v", left)
	}
}

// Neither Deliver nor Take follows a symlink that replaced a folder.
func TestSymlinkedFolders(t *testing.T) {
	for _, folder := range []string{"", "new", "tmp", "cur", "keys"} {
		s := newStore(t, dropbox.Options{}, "coder")
		b := mailbox(t, s, "coder")
		e := deliver(t, s, "coder", text("x"))
		entry := list(t, b)[0]
		path := filepath.Join(s.Dir(), "coder", folder)
		outside := filepath.Join(t.TempDir(), "outside")
		if err := errors.Join(os.Rename(path, outside), os.Symlink(outside, path)); err != nil {
			t.Fatal(err)
		}
		before := tree(t, outside)
		_, errDeliver := s.Deliver("coder", keyed("k"))
		_, errClaim := b.Take(entry)
		if errDeliver == nil && folder != "cur" {
			t.Errorf("%q: delivered through a symlink", folder)
		}
		if errClaim == nil && folder != "tmp" && folder != "keys" {
			t.Errorf("%q: claimed %s through a symlink", folder, e.ID)
		}
		if after := tree(t, outside); !slices.Equal(before, after) {
			t.Errorf("%q: outside changed from %v to %v", folder, before, after)
		}
	}
}

func TestNotesAndTheLead(t *testing.T) {
	s := newStore(t, dropbox.Options{})
	b := mailbox(t, s, dropbox.Lead)
	d := deliver(t, s, dropbox.Lead, text("news"))
	e := list(t, b)[0]
	if m, err := b.Read(e); err != nil || m.ID != d.ID || len(list(t, b)) != 1 {
		t.Errorf("Read = %+v, %v", m, err)
	}
	for range 2 {
		if err := b.MarkRead(e); err != nil {
			t.Fatal(err)
		}
	}
	if read, err := b.Claimed(); err != nil || len(read) != 1 || read[0] != e {
		t.Errorf("Claimed() = %+v, %v, want %+v unchanged", read, err, e)
	}
	if _, err := b.Read(e); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := b.File(e); err != nil {
			t.Fatal(err)
		}
	}
	f, err := s.Find(d.ID[5:])
	if err != nil || f.State != dropbox.Done {
		t.Errorf("Find = %+v, %v, want it done", f, err)
	}
	if err := b.MarkRead(e); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("MarkRead of a filed message = %v, want ErrGone", err)
	}
	deliver(t, s, dropbox.Lead, text("more"))
	if err := b.File(list(t, b)[0]); err != nil { // directly from new/
		t.Error(err)
	}
	if _, err := b.Read(e); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("Read of a filed message = %v, want ErrGone", err)
	}
}

// A git checkout can restore a finished message to new/. The message still has its
// receipt.
func TestWorkThatCameBack(t *testing.T) {
	now := time.Now()
	s := newStore(t, dropbox.Options{Now: func() time.Time { return now }}, "coder")
	b := mailbox(t, s, "coder")
	d := deliver(t, s, "coder", text("x"))
	path := filepath.Join(s.Dir(), "coder/new", d.Name)
	saved, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, age := range []time.Duration{0, 30 * time.Hour, 40 * 24 * time.Hour} {
		now = now.Add(age) // the file is restored some time after the turn
		if age == 0 {
			c := claim(t, b, list(t, b)[0])
			if has, err := b.HasReceipt(c.Entry); has || err != nil {
				t.Fatalf("HasReceipt of a new message = %v, %v", has, err)
			}
			now = now.Add(26 * time.Hour)
			if err := errors.Join(b.Commit(c.Entry, []byte("r")), b.Finish(c.Entry)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, saved, 0o600); err != nil {
			t.Fatal(err)
		}
		c := claim(t, b, list(t, b)[0])
		if has, err := b.HasReceipt(c.Entry); !has || err != nil {
			t.Errorf("%v later: HasReceipt = %v, %v", age, has, err)
		}
		if err := b.File(c.Entry); err != nil {
			t.Fatal(err)
		}
		if receipt, err := b.Receipt(c.Entry); err != nil || string(receipt) != "r" {
			t.Errorf("%v later: the receipt is %q, %v", age, receipt, err)
		}
	}
}

// Finish files the message and the receipt under the day of the first Finish attempt,
// even if a later attempt completes after midnight.
func TestFinishOverMidnight(t *testing.T) {
	now := time.Date(2026, 11, 21, 23, 59, 59, 0, time.UTC)
	clock := func() time.Time { return now }
	s := newStore(t, dropbox.Options{Now: clock}, "coder")
	b := mailbox(t, s, "coder")
	deliver(t, s, "coder", text("x"))
	c := claim(t, b, list(t, b)[0])
	if err := b.Commit(c.Entry, []byte("r")); err != nil {
		t.Fatal(err)
	}
	moves := 0
	cut := reopen(t, s.Dir(), dropbox.Options{Now: clock, Step: func(st dropbox.Step) error {
		if st.Op == dropbox.OpReplace {
			if moves++; moves == 2 {
				return errors.New("cut off")
			}
		}
		return nil
	}})
	if err := mailbox(t, cut, "coder").Finish(c.Entry); err == nil {
		t.Fatal("was not cut off")
	}
	now = now.Add(time.Hour)
	left, err := b.Receipts()
	if err != nil || len(left) != 1 || left[0].Name != "" || left[0].ID != c.ID {
		t.Fatalf("Receipts() = %+v, %v, want the receipt alone", left, err)
	}
	if err := b.Finish(left[0]); err != nil {
		t.Fatal(err)
	}
	base := "2026-11-21/" + c.Base()
	if got := tree(t, filepath.Join(s.Dir(), "coder/done")); !slices.Equal(got, []string{base + ".md", base + ".receipt.yaml"}) {
		t.Errorf("done has %v", got)
	}
}

func TestReleaseIsNotCounted(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	deliver(t, s, "coder", text("x"))
	e := list(t, b)[0]
	c := claim(t, b, e)
	for range 2 { // the second call is the retry after an error
		if back, err := b.Release(c.Entry); err != nil || back != e {
			t.Errorf("Release = %+v, %v, want %+v", back, err, e)
		}
	}
	c = claim(t, b, e)
	if err := b.GiveUp(c.Entry, "enough"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Release(c.Entry); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("Release of an unclaimed message = %v, want ErrGone", err)
	}
	if _, err := b.PutBack(c.Entry, false); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("PutBack of an unclaimed message = %v, want ErrGone", err)
	}
}

// A claim fails if the disk cannot make it durable.
func TestClaimOnAFailingDisk(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	deliver(t, s, "coder", text("x"))
	bad := reopen(t, s.Dir(), dropbox.Options{Step: refuse(syscall.EIO, dropbox.OpSyncDir)})
	b := mailbox(t, bad, "coder")
	e := list(t, b)[0]
	if _, err := b.Claim(e); !errors.Is(err, syscall.EIO) {
		t.Errorf("Claim = %v, want EIO", err)
	}
	if now := list(t, b); len(now) != 1 || now[0] != e {
		t.Errorf("after the failed Claim %+v waits, want %+v", now, e)
	}
}

// If the disk refuses all writes, the messages can still be listed.
func TestListOnAFullDisk(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	deliver(t, s, "coder", text("x"))
	if err := os.WriteFile(filepath.Join(s.Dir(), "coder/new/odd.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	full := reopen(t, s.Dir(), dropbox.Options{MaxWaiting: 1, Step: func(dropbox.Step) error { return syscall.ENOSPC }})
	if n := len(list(t, mailbox(t, full, "coder"))); n != 1 {
		t.Errorf("List on a full disk has %d entries, want 1", n)
	}
}

// Finished lists the messages with a receipt by the day on which they were finished. Only
// Filed lists messages that were filed without a turn.
func TestFinished(t *testing.T) {
	now := time.Date(2026, 11, 21, 23, 59, 0, 0, time.UTC)
	s := newStore(t, dropbox.Options{Now: func() time.Time { return now }}, "coder")
	b := mailbox(t, s, "coder")
	var want []string
	for range 2 {
		deliver(t, s, "coder", text("x"))
		c := claim(t, b, list(t, b)[0])
		if err := errors.Join(b.Commit(c.Entry, []byte("r")), b.Finish(c.Entry)); err != nil {
			t.Fatal(err)
		}
		want = append(want, c.ID)
	}
	deliver(t, s, "coder", text("no turn"))
	if err := b.File(list(t, b)[0]); err != nil {
		t.Fatal(err)
	}
	got, err := b.Finished(now)
	if err != nil || len(got) != 2 || got[0].ID != want[0] || got[1].ID != want[1] {
		t.Errorf("Finished = %v (%v), want %v", got, err, want)
	}
	for _, e := range got {
		if data, err := b.Receipt(e); err != nil || string(data) != "r" {
			t.Errorf("Receipt(%s) = %q (%v)", e.ID, data, err)
		}
	}
	if got, err := b.Finished(now.Add(time.Hour)); err != nil || len(got) != 0 {
		t.Errorf("Finished of another day = %v (%v), want nothing", got, err)
	}
	filed, err := b.Filed(now)
	if err != nil || len(filed) != 3 {
		t.Fatalf("Filed = %v (%v), want three messages", filed, err)
	}
	if m, err := s.Load(filed[2]); err != nil || string(m.Body) != "no turn" {
		t.Errorf("Load of a filed message = %+v (%v)", m, err)
	}
	if got, err := b.Filed(now.Add(time.Hour)); err != nil || len(got) != 0 {
		t.Errorf("Filed of another day = %v (%v), want nothing", got, err)
	}
}
