package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/durable"
)

func (h Home) keptFile(agent string) string { return filepath.Join(h.dir, "kept", agent) }

// KeepsMail reports whether a person decided to keep the mail of an agent that no longer
// exists.
func (h Home) KeepsMail(agent string) bool {
	_, err := os.Stat(h.keptFile(agent))
	return err == nil
}

// KeepMail records that the mail of an agent that no longer exists stays in place, so
// that the daemon sends no reminders about it. The record is durable and is kept until
// the agent exists again.
func (h Home) KeepMail(agent string) error {
	if err := h.Make(); err != nil {
		return err
	}
	if err := discovery.MakeInHome(filepath.Dir(h.keptFile(agent))); err != nil {
		return err
	}
	return errors.Join(h.files.Write(h.keptFile(agent), durable.Options{}), h.files.SyncDir(h.dir))
}

// IsBack removes the records of [Home.KeepMail] and [Home.GoneSince] about an agent that
// exists again.
func (h Home) IsBack(agent string) error {
	for _, file := range []string{h.keptFile(agent), h.goneFile(agent)} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (h Home) goneFile(agent string) string { return filepath.Join(h.dir, "gone", agent) }

// GoneSince returns the time when the daemon first found mail belonging to an agent that
// no longer exists. The time is stored durably and does not change until the agent exists
// again.
func (h Home) GoneSince(agent string) (string, error) {
	since, err := os.ReadFile(h.goneFile(agent))
	if !errors.Is(err, fs.ErrNotExist) {
		return string(since), err
	}
	if err := discovery.MakeInHome(filepath.Dir(h.goneFile(agent))); err != nil {
		return "", err
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	return now, errors.Join(h.files.Write(h.goneFile(agent), durable.Options{}, []byte(now)), h.files.SyncDir(h.dir))
}
