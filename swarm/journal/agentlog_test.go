package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// An agent's log that is written after the project was moved creates no folder at the old
// path. It goes on if the project is put back.
func TestTheLogOfAMovedProject(t *testing.T) {
	top := t.TempDir()
	here, there := filepath.Join(top, "here"), filepath.Join(top, "there")
	if err := os.Mkdir(here, 0o700); err != nil {
		t.Fatal(err)
	}
	home := journal.HomeOf(here).Checked(func() error { _, err := os.Stat(here); return err })
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	var failed []error
	log := journal.OpenAgentLog(home, "coder", journal.LogPolicy{}, func(time.Time, string, string) {}, func(err error) { failed = append(failed, err) })
	log.Line("m", "before")
	log.Close() // as for an idle agent
	if err := os.Rename(here, there); err != nil {
		t.Fatal(err)
	}
	log.Line("m", "while it is away")
	if _, err := os.Lstat(here); !errors.Is(err, os.ErrNotExist) || len(failed) != 1 {
		t.Errorf("after a line: the old path %v, errors %v", err, failed)
	}
	if err := os.Rename(there, here); err != nil {
		t.Fatal(err)
	}
	log.Line("m", "after")
	log.Close()
	data, err := os.ReadFile(home.AgentLog("coder"))
	if err != nil || len(failed) != 1 || len(data) == 0 {
		t.Errorf("the log has %q, %v; errors %v", data, err, failed)
	}
}
