package journal

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// If a line cannot be written, Add and AppendLedger return an error, and the file
// contains no part of the line.
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
		t.Error("a cost that is not a number was written")
	}
	if err := l.Add(LedgerLine{Turn: "a-1", CostUSD: 1}); err != nil {
		t.Error(err)
	}
	if err := AppendLedger(home, LedgerLine{Turn: "b-1", CostUSD: math.NaN()}); err == nil {
		t.Error("a cost that is not a number was appended")
	}
	if data, err := os.ReadFile(path); err != nil || strings.Count(string(data), "\n") != 1 {
		t.Errorf("the ledger is %q, %v, want one line", data, err)
	}
	other := HomeOf(t.TempDir())
	if err := os.MkdirAll(other.Ledger(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := AppendLedger(other, LedgerLine{Turn: "b-1"}); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("AppendLedger to a folder = %v, want %v", err, syscall.EISDIR)
	}
	if _, err := OpenLedger(other, nil); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("OpenLedger of a folder = %v, want %v", err, syscall.EISDIR)
	}
}

// Two processes never write to the ledger at the same time.
func TestProcessesAddLinesInTurn(t *testing.T) {
	var writing, overlaps atomic.Int32
	files := durable.Files{Step: func(st durable.Step) error {
		if st.Op != durable.Fill {
			return nil
		}
		if writing.Add(1) > 1 {
			overlaps.Add(1)
		}
		time.Sleep(time.Millisecond)
		writing.Add(-1)
		return nil
	}}
	dir := t.TempDir()
	if err := HomeOf(dir).Make(); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			l := &Ledger{home: HomeOf(dir).With(files)}
			for i := range 10 {
				if err := l.write(LedgerLine{Turn: fmt.Sprintf("t%d-%d", w, i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := overlaps.Load(); n > 0 {
		t.Errorf("%d lines were begun while another was written", n)
	}
}

// Garbage bytes that a power cut left in the ledger do not hide its other lines.
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

// The listener of a ledger gets each line once, and the sums count each line once.
func TestTheLinesOfALedger(t *testing.T) {
	home := HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	if err := AppendLedger(home, LedgerLine{Turn: "a-1", Agent: "coder", Message: "a", At: now.AddDate(0, 0, -9), Outcome: "done", CostUSD: 4}); err != nil {
		t.Fatal(err)
	}
	if err := AppendLedger(home, LedgerLine{Turn: "b-1", Agent: "coder", Message: "b", At: now, Outcome: "done", CostUSD: 2, Via: ViaAttach}); err != nil {
		t.Fatal(err)
	}
	if err := AppendLedger(home, LedgerLine{Turn: "c-1", Agent: "coder", Message: "c", At: now, Outcome: "failed", CostUSD: 1}); err != nil {
		t.Fatal(err)
	}
	var heard []string
	l, err := OpenLedger(home, func(line LedgerLine, old bool) { heard = append(heard, fmt.Sprintf("%s %v", line.Turn, old)) })
	if err != nil {
		t.Fatal(err)
	}
	if got, want := l.recent, map[string]bool{"b": true, "c-1": true}; !maps.Equal(got, want) {
		t.Errorf("recent are %v, want %v", got, want)
	}
	for _, turn := range []string{"a-1", "d-1", "d-1"} {
		if err := l.Add(LedgerLine{Turn: turn, Agent: "coder", At: now, CostUSD: 1, CostUnknown: turn == "d-1"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(heard, ", "); got != "a-1 true, b-1 true, c-1 true, d-1 false" {
		t.Errorf("heard: %s", got)
	}
	if !l.Has("a-1") || !l.Has("d-1") || l.Has("e-1") {
		t.Error("Has is wrong")
	}
	sums, err := ReadSums(home)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*Ledger{l, sums} {
		if last, ok := l.Last("coder"); !ok || last.Turn != "d-1" || l.Turns("coder") != 4 {
			t.Errorf("the last line is %+v, of %d", last, l.Turns("coder"))
		}
		if last, ok := l.Last("tester"); ok || l.Turns("tester") != 0 || l.Cost("tester", now) != (Cost{}) {
			t.Errorf("the last line of an unknown agent is %+v", last)
		}
		if c := l.Cost("coder", now); c.Total != 8 || c.Today != 4 || c.TodayUnknown != 2 || c.TotalUnknown != 2 {
			t.Errorf("the cost is %+v", c)
		}
		if c := l.Cost("coder", now.AddDate(0, 0, 1)); c.Total != 8 || c.Today != 0 || c.TodayUnknown != 0 {
			t.Errorf("the cost on the next day is %+v", c)
		}
	}
	other := HomeOf(t.TempDir())
	if err := os.MkdirAll(other.Ledger(), 0o700); err != nil {
		t.Fatal(err)
	}
	if l, err := ReadSums(other); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("ReadSums of a folder = %v, %v", l, err)
	}
	var first []string
	if err := ReadLedger(home.Ledger(), func(line LedgerLine) bool { first = append(first, line.Turn); return false }); err != nil || len(first) != 1 {
		t.Errorf("a reader who has enough gets %q, %v", first, err)
	}
}

// The ledger remembers at least its maxKnown most recent turns, and forgets older turns.
func TestTheLedgerForgetsTheOldestTurns(t *testing.T) {
	l := &Ledger{known: map[string]bool{}}
	for i := range 2 * maxKnown {
		l.know(fmt.Sprint(i))
	}
	if len(l.known) != maxKnown || !l.Has("0") || !l.Has(fmt.Sprint(2*maxKnown-1)) {
		t.Errorf("%d are known, and %d older ones", len(l.known), len(l.older))
	}
	if l.know("last"); l.Has("0") || !l.Has(fmt.Sprint(maxKnown)) || !l.Has("last") {
		t.Errorf("one more: %d are known, and %d older ones", len(l.known), len(l.older))
	}
}

// A line that a full disk truncated does not damage other lines.
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

// refuse replaces a file with a symlink to a folder until heal is called, so that nothing
// can be added to the file.
func refuse(t *testing.T, path string) (heal func()) {
	t.Helper()
	kept := path + ".kept"
	// If a line is added at the same time, it either ends up in the file that heal
	// restores or cannot be added, because a single rename replaces the file with the
	// link.
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
