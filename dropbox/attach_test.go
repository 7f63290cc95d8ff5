package dropbox_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func TestAttach(t *testing.T) {
	s := newStore(t, dropbox.Options{MaxAttachment: 100}, "coder")
	a, err := s.Attach("../../etc/pass wd\n.txt", strings.NewReader("content"))
	if err != nil {
		t.Fatal(err)
	}
	if a.Name != "pass wd_.txt" || a.Size != 7 || a.Path != "attach/"+a.SHA256+"/"+a.Name {
		t.Errorf("Attach = %+v", a)
	}
	if again, err := s.Attach("pass wd_.txt", strings.NewReader("content")); err != nil || again != a {
		t.Errorf("Attach again = %+v, %v, want %+v", again, err, a)
	}
	if files := tree(t, filepath.Join(s.Dir(), "attach")); len(files) != 1 {
		t.Errorf("kept %v", files)
	}
	if _, err := s.Attach("big", bytes.NewReader(make([]byte, 101))); !errors.Is(err, dropbox.ErrTooLarge) {
		t.Errorf("Attach of 101 bytes = %v, want ErrTooLarge", err)
	}
	f, err := s.OpenAttachment(a)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	lie := a
	lie.Path = "attach/../version"
	if _, err := s.OpenAttachment(lie); !errors.Is(err, dropbox.ErrInvalid) {
		t.Errorf("OpenAttachment of %s = %v, want ErrInvalid", lie.Path, err)
	}
	for _, name := range []string{"", ".", "..", "/", "-rf", "a/b\\c", strings.Repeat("ü", 200), "\xff", "\u00a0.x", "\u2028"} {
		a, err := s.Attach(name, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		deliver(t, s, "coder", &dropbox.Message{Attachments: []dropbox.Attachment{a}, Body: []byte("x")})
	}
}
