package main

import (
	"errors"
	"io/fs"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/door"
	"github.com/claude-swarm/claude-swarm/internal/mailslot"
	"github.com/claude-swarm/claude-swarm/internal/policy"
)

// keepDigest lets the next plain send do without the configuration, see
// [mailslot.Digest]. A project without the daemon's folder has none.
func keepDigest(file *config.File) error {
	d := mailslot.Digest{
		Store: file.DeadDropDir, Options: file.StoreOptions(), Stop: file.Policy.StopSentinel, Agents: file.Names(),
		Tasks: plainTasksPass(file),
	}
	err := d.Keep(file.Home(), file.Path, file.Source())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// plainTasksPass asks the rules, as every door does, whether the lead may send each
// agent a task. What they have against some bodies, their size and the sentinel, a
// plain send sees by itself.
func plainTasksPass(file *config.File) bool {
	rules := door.PolicyOf(file)
	for _, name := range file.Names() {
		m := &dropbox.Message{From: dropbox.Lead, To: []string{name}, Type: dropbox.Task}
		if v := rules.Decide(nil, policy.Question{Message: m, To: name, Proven: true, Door: true, Now: time.Now()}); !v.Pass || v.Halt {
			return false
		}
	}
	return true
}

// keepConfig is for the verbs that come while the daemon runs.
func (d *daemon) keepConfig() {
	if err := keepDigest(d.file); err != nil {
		d.log.Warn("plain sends read the whole configuration", "err", err)
	}
	if err := d.file.KeepInForce(); err != nil {
		d.log.Warn("mail will wait for a good configuration when there is a bad one", "err", err)
	}
}
