package main

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/mailslot"
)

// keepDigest lets the next plain send do without the configuration, see
// [mailslot.Digest]. A project without the daemon's folder has none.
func keepDigest(file *config.File) error {
	d := mailslot.Digest{
		Store: file.DeadDropDir, Options: file.StoreOptions(), Stop: file.Policy.StopSentinel, Agents: file.Names(),
		Tasks: slices.Contains(file.Policy.AllowedTypes, string(dropbox.Task)),
	}
	err := d.Keep(file.Home(), file.Path, file.Source())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// keepDigest is for the sends that come while the daemon runs.
func (d *daemon) keepDigest() {
	if err := keepDigest(d.file); err != nil {
		d.log.Warn("plain sends read the whole configuration", "err", err)
	}
}
