package swarm

import (
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A cleaner removes files that nobody needs any more. Only the sweep goroutine uses it.
type cleaner struct {
	store *dropbox.Store
	home  journal.Home
	plan  func() Plan
	log   *slog.Logger
}

// tidy removes half-written files, and files past their retention.
func (c *cleaner) tidy(now time.Time) {
	// The names include the lead's mailbox, which accumulates the most keys, and the
	// mailboxes of agents that have left.
	names, err := c.store.Mailboxes()
	if err != nil {
		c.log.Warn("mailboxes could not be listed", keyErr, err)
	}
	for _, name := range names {
		box, err := c.store.Mailbox(name)
		if err == nil {
			_, err = box.Clean(now)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			c.log.Warn("mailbox could not be tidied", keyAgent, name, keyErr, err)
		}
	}
	if _, err := c.store.Clean(now); err != nil {
		c.log.Warn("files left by crashes could not be removed", keyErr, err)
	}
	if _, err := topic.Of(c.store).Clean(now); err != nil {
		c.log.Warn("topics could not be tidied", keyErr, err)
	}
	p := c.plan()
	if p.Retention != (Retention{}) {
		removed, err := c.store.Retain(p.Retention.DoneDays, int64(p.Retention.DoneMB))
		if err != nil {
			c.log.Warn("done/ could not be tidied", keyErr, err)
		}
		if removed > 0 {
			c.log.Info("old messages were removed from done/", "messages", removed)
		}
		removed, err = c.store.RetainRefused(p.Retention.RefusedDays, int64(p.Retention.RefusedMB))
		if err != nil {
			c.log.Warn("refused/ could not be tidied", keyErr, err)
		}
		if removed > 0 {
			c.log.Info("old messages were removed from refused/", "messages", removed)
		}
	}
	if err := c.home.RotateTurns(p.Log.MaxAgeDays, now); err != nil {
		c.log.Warn("turns could not be tidied", keyErr, err)
	}
}
