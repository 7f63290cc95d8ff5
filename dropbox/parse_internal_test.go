package dropbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzParseUndoesEncode checks that encoding a message and parsing the result gives the
// same message.
func FuzzParseUndoesEncode(f *testing.F) {
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
	})
}

// macOS and old kernels need openStepwise. It must reject the same paths as openBeneath.
func TestOpenStepwise(t *testing.T) {
	dir := t.TempDir()
	d, err := openDisk(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	for _, err := range []error{d.mkdir("a"), d.mkdir("a/b"), d.write("a/b/file", []byte("x")), os.Symlink("b", filepath.Join(dir, "a/link")), os.Symlink("file", filepath.Join(dir, "a/b/link"))} {
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
