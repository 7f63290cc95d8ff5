package swarm

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// A line that cannot be written is an error, and leaves no part of it.
func TestALineThatCannotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	l, err := openLedger(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.add(LedgerLine{Turn: "a-1", CostUSD: math.NaN()}); err == nil {
		t.Error("a cost that is no number was written")
	}
	if err := l.add(LedgerLine{Turn: "a-1", CostUSD: 1}); err != nil {
		t.Error(err)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	if err := appendLedger(path, LedgerLine{Turn: "b-1", CostUSD: math.NaN()}); err == nil {
		t.Error("a cost that is no number was appended")
	}
	if data, err := os.ReadFile(path); err != nil || strings.Count(string(data), "\n") != 1 {
		t.Errorf("the ledger is %q, %v, want one line", data, err)
	}
	if err := appendLedger(t.TempDir(), LedgerLine{Turn: "b-1"}); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("appendLedger to a folder = %v, want %v", err, syscall.EISDIR)
	}
	if _, err := openLedger(t.TempDir(), nil); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("openLedger of a folder = %v, want %v", err, syscall.EISDIR)
	}
}

// A record that cannot be read is no record that is not there: the turn may have run.
func TestARecordThatCannotBeRead(t *testing.T) {
	home := HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(home.turnFile("aaaaaaaaaa-2", ".json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := readRecord(home, "aaaaaaaaaa-1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no record: %v", err)
	}
	if _, err := readRecord(home, "aaaaaaaaaa-2"); !errors.Is(err, syscall.EISDIR) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("readRecord of a folder = %v, want %v", err, syscall.EISDIR)
	}
	if got, err := records(home, "aaaaaaaaaa", 2); err == nil {
		t.Errorf("records = %v, want the error", got)
	}
	if got, err := records(home, "aaaaaaaaaa", 1); err != nil || len(got) != 0 {
		t.Errorf("records of the first claim = %v, %v, want none", got, err)
	}
	if n, _, err := cutOffs(home, "aaaaaaaaaa", 2); err == nil {
		t.Errorf("cutOffs = %d, want the error", n)
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

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                            "0 s",
		59*time.Second + 499e6:       "59 s",
		59*time.Second + 500e6:       "1 min 0 s",
		time.Minute:                  "1 min 0 s",
		3599 * time.Second:           "59 min 59 s",
		time.Hour:                    "1 h 0 min",
		2*time.Hour + 10*time.Minute: "2 h 10 min",
	} {
		if got := screen.Took(d); got != want {
			t.Errorf("screen.Took(%v) = %q, want %q", d, got, want)
		}
	}
}
