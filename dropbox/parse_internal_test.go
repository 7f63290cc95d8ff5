package dropbox

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// FuzzParseAgrees holds the reader of flat lines to YAML: the values that it finds are
// those that yaml.v3 finds.
func FuzzParseAgrees(f *testing.F) {
	for _, seed := range []string{
		"v: 1\nid: k7f3q9m2xd\nfrom: lead\nto: [coder, \"2nd\"]\ntype: task\npriority: low\n",
		"subject: \"a \\\"b\\\" \\\\ ü\"\nkey: \"x: y # z\"\nhops: 3\npath: [a]\n",
		"created: 2026-11-21T04:51:02.123456Z\nexpires: 2026-11-22T00:00:00Z\n",
		"attachments:\n  - name: a.txt\n    path: attach/x/a.txt\n    size: 12\n    sha256: abc\nproof: \"0f\"\n",
		"from: null\n", "from: yes\n", "to: []\n", "id: 123\n", "subject: \"\\u00e4\"\n", "subject: \"tab\there\"\n",
		"to: [a,b]\n", "to: [\"a]\", b]\n", "v: 01\n", "hops: -1\n", "created: 2026-11-21T04:51:02,5Z\n", "subject: \"\"\n",
		"subject: \"\U0001fffe\"\n", "type: n\n", "from: a...\n", "from: a-\n",
		"to: coder\nfrom: lead\n", "from: a\nfrom: b\n", "subject: 12:30\n", "subject: 1:\n", "id: 1.\n", "path: [1]\n", "x: 1\n",
		"subject: \"\xff\"\n", "subject: \"\ufffd\"\n", "subject: \"a\\\"\n", "attachments: a\n", "to: [a] \n", "from: a\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, front []byte) {
		var flat Message
		if !flat.setFlat(string(front)) {
			t.Skip("left to yaml.v3")
		}
		want, err := parseYAML(front)
		if err != nil {
			t.Fatalf("flat lines are read from %q, yaml.v3 says: %v", front, err)
		}
		if diff := cmp.Diff(want, &flat); diff != "" {
			t.Fatalf("%q (-yaml.v3 +flat lines):\n%s", front, diff)
		}
	})
}

// FuzzFlatReadsWhatEncodeWrites: the reader of flat lines is of use only for what it takes.
func FuzzFlatReadsWhatEncodeWrites(f *testing.F) {
	f.Add("lead", "coder", "a: \"subject\" #1", "key", 1, []byte("body"))
	f.Add("ünï", "no", "\\", "\u2028", 0, []byte("---\n"))
	f.Fuzz(func(t *testing.T, from, to, subject, key string, hops int, body []byte) {
		m := &Message{From: from, To: []string{to}, CC: []string{to, from}, Subject: subject, Key: key, Hops: hops, Type: Note, Body: body}
		data, err := m.Encode()
		if err != nil {
			t.Skip("not a message")
		}
		got, err := Parse(data)
		if err != nil {
			t.Fatalf("Parse(%q): %v", data, err)
		}
		want := *m
		want.V = Version
		if body == nil {
			want.Body = []byte{}
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Fatalf("Parse(Encode(m)) differs:\n%s", diff)
		}
		front, _, _, err := splitFront(data)
		if err != nil {
			t.Fatal(err)
		}
		var flat Message
		escapes := func(s string) bool {
			for _, r := range s {
				if mustEscape(r) || r == utf8.RuneError {
					return true
				}
			}
			return false
		}
		if !flat.setFlat(string(front)) && !escapes(from+to+subject+key) {
			t.Fatalf("%q is not read as flat lines", front)
		}
	})
}

// The stepwise open is what macOS and old kernels use; it must refuse the same.
func TestOpenStepwise(t *testing.T) {
	dir := t.TempDir()
	d, err := openDisk(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	for _, err := range []error{d.mkdir("a"), d.mkdir("a/b"), d.write("a/b/file", []byte("x")), d.root.Symlink("b", "a/link"), d.root.Symlink("file", "a/b/link")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]bool{"a/b/file": true, "a/link/file": false, "a/b/link": false, "a/none": false, "a/b/file/x": false} {
		for way, open := range map[string]func(int, string, int, uint32) (int, error){"stepwise": openStepwise, "native": openBeneath} {
			fd, err := open(d.fd, name, readFlags, 0)
			if (err == nil) != want {
				t.Errorf("%s open of %s: error %v, want success %v", way, name, err, want)
			}
			if err == nil {
				f := readable{fd: fd}
				f.close()
			}
		}
	}
}
