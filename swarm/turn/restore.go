package turn

import (
	"errors"
	"io/fs"
	"os"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Restore writes the record of the running turn, and the file with the pid of its client,
// if another program, such as git clean, has deleted them. After a crash, the next daemon
// then finds the client. Restore may be called by any goroutine.
func (t *Turns) Restore() error {
	return t.Runs.restore(func(rec *journal.Record) error {
		if rec.Process.PID == 0 {
			return nil // the turn writes both files soon
		}
		return RestoreRecord(t.Home, rec)
	})
}

// RestoreRecord writes the record of a turn if another program has deleted it, and the
// file with the pid of the turn's client if that client is running.
func RestoreRecord(home journal.Home, rec *journal.Record) error {
	if _, err := os.Lstat(home.TurnFile(rec.Turn, ".json")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := home.Make(); err != nil {
		return err
	}
	if err := rec.Write(home); err != nil || !rec.Process.Alive() {
		return err
	}
	return journal.WritePIDFile(home.PIDFile(rec.Agent), rec.Process, rec.Mark())
}
