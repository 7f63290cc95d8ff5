package journal_test

import (
	"os"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Earlier versions called a turn that failed because of the setup refused. Such a line has a
// reason, and the line of a turn that was permitted nothing has none.
func TestOldNameOfABadSetup(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(home.Ledger(), `{"v":1,"turn":"a-1","agent":"coder","outcome":"refused","reason":"claude is not installed"}
{"v":1,"turn":"b-1","agent":"coder","outcome":"refused"}
{"v":1,"turn":"c-1","agent":"coder","outcome":"bad-setup","reason":"no login"}
`)
	want := map[string]string{"a-1": string(runner.BadSetup), "b-1": journal.OutcomeRefused, "c-1": string(runner.BadSetup)}
	if err := journal.ReadLedger(home.Ledger(), func(l journal.LedgerLine) bool {
		if l.Outcome != want[l.Turn] {
			t.Errorf("the outcome of %s is %q, want %q", l.Turn, l.Outcome, want[l.Turn])
		}
		delete(want, l.Turn)
		return true
	}); err != nil || len(want) > 0 {
		t.Errorf("left are %v, %v", want, err)
	}
	write(home.TurnFile("a-1", ".json"), `{"v":1,"turn":"a-1","agent":"coder","end":"refused","reason":"claude is not installed"}`)
	if rec, err := journal.ReadRecord(home, "a-1"); err != nil || rec.End != runner.BadSetup {
		t.Errorf("the record is %+v, %v", rec, err)
	}
	r, err := journal.ParseReceipt([]byte("outcome: refused\nattempts:\n  - {outcome: refused, reason: no login}\n  - {outcome: refused}\n"))
	if err != nil || r.Outcome != journal.OutcomeRefused || r.Attempts[0].Outcome != string(runner.BadSetup) || r.Attempts[1].Outcome != journal.OutcomeRefused {
		t.Errorf("the receipt is %+v, %v", r, err)
	}
}
