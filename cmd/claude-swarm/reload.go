package main

import (
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// needsRestart returns an error if the configuration has changes that a running daemon
// cannot apply. The error names the changed keys.
func needsRestart(old, new *config.File) error {
	var keys []string
	for key, differs := range map[string]bool{
		"dead_drop_dir": old.DeadDropDir != new.DeadDropDir,
		"max_waiting":   old.MaxWaiting != new.MaxWaiting,
		"audit":         old.Audit != new.Audit,
		// These keys take effect only when the mailboxes are opened.
		"policy.max_body_bytes": old.Policy.MaxBodyBytes != new.Policy.MaxBodyBytes,
		"policy.max_hops":       old.Policy.MaxHops != new.Policy.MaxHops,
	} {
		if differs {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	slices.Sort(keys)
	return fail(exitConfig, "claude-swarm restart", "a change to %s needs a restart", strings.Join(keys, " and "))
}
