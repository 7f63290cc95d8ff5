package dropbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzParseAgrees holds the two readers of a front matter together: whatever the
// fast one understands, yaml.v3 reads the same.
func FuzzParseAgrees(f *testing.F) {
	for _, seed := range []string{
		"v: 1\nid: k7f3q9m2xd\nfrom: lead\nto: [coder, \"2nd\"]\ntype: task\npriority: low\n",
		"subject: \"a \\\"b\\\" \\\\ ü\"\nkey: \"x: y # z\"\nhops: 3\npath: [a]\n",
		"created: 2026-11-21T04:51:02.123456Z\nexpires: 2026-11-22T00:00:00Z\n",
		"attachments:\n  - name: a.txt\n    path: attach/x/a.txt\n    size: 12\n    sha256: abc\nproof: \"0f\"\n",
		"from: null\n", "from: yes\n", "to: []\n", "id: 123\n", "subject: \"\\u00e4\"\n", "subject: \"tab\there\"\n",
		"to: [a,b]\n", "to: [\"a]\", b]\n", "v: 01\n", "hops: -1\n", "created: 2026-11-21T04:51:02,5Z\n", "subject: \"\"\n",
		"subject: \"\U0001fffe\"\n", "type: n\n", "from: a...\n", "from: a-\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, front []byte) {
		var fast Message
		if !fast.parseFast(front) {
			t.Skip("left to yaml.v3")
		}
		slow, err := parseYAML(front)
		if err != nil {
			t.Fatalf("fast reads %q, yaml.v3 says: %v", front, err)
		}
		if diff := cmp.Diff(slow, &fast); diff != "" {
			t.Fatalf("%q: yaml.v3 and fast differ:\n%s", front, diff)
		}
	})
}

// FuzzFastReadsWhatEncodeWrites: the fast path is of use only if it is taken.
func FuzzFastReadsWhatEncodeWrites(f *testing.F) {
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
		var fast Message
		escapes := func(s string) bool {
			for _, r := range s {
				if mustEscape(r) {
					return true
				}
			}
			return false
		}
		if !fast.parseFast(front) && !escapes(from+to+subject+key) {
			t.Fatalf("the fast path does not read %q", front)
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
