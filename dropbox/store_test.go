package dropbox_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// newStore creates a store with the given mailboxes and closes it at the end of the test.
func newStore(t testing.TB, o dropbox.Options, mailboxes ...string) *dropbox.Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".dead-drop")
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	return reopen(t, dir, o, mailboxes...)
}

func reopen(t testing.TB, dir string, o dropbox.Options, mailboxes ...string) *dropbox.Store {
	t.Helper()
	s, err := dropbox.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for _, name := range mailboxes {
		if err := s.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func mailbox(t testing.TB, s *dropbox.Store, name string) *dropbox.Mailbox {
	t.Helper()
	b, err := s.Mailbox(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func deliver(t testing.TB, s *dropbox.Store, to string, m *dropbox.Message) dropbox.Delivery {
	t.Helper()
	d, err := s.Deliver(to, m)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func list(t testing.TB, b *dropbox.Mailbox) []dropbox.Entry {
	t.Helper()
	entries, err := b.List()
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func claim(t testing.TB, b *dropbox.Mailbox, e dropbox.Entry) *dropbox.Claim {
	t.Helper()
	c, err := b.Claim(e)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tree lists the files below a folder, without the folders.
func tree(t testing.TB, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			files = append(files, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func text(format string, args ...any) *dropbox.Message {
	return &dropbox.Message{Body: fmt.Appendf(nil, format, args...)}
}

// Refill recreates the files of a store, and Recreate also the store's folder, but neither
// creates anything at the path of a folder that was moved away.
func TestWhatIsRecreated(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "p", ".dead-drop")
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	version := filepath.Join(dir, "version")
	if err := errors.Join(os.Remove(version), dropbox.Refill(dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(version); err != nil {
		t.Error(err)
	}
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := dropbox.Refill(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Refill of a store that was moved = %v, want fs.ErrNotExist", err)
	}
	if err := os.Rename(dir+"-away", dir); err != nil {
		t.Errorf("the store cannot be put back: %v", err)
	}
	if err := errors.Join(os.RemoveAll(dir), dropbox.Recreate(dir)); err != nil {
		t.Errorf("Recreate = %v", err)
	}
	if err := os.Rename(filepath.Join(base, "p"), filepath.Join(base, "q")); err != nil {
		t.Fatal(err)
	}
	if err := dropbox.Recreate(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Recreate in a project that was moved = %v, want fs.ErrNotExist", err)
	}
}

func TestCreateAndOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", ".dead-drop")
	if _, err := dropbox.Open(dir, dropbox.Options{}); !errors.Is(err, dropbox.ErrNoStore) {
		t.Errorf("Open of nothing = %v, want ErrNoStore", err)
	}
	for range 2 { // the second call finds an existing store
		if err := dropbox.Create(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"version", ".gitignore", "lead/new", "board/handoff", "attach", "refused"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v: others can read it", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "version"), []byte("2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := dropbox.Open(dir, dropbox.Options{}); !errors.Is(err, dropbox.ErrVersion) {
		t.Errorf("Open of version 2 = %v, want ErrVersion", err)
	}
	if err := dropbox.Create(dir); !errors.Is(err, dropbox.ErrVersion) {
		t.Errorf("Create over version 2 = %v, want ErrVersion", err)
	}
}

func TestMailboxes(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder", "tester", "irc")
	for _, dir := range []string{"Wrong", "stranger"} {
		if err := os.Mkdir(filepath.Join(s.Dir(), dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Mailboxes()
	if want := []string{"coder", "irc", "lead", "tester"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Mailboxes() = %v, %v, want %v", got, err, want)
	}
	got, err = s.Strangers()
	if want := []string{"Wrong", "stranger"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Strangers() = %v, %v, want %v", got, err, want)
	}
	for _, name := range []string{"all", "../x", "UPPER", "", "tmp"} {
		if err := s.MakeMailbox(name); !errors.Is(err, dropbox.ErrName) {
			t.Errorf("MakeMailbox(%q) = %v, want ErrName", name, err)
		}
	}
}

func TestLifeOfAMessage(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	want := "Fix it.\n\n---\nnot a fence of ours\x00\xff"
	d := deliver(t, s, "coder", &dropbox.Message{Subject: "build: red", Body: []byte(want)})

	entries := list(t, b)
	if len(entries) != 1 || entries[0].ID != d.ID || entries[0].Name != d.Name {
		t.Fatalf("List() = %+v, want the delivery %+v", entries, d)
	}
	c := claim(t, b, entries[0])
	if c.Bad != nil {
		t.Fatal(c.Bad)
	}
	m := c.Message
	if string(m.Body) != want || m.Subject != "build: red" || m.ID != d.ID || m.From != "lead" ||
		m.Type != dropbox.Task || m.Thread != d.ID || m.Trace != d.ID || !slices.Equal(m.To, []string{"coder"}) {
		t.Errorf("claimed %+v", m)
	}
	if c.Begun != 1 || !strings.HasSuffix(c.Name, "~1.0.md") {
		t.Errorf("claimed entry %+v, want it begun once", c.Entry)
	}
	if _, err := b.Claim(entries[0]); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("second Claim = %v, want ErrGone", err)
	}
	back, err := b.PutBack(c.Entry, true)
	if err != nil || back.Failed != 1 {
		t.Fatalf("PutBack = %+v, %v", back, err)
	}
	c = claim(t, b, list(t, b)[0])
	if c.Begun != 2 || c.Failed != 1 {
		t.Errorf("claimed again %+v, want begun 2, failed 1", c.Entry)
	}
	for range 2 {
		if err := b.Commit(c.Entry, []byte("v: 1\n")); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := b.Receipts(); err != nil || len(got) != 1 || got[0] != c.Entry {
		t.Errorf("Receipts() = %+v, %v, want %+v", got, err, c.Entry)
	}
	for range 2 {
		if err := b.Finish(c.Entry); err != nil {
			t.Fatal(err)
		}
		if has, err := b.HasReceipt(c.Entry); !has || err != nil {
			t.Errorf("HasReceipt = %v, %v", has, err)
		}
	}
	base := "coder/done/" + time.Now().UTC().Format("2006-01-02") + "/" + c.Base()
	files := tree(t, s.Dir())
	if !slices.Contains(files, base+".md") || !slices.Contains(files, base+".receipt.yaml") {
		t.Errorf("after Finish there is %q", files)
	}
	if data, err := b.Receipt(c.Entry); err != nil || string(data) != "v: 1\n" {
		t.Errorf("Receipt = %q, %v", data, err)
	}
}

func TestUnknownMailbox(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "alice", "bob")
	_, err := s.Deliver("alcie", text("hello"))
	unknown, ok := errors.AsType[*dropbox.UnknownError](err)
	if !ok || !slices.Equal(unknown.Near, []string{"alice"}) || !errors.Is(err, dropbox.ErrNoMailbox) {
		t.Errorf("Deliver to alcie = %v, want an UnknownError near alice", err)
	}
	if _, err := s.Deliver("../alice", text("hello")); !errors.Is(err, dropbox.ErrNoMailbox) && !errors.Is(err, dropbox.ErrName) {
		t.Errorf("Deliver to ../alice = %v", err)
	}
	if _, err := s.Mailbox("nobody"); !errors.Is(err, dropbox.ErrNoMailbox) {
		t.Errorf("Mailbox(nobody) = %v, want ErrNoMailbox", err)
	}
}
