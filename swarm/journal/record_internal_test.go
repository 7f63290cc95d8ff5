package journal

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"
)

// A record that cannot be read does not count as missing, because the turn may have run.
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
		t.Errorf("ReadRecord of a folder = %v, want %v", err, syscall.EISDIR)
	}
	if got, err := Records(home, "aaaaaaaaaa", 2); err == nil {
		t.Errorf("records = %v, want the error", got)
	}
	if got, err := Records(home, "aaaaaaaaaa", 1); err != nil || len(got) != 0 {
		t.Errorf("records of the first claim = %v, %v, want none", got, err)
	}
}

// OpenRecords lists the turns that have a reservation in the budget and no recorded end.
func TestOpenRecords(t *testing.T) {
	home := HomeOf(t.TempDir())
	if open, err := home.OpenRecords(nil); err != nil || open != nil {
		t.Errorf("without a folder: %v, %v", open, err)
	}
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	for _, rec := range []*Record{
		{Turn: "a-1", ReservedTurns: 1}, {Turn: "b-1"}, {Turn: "c-1", ReservedTurns: 1, End: "failed"}, {Turn: "d-1", ReservedTurns: 1},
	} {
		if err := home.Files().WriteJSON(home.TurnFile(rec.Turn, ".json"), rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(home.TurnFile("e-1", ".json"), []byte("{"), 0o600); err != nil { // the write of the record was interrupted
		t.Fatal(err)
	}
	settled := func(turn string) bool { return turn == "d-1" }
	if open, err := home.OpenRecords(settled); err != nil || len(open) != 1 || open[0].Turn != "a-1" {
		t.Errorf("OpenRecords = %v, %v, want a-1 alone", open, err)
	}
	if err := os.Mkdir(home.TurnFile("f-1", ".json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if open, err := home.OpenRecords(settled); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("with a record that cannot be read: %v, %v", open, err)
	}
	other := HomeOf(t.TempDir())
	if err := errors.Join(os.MkdirAll(other.Dir(), 0o700), os.WriteFile(other.Turns(), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if open, err := other.OpenRecords(settled); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("of a file: %v, %v", open, err)
	}
}

func TestReservedFor(t *testing.T) {
	began := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		reserved float64
		after    time.Duration
		want     time.Duration
	}{{0, time.Minute, 0}, {60, 20 * time.Second, 40 * time.Second}, {60, time.Minute, time.Second}, {60, time.Hour, time.Second}, {0.5, 0, time.Second}} {
		r := &Record{Begun: began, ReservedSeconds: test.reserved}
		if got := r.ReservedFor(began.Add(test.after)); got != test.want {
			t.Errorf("of %v s after %v: %v, want %v", test.reserved, test.after, got, test.want)
		}
	}
}

func TestBegunBy(t *testing.T) {
	r := &Record{Begun: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	for after, want := range map[time.Duration]bool{time.Second: true, 0: true, -clockSlack: true, -clockSlack - 1: false} {
		if r.BegunBy(r.Begun.Add(after)) != want {
			t.Errorf("a file written after %v: %v, want %v", after, !want, want)
		}
	}
}

// A record can be removed twice without an error.
func TestARecordIsRemoved(t *testing.T) {
	home := HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	rec := &Record{Turn: "a-1"}
	path := home.TurnFile("a-1", ".json")
	if err := home.Files().WriteJSON(path, rec); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := rec.Remove(home); err != nil {
			t.Error(err)
		}
	}
	if err := os.MkdirAll(path+"/more", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := rec.Remove(home); err == nil {
		t.Error("Remove of a record that cannot be removed returned no error")
	}
}

// ReadReceipt returns an error for a receipt that cannot be read.
func TestAReceiptThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	if r, err := ReadReceipt(dir + "/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadReceipt of nothing = %+v, %v", r, err)
	}
	if r, err := ReadReceipt(dir); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("ReadReceipt of a folder = %+v, %v", r, err)
	}
}

// ParseReceipt returns an error for a file that is not a receipt.
func TestAFileThatIsNotAReceipt(t *testing.T) {
	for _, text := range []string{"{", "- a\n- b\n", "v: [1\n", "id: {}\n"} {
		if r, err := ParseReceipt([]byte(text)); err == nil {
			t.Errorf("ParseReceipt(%q) = %+v, want an error", text, r)
		}
	}
}
