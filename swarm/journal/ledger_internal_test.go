package journal

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A line that cannot be written is an error, and leaves no part of it in the file.
func TestALineThatCannotBeWritten(t *testing.T) {
	home := HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	path := home.Ledger()
	l, err := OpenLedger(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Add(LedgerLine{Turn: "a-1", CostUSD: math.NaN()}); err == nil {
		t.Error("a cost that is no number was written")
	}
	if err := l.Add(LedgerLine{Turn: "a-1", CostUSD: 1}); err != nil {
		t.Error(err)
	}
	if err := AppendLedger(home, LedgerLine{Turn: "b-1", CostUSD: math.NaN()}); err == nil {
		t.Error("a cost that is no number was appended")
	}
	if data, err := os.ReadFile(path); err != nil || strings.Count(string(data), "\n") != 1 {
		t.Errorf("the ledger is %q, %v, want one line", data, err)
	}
	other := HomeOf(t.TempDir())
	if err := os.MkdirAll(other.Ledger(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := AppendLedger(other, LedgerLine{Turn: "b-1"}); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("appendLedger to a folder = %v, want %v", err, syscall.EISDIR)
	}
	if _, err := OpenLedger(other, nil); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("openLedger of a folder = %v, want %v", err, syscall.EISDIR)
	}
}

// Bytes that a power cut left in the ledger do not hide its other lines.
func TestALedgerThatWasSpoiltIsRead(t *testing.T) {
	home := HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	path := home.Ledger()
	good := `{"v":1,"turn":"a-1"}` + "\n"
	for name, spoilt := range map[string]string{
		"zeros":          strings.Repeat("\x00", 3<<20) + "\n",
		"a long line":    strings.Repeat("x", maxLedgerLine) + "\n",
		"no line at all": "{\n\n",
		"a torn line":    `{"v":1,"turn":"b`,
	} {
		if err := os.WriteFile(path, []byte(good+spoilt), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := OpenLedger(home, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := l.Add(LedgerLine{Turn: "c-1"}); err != nil {
			t.Fatal(err)
		}
		var turns []string
		if err := ReadLedger(path, func(line LedgerLine) bool { turns = append(turns, line.Turn); return true }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := strings.Join(turns, " "); got != "a-1 c-1" {
			t.Errorf("%s: the ledger has %q, want a-1 c-1", name, got)
		}
	}
}

// A line that a full disk cut off damages no other line.
func TestALineAfterOneThatWasCutOff(t *testing.T) {
	home := HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	path := home.Ledger()
	l, err := OpenLedger(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	heal := refuse(t, path)
	if err := l.Add(LedgerLine{Turn: "a-1"}); err == nil {
		t.Fatal("add wrote to a folder")
	}
	heal()
	if err := os.WriteFile(path, []byte(`{"v":1,"turn":"a`), 0o600); err != nil { // the damage
		t.Fatal(err)
	}
	if err := l.Add(LedgerLine{Turn: "a-1"}); err != nil {
		t.Fatal(err)
	}
	var turns []string
	if err := ReadLedger(path, func(line LedgerLine) bool { turns = append(turns, line.Turn); return true }); err != nil {
		t.Fatal(err)
	}
	if len(turns) != 1 || turns[0] != "a-1" {
		t.Errorf("the ledger has %q, want the line that was added again", turns)
	}
}

// refuse lets a file be a folder until heal is called, so that nothing can be added to it.
func refuse(t *testing.T, path string) (heal func()) {
	t.Helper()
	kept := path + ".kept"
	// Each step is one rename: a line that is added in the meantime is in one of both.
	if err := errors.Join(os.Link(path, kept), os.Symlink(filepath.Dir(path), path+".folder"), os.Rename(path+".folder", path)); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := os.Rename(kept, path); err != nil {
			t.Fatal(err)
		}
	}
}
