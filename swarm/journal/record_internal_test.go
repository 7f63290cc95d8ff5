package journal

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// A record that cannot be read is not a missing record: the turn may have run.
func TestARecordThatCannotBeRead(t *testing.T) {
	home := HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(home.TurnFile("aaaaaaaaaa-2", ".json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRecord(home, "aaaaaaaaaa-1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no record: %v", err)
	}
	if _, err := ReadRecord(home, "aaaaaaaaaa-2"); !errors.Is(err, syscall.EISDIR) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("readRecord of a folder = %v, want %v", err, syscall.EISDIR)
	}
	if got, err := Records(home, "aaaaaaaaaa", 2); err == nil {
		t.Errorf("records = %v, want the error", got)
	}
	if got, err := Records(home, "aaaaaaaaaa", 1); err != nil || len(got) != 0 {
		t.Errorf("records of the first claim = %v, %v, want none", got, err)
	}
}

// A file that is not a receipt is an error.
func TestAFileThatIsNotAReceipt(t *testing.T) {
	for _, text := range []string{"{", "- a\n- b\n", "v: [1\n", "id: {}\n"} {
		if r, err := ParseReceipt([]byte(text)); err == nil {
			t.Errorf("ParseReceipt(%q) = %+v, want an error", text, r)
		}
	}
}
