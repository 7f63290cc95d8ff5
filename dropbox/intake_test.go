package dropbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// drop writes a file into the mailbox the way a person does.
func drop(t testing.TB, s *dropbox.Store, agent, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.Dir(), agent, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func onlyStray(t testing.TB, b *dropbox.Mailbox) dropbox.Stray {
	t.Helper()
	strays, err := b.Drops().List()
	if err != nil || len(strays) != 1 {
		t.Fatalf("List() of the drops = %+v, %v, want one", strays, err)
	}
	return strays[0]
}

func onlyDead(t testing.TB, b *dropbox.Mailbox) dropbox.DeadLetter {
	t.Helper()
	dead, err := b.DeadLetters().List()
	if err != nil || len(dead) != 1 {
		t.Fatalf("List() of the dead letters = %+v, %v, want one", dead, err)
	}
	want := 1
	if dead[0].Reason == "cancelled while it waited" {
		want = 0 // a cancelled message is not counted
	}
	if n, err := b.DeadLetters().Count(); err != nil || n != want {
		t.Fatalf("Count() of the dead letters = %d, %v, want %d", n, err, want)
	}
	return dead[0]
}

func TestTakeInPlainText(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	drop(t, s, "coder", "Fix this.txt", "Please fix it.\n")
	d, err := b.Drops().TakeIn(onlyStray(t, b), dropbox.Defaults{From: "tester", Thread: "aaaaaaaaaa", Trace: "bbbbbbbbbb", Hops: 2})
	if err != nil {
		t.Fatal(err)
	}
	m := claim(t, b, list(t, b)[0]).Message
	if m.ID != d.ID || m.From != "tester" || m.Type != dropbox.Task || m.Thread != "aaaaaaaaaa" || m.Trace != "bbbbbbbbbb" ||
		m.Hops != 2 || string(m.Body) != "Please fix it.\n" || !slices.Equal(m.To, []string{"coder"}) {
		t.Errorf("taken in as %+v", m)
	}
	if strays, err := b.Drops().List(); err != nil || len(strays) > 0 {
		t.Errorf("still there: %v, %v", strays, err)
	}
}

func TestTakeInFrontMatter(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder", "tester")
	b := mailbox(t, s, "coder")
	drop(t, s, "coder", "plan.md", "\xef\xbb\xbf---\nid: zzzzzzzzzz\nv: 1\ncreated: 1999-01-01T00:00:00Z\nturn: t9\nproof: abc\nfrom: reviewer\n"+
		"to: [tester, coder]\ncc: [tester, nobody]\ntype: question\npriority: urgent\nhops: 1\n---\nWhy?\n")
	if _, err := b.Drops().TakeIn(onlyStray(t, b), dropbox.Defaults{From: "lead"}); err != nil {
		t.Fatal(err)
	}
	e := list(t, b)[0]
	m := claim(t, b, e).Message
	if m.ID == "zzzzzzzzzz" || m.Created.Year() < 2020 || m.Turn != "" || m.Proof != "" {
		t.Errorf("kept fields that only a store may set: %+v", m)
	}
	if m.From != "reviewer" || m.Type != dropbox.Question || e.Priority != dropbox.Urgent || m.Hops != 1 ||
		string(m.Body) != "Why?\n" || !slices.Equal(m.To, []string{"coder"}) {
		t.Errorf("did not keep the fields of the file: %+v", m)
	}
	other := mailbox(t, s, "tester")
	copied := claim(t, other, list(t, other)[0]).Message
	if copied.Type != dropbox.Note || copied.Thread != m.Thread || copied.ID == m.ID {
		t.Errorf("the copy is %+v", copied)
	}
}

// If a mailbox that cc names is full, no recipient gets the message and the file waits;
// Send likewise refuses the whole message. Once there is room, each recipient gets the
// message once, even if the mailbox became full during the call.
func TestTakeInWhileACopyHasNoRoom(t *testing.T) {
	for _, late := range []bool{false, true} { // if late is true, the mailbox becomes full during the call
		full := filepath.Join("tester", "FULL")
		dir := ""
		s := newStore(t, dropbox.Options{Step: func(st dropbox.Step) error {
			if late && st.Op == dropbox.OpMove && strings.HasPrefix(st.To, "coder/new/") {
				return os.WriteFile(filepath.Join(dir, full), nil, 0o600)
			}
			return nil
		}}, "coder", "tester", "other")
		dir = s.Dir()
		b, tester, other := mailbox(t, s, "coder"), mailbox(t, s, "tester"), mailbox(t, s, "other")
		drop(t, s, "coder", "plan.md", "---\nfrom: lead\ncc: [other, tester]\n---\nGo.\n")
		if !late {
			if err := os.WriteFile(filepath.Join(dir, full), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			_, err := b.Drops().TakeIn(onlyStray(t, b), dropbox.Defaults{From: "lead"})
			if !errors.Is(err, dropbox.ErrFull) || !strings.Contains(err.Error(), "tester") {
				t.Errorf("late %v: TakeIn = %v, want ErrFull of tester", late, err)
			}
		}
		if n := len(ids(t, b)) + len(ids(t, other)); !late && n != 0 {
			t.Errorf("%d messages were delivered from a file that waits", n)
		}
		if err := os.Remove(filepath.Join(dir, full)); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Drops().TakeIn(onlyStray(t, b), dropbox.Defaults{From: "lead"}); err != nil {
			t.Fatal(err)
		}
		for _, box := range []*dropbox.Mailbox{b, tester, other} {
			if n := len(ids(t, box)); n != 1 {
				t.Errorf("late %v: %s has %d messages, want 1", late, box.Name(), n)
			}
		}
	}
}

func TestTakeInLongBody(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	long := strings.Repeat("ein schönes Wort\n", 2000)
	drop(t, s, "coder", "long.md", long)
	if _, err := b.Drops().TakeIn(onlyStray(t, b), dropbox.Defaults{}); err != nil {
		t.Fatal(err)
	}
	m := claim(t, b, list(t, b)[0]).Message
	if len(m.Body) > 8<<10 || !utf8.Valid(m.Body) || !bytes.HasPrefix(m.Body, []byte(long[:4000])) || len(m.Attachments) != 1 {
		t.Fatalf("body of %d bytes, attachments %+v", len(m.Body), m.Attachments)
	}
	f, err := s.OpenAttachment(m.Attachments[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if data, err := io.ReadAll(f); err != nil || string(data) != long {
		t.Errorf("attachment has %d bytes, %v, want %d", len(data), err, len(long))
	}
}

// A block between --- lines is an envelope only if every key in it is a key of the envelope.
// Otherwise the agent gets the whole file.
func TestTakeInKeepsText(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		text    bool // the whole file is the text
	}{
		"a sentence":             {"---\nPlease note: never touch main\n---\nThen push.\n", true},
		"a sentence, no colon":   {"---\nNever touch main\n---\nThen push.\n", true},
		"other keys":             {"---\ntitle: fix the login page\nlabels: [bug]\n---\nDo what the title says.\n", true},
		"other keys alone":       {"---\nname: x\ndescription: make it work\n---\n", true},
		"our keys and others":    {"---\nfrom: tester\ncolour: green\n---\nWhy?\n", true},
		"our keys, other case":   {"---\nFrom: tester\n---\nWhy?\n", true},
		"CRLF":                   {"---\r\ntitle: a\r\n---\r\nb\r\n", true},
		"no YAML":                {"---\n\ttask: [\n---\nGo.\n", true},
		"one rule":               {"---\nGo on.\n", true},
		"one rule, a paragraph":  {"---\nfrom here on: stop\n\nGo on.\n", true},
		"a table of two columns": {"---\n- a: 1\n---\n", true},
		"a long block":           {"---\n" + strings.Repeat("x: y\n", 5000) + "---\nGo.\n", true},
		"a rule further down":    {"Go.\n\n---\ntitle: a\n---\n", false},
		"an envelope":            {"---\n# for tester\nsubject: >-\n  two\n  lines\ncc:\n- tester\n---\nGo.\n", false},
		"an envelope for IRC":    {"---\nfrom: tester\nirc: {channel: '#x'}\n---\nGo.\n", false},
		"an empty envelope":      {"---\n---\nGo.\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, dropbox.Options{}, "coder", "tester")
			b := mailbox(t, s, "coder")
			drop(t, s, "coder", "x.md", c.content)
			d, err := b.Drops().TakeIn(onlyStray(t, b), dropbox.Defaults{From: "lead"})
			if err != nil || d.Text != c.text {
				t.Fatalf("TakeIn: text %v, %v; want text %v", d.Text, err, c.text)
			}
			m := claim(t, b, list(t, b)[0]).Message
			if c.text && !strings.HasPrefix(string(m.Body), c.content[:min(len(c.content), 100)]) || !strings.Contains(string(m.Body), "Go") && !c.text {
				t.Errorf("the body is %q", m.Body)
			}
			if !c.text && name == "an envelope" && m.Subject != "two lines" {
				t.Errorf("the subject is %q", m.Subject)
			}
		})
	}
}

// A file that can never become a message is set aside with a reason and can be put back.
func TestTakeInRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		content string
		reason  string
		from    string
	}{
		"empty":       {" \n", "empty", ""},
		"NUL":         {"a\x00b", "NUL", ""},
		"not UTF-8":   {"a\xff\xfeb", "UTF-8", ""},
		"broken":      {"---\nfrom: tester\nto: [\n---\nbody", "front matter", "tester"},
		"no end":      {"---\nfrom: 'tester'\n\nbody", "does not end", "tester"},
		"type":        {"---\nfrom: tester\ntype: order\n---\nbody", "order", "tester"},
		"says naught": {"---\nfrom: tester\n---\n", "empty", "tester"},
		"loop":        {"---\nfrom: tester\nhops: 9\n---\nbody", "passed on", "tester"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, dropbox.Options{}, "coder", "tester")
			b := mailbox(t, s, "coder")
			drop(t, s, "coder", "x.md", test.content)
			_, err := b.Drops().TakeIn(onlyStray(t, b), dropbox.Defaults{})
			bad, ok := errors.AsType[*dropbox.InvalidError](err)
			if !ok || !strings.Contains(bad.Reason, test.reason) || bad.From != test.from {
				t.Fatalf("TakeIn = %v (%+v), want a reason with %q from %q", err, bad, test.reason, test.from)
			}
			dead := onlyDead(t, b)
			if dead.Original != "x.md" || !strings.Contains(dead.Reason, test.reason) {
				t.Errorf("dead letter %+v", dead)
			}
			if data, err := os.ReadFile(filepath.Join(s.Dir(), "coder/dead", dead.Name)); err != nil || string(data) != test.content {
				t.Errorf("kept %q, %v", data, err)
			}
			// A person can correct the file in dead/ and then retry it.
			if err := b.DeadLetters().Retry(dead); err != nil {
				t.Fatal(err)
			}
			if st := onlyStray(t, b); st.Name != "x.md" {
				t.Errorf("after Retry there is %+v", st)
			}
		})
	}
}

func TestTakeInStrangeThings(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for kind, build := range map[dropbox.Kind]func(path string) error{
		dropbox.KindSymlink: func(path string) error { return os.Symlink(secret, path) },
		dropbox.KindFifo:    func(path string) error { return syscall.Mkfifo(path, 0o600) },
		dropbox.KindFolder:  func(path string) error { return os.Mkdir(path, 0o700) },
		dropbox.KindFile:    func(path string) error { return truncated(path, 50<<20) },
	} {
		t.Run(string(kind), func(t *testing.T) {
			s := newStore(t, dropbox.Options{}, "coder")
			b := mailbox(t, s, "coder")
			if err := build(filepath.Join(s.Dir(), "coder", "x.md")); err != nil {
				t.Fatal(err)
			}
			st := onlyStray(t, b)
			if st.Kind != kind {
				t.Errorf("kind %q, want %q", st.Kind, kind)
			}
			if _, err := b.Drops().TakeIn(st, dropbox.Defaults{}); !errors.Is(err, dropbox.ErrInvalid) {
				t.Errorf("TakeIn = %v, want ErrInvalid", err)
			}
			dead := onlyDead(t, b)
			if dead.Reason == "" {
				t.Error("no reason")
			}
			if data, err := os.ReadFile(secret); err != nil || string(data) != "secret" {
				t.Errorf("the file behind the symlink: %q, %v", data, err)
			}
			if err := b.DeadLetters().Purge(dead); err != nil {
				t.Fatal(err)
			}
			if left := tree(t, filepath.Join(s.Dir(), "coder/dead")); len(left) > 0 {
				t.Errorf("after Purge: %v", left)
			}
		})
	}
}

func truncated(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

func TestTakeInUnreadable(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	drop(t, s, "coder", "x.md", "hidden")
	if err := os.Chmod(filepath.Join(s.Dir(), "coder/x.md"), 0); err != nil {
		t.Fatal(err)
	}
	st := onlyStray(t, b)
	if os.Getuid() == 0 { // root can read every file, so make the store behave as it would for another user
		st.Kind = dropbox.KindUnreadable
	} else if st.Kind != dropbox.KindUnreadable {
		t.Errorf("kind %q", st.Kind)
	}
	if _, err := b.Drops().TakeIn(st, dropbox.Defaults{}); !errors.Is(err, dropbox.ErrInvalid) {
		t.Errorf("TakeIn = %v, want ErrInvalid", err)
	}
	if dead := onlyDead(t, b); !strings.Contains(dead.Reason, "permissions") {
		t.Errorf("reason %q", dead.Reason)
	}
}

func TestTakeInWhileItGrows(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	drop(t, s, "coder", "x.md", "half")
	st := onlyStray(t, b)
	drop(t, s, "coder", "x.md", "half and more")
	if _, err := b.Drops().TakeIn(st, dropbox.Defaults{}); !errors.Is(err, dropbox.ErrChanged) {
		t.Errorf("TakeIn of a file that grew = %v, want ErrChanged", err)
	}
	path := filepath.Join(s.Dir(), "coder/x.md")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Drops().TakeIn(st, dropbox.Defaults{}); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("TakeIn of a removed file = %v, want ErrGone", err)
	}
	if err := os.Symlink("/etc/passwd", path); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Drops().TakeIn(st, dropbox.Defaults{}); !errors.Is(err, dropbox.ErrChanged) {
		t.Errorf("TakeIn of a file that became a symlink = %v, want ErrChanged", err)
	}
	if dead, err := b.DeadLetters().List(); err != nil || len(dead) > 0 || len(list(t, b)) > 0 {
		t.Errorf("something was taken in or set aside: %v, %v", dead, err)
	}
}

func TestStraysLeaveOut(t *testing.T) {
	s := newStore(t, dropbox.Options{MaxWaiting: 1}, "coder")
	b := mailbox(t, s, "coder")
	deliver(t, s, "coder", text("x"))
	list(t, b) // writes FULL
	for _, name := range []string{".hidden", "a~", ".a.swp", "a.tmp", "a.part", "#a#", "a.crdownload"} {
		drop(t, s, "coder", name, "x")
	}
	drop(t, s, "coder", "real.md", "x")
	if st := onlyStray(t, b); st.Name != "real.md" {
		t.Errorf("found %+v", st)
	}
}

func TestMoveToWork(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	for _, content := range []string{"one", "two"} { // the second file replaces the first
		drop(t, s, "coder", "out.md", content)
		if err := b.Drops().MoveToWork(onlyStray(t, b)); err != nil {
			t.Fatal(err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(s.Dir(), "coder/work/out.md")); err != nil || string(data) != "two" {
		t.Errorf("work/out.md: %q, %v", data, err)
	}
	if err := os.Mkdir(filepath.Join(s.Dir(), "coder/out.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := b.Drops().MoveToWork(onlyStray(t, b)); err != nil {
		t.Fatal(err)
	}
	if err := b.Drops().MoveToWork(dropbox.Stray{Name: "none"}); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("MoveToWork of nothing = %v, want ErrGone", err)
	}
}

// FuzzTakeIn checks that every dropped file becomes either one message or one dead letter
// with the same content.
func FuzzTakeIn(f *testing.F) {
	f.Add([]byte("hello"))
	f.Add([]byte("---\nfrom: a\nkey: k\n---\nbody"))
	f.Add([]byte("---\nx: [\n"))
	f.Add([]byte{0xff})
	dir := filepath.Join(f.TempDir(), ".dead-drop")
	if err := dropbox.Create(dir); err != nil {
		f.Fatal(err)
	}
	s := reopen(f, dir, dropbox.Options{})
	n := 0
	f.Fuzz(func(t *testing.T, data []byte) {
		n++
		agent := fmt.Sprintf("a%d-%d", os.Getpid(), n)
		if err := s.MakeMailbox(agent); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(filepath.Join(dir, agent))
		b := mailbox(t, s, agent)
		drop(t, s, agent, "x.md", string(data))
		_, err := b.Drops().TakeIn(onlyStray(t, b), dropbox.Defaults{From: "lead"})
		switch {
		case err == nil:
			entries := list(t, b)
			if len(entries) != 1 {
				t.Fatalf("%d messages", len(entries))
			}
			c := claim(t, b, entries[0])
			if c.Bad != nil {
				t.Fatalf("%q was taken in, but the claim says: %v", data, c.Bad)
			}
			if len(c.Message.Attachments) == 0 && !bytes.HasSuffix(data, c.Message.Body) {
				t.Fatalf("%q became %q", data, c.Message.Body)
			}
		case errors.Is(err, dropbox.ErrInvalid):
			kept, err := os.ReadFile(filepath.Join(dir, agent, "dead", onlyDead(t, b).Name))
			if err != nil || !bytes.Equal(kept, data) {
				t.Fatalf("set aside %q as %q, %v", data, kept, err)
			}
		default:
			t.Fatalf("TakeIn(%q) = %v", data, err)
		}
	})
}

// While the disk has no room for the reason, an invalid drop stays in place. Once there
// is room, the drop is set aside with its reason.
func TestNothingIsSetAsideWithoutItsReason(t *testing.T) {
	full := false
	s := newStore(t, dropbox.Options{Step: func(st dropbox.Step) error {
		if full && (st.Op == dropbox.OpCreate || st.Op == dropbox.OpWrite) {
			return syscall.ENOSPC
		}
		return nil
	}}, "coder")
	b := mailbox(t, s, "coder")
	if err := s.Room(); err != nil {
		t.Errorf("Room = %v, want room", err)
	}
	full = true
	if err := s.Room(); !dropbox.IsNoRoom(err) {
		t.Errorf("Room = %v, want the error of a full disk", err)
	}
	drop(t, s, "coder", "empty.md", "")
	if _, err := b.Drops().TakeIn(onlyStray(t, b), dropbox.Defaults{}); !dropbox.IsNoRoom(err) {
		t.Errorf("TakeIn on a full disk = %v, want the error of a full disk", err)
	}
	if dead, err := b.DeadLetters().List(); err != nil || len(dead) > 0 {
		t.Errorf("on a full disk the dead letters are %v, %v, want none", dead, err)
	}
	full = false
	if _, err := b.Drops().TakeIn(onlyStray(t, b), dropbox.Defaults{}); !errors.Is(err, dropbox.ErrInvalid) {
		t.Errorf("TakeIn = %v, want ErrInvalid", err)
	}
	if d := onlyDead(t, b); !strings.Contains(d.Reason, "the file is empty") {
		t.Errorf("the reason is %q", d.Reason)
	}
}
