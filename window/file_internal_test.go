package window

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

// If the disk fails during a read, Load does not treat the file as broken, and the file
// stays in place.
func TestADiskThatFailsInTheMiddle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "coder.window")
	b := New(Options{})
	b.AddText("some work")
	if err := b.Save(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		r := io.MultiReader(strings.NewReader(string(data[:n])), iotest.ErrReader(syscall.EIO))
		_, err := read(r, Options{})
		if _, broken := errors.AsType[*brokenError](err); broken || !errors.Is(err, syscall.EIO) {
			t.Errorf("after %d bytes: %v, want %v", n, err, syscall.EIO)
		}
	}
}
