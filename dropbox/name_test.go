package dropbox_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func TestParseName(t *testing.T) {
	at := time.Date(2026, 11, 21, 4, 51, 2, 123456000, time.UTC)
	const base = "1-20261121T045102.123456Z-k7f3q9m2xd"
	for name, want := range map[string]dropbox.Entry{
		base + ".md":           {Created: at, ID: "k7f3q9m2xd"},
		base + "~1.0.md":       {Created: at, ID: "k7f3q9m2xd", Begun: 1},
		base + "~12.3.md":      {Created: at, ID: "k7f3q9m2xd", Begun: 12, Failed: 3},
		"0" + base[1:] + ".md": {Created: at, ID: "k7f3q9m2xd", Priority: dropbox.Urgent},
		"2" + base[1:] + ".md": {Created: at, ID: "k7f3q9m2xd", Priority: dropbox.Low},
	} {
		want.Name = name
		got, err := dropbox.ParseName(name)
		if err != nil || got != want {
			t.Errorf("ParseName(%q) = %+v, %v, want %+v", name, got, err, want)
		}
		if got.FileName() != name || got.Base() != name[:1]+base[1:] {
			t.Errorf("%q becomes %q with the base %q", name, got.FileName(), got.Base())
		}
	}
	for _, name := range []string{
		"", "x.md", base, base + ".txt", base + "~0.0.md", base + "~1.md", base + "~01.0.md", base + "~1.0.0.md", base + "~-1.0.md",
		base + ".receipt.yaml", base + ".reason.txt", "3" + base[1:] + ".md", strings.ToUpper(base) + ".md",
		"1-20261321T045102.123456Z-k7f3q9m2xd.md", "1-20260631T045102.123456Z-k7f3q9m2xd.md", "1-20261121T245102.123456Z-k7f3q9m2xd.md",
		"1-20261121T045102.123456Z-k7f3q9m2x_.md", "1-20261121T045102,123456Z-k7f3q9m2xd.md", base + "x.md", base + "~1x0.md",
	} {
		if e, err := dropbox.ParseName(name); err == nil {
			t.Errorf("ParseName(%q) = %+v, want an error", name, e)
		}
	}
}

func FuzzParseName(f *testing.F) {
	f.Add("1-20261121T045102.123456Z-k7f3q9m2xd~2.1.md")
	f.Add("0-00010101T000000.000000Z-aaaaaaaaaa.md")
	f.Fuzz(func(t *testing.T, name string) {
		e, err := dropbox.ParseName(name)
		if err != nil {
			return
		}
		if e.FileName() != name {
			t.Errorf("ParseName(%q).FileName() = %q", name, e.FileName())
		}
	})
}

// Messages are claimed in the order of their names, regardless of the counts in the
// names.
func TestNamesSort(t *testing.T) {
	s := newStore(t, dropbox.Options{Now: func() time.Time { return time.Unix(1_700_000_000, 0) }}, "coder")
	var want []string
	for _, p := range []dropbox.Priority{dropbox.Urgent, dropbox.Normal, dropbox.Low} {
		for range 20 { // all created in the same microsecond
			want = append(want, deliver(t, s, "coder", &dropbox.Message{Priority: p, Body: []byte("x")}).ID)
		}
	}
	b := mailbox(t, s, "coder")
	entries := list(t, b)
	for i, e := range entries {
		if i%3 == 0 {
			if _, err := b.PutBack(claim(t, b, e).Entry, true); err != nil {
				t.Fatal(err)
			}
		}
	}
	var got []string
	for _, e := range list(t, b) {
		got = append(got, e.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("order of work is not the order of delivery:\n got %v\nwant %v", got, want)
	}
}

func TestNewID(t *testing.T) {
	seen := make(map[string]bool)
	for range 10_000 {
		id := dropbox.NewID()
		if len(id) != 10 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") != "" || seen[id] {
			t.Fatalf("NewID() = %q", id)
		}
		seen[id] = true
	}
}

func TestCheckAgent(t *testing.T) {
	for name, want := range map[string]string{
		"a": "", "coder": "", "0-x_y": "", strings.Repeat("a", 32): "",
		"":                      "empty",
		strings.Repeat("a", 33): "longer than 32 characters",
		"Coder":                 "only a-z, 0-9, - and _",
		"-x":                    "must begin with a letter or a digit",
		"a/b":                   "only a-z, 0-9, - and _",
		"..":                    "only a-z, 0-9, - and _",
		"ünï":                   "only a-z, 0-9, - and _",
		"lead":                  "reserved", "all": "reserved", "seen": "reserved", "irc": "reserved", "hooks": "reserved",
		"version": "reserved", "halt": "reserved", // names of files beside the mailboxes
	} {
		err := dropbox.CheckAgent(name)
		got := ""
		if err != nil {
			got = err.(*dropbox.NameError).Reason
		}
		if got != want {
			t.Errorf("CheckAgent(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"alice", "alicia", "bob", "coder", "opus-engineer", "reviewer", "tester"}
	for name, want := range map[string][]string{
		"alcie":         {"alice"}, // two letters swapped
		"Coder":         {"coder"},
		"opus":          {"opus-engineer"},
		"bib":           {"bob"},
		"reviewer2":     {"reviewer"},
		"teste":         {"tester"},
		"zzz":           nil,
		"":              nil,
		"opus-enginere": {"opus-engineer"},
	} {
		if got := dropbox.Nearest(name, known); !slices.Equal(got, want) {
			t.Errorf("Nearest(%q) = %v, want %v", name, got, want)
		}
	}
	if got, want := dropbox.Nearest("stat", []string{"start", "status"}), []string{"status", "start"}; !slices.Equal(got, want) {
		t.Errorf("Nearest(stat) = %v, want %v: status begins with stat", got, want)
	}
	if got := dropbox.Nearest("a1", []string{"a2", "a3", "a4", "a5"}); len(got) != 3 {
		t.Errorf("Nearest returns %d names, want 3", len(got))
	}
}
