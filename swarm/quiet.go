package swarm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// openQuiet reads the notices that an earlier daemon kept for the end of the person's quiet
// hours. It sets a damaged file aside, because the event list contains the same facts.
func (s *Swarm) openQuiet() (err error) {
	s.mail.Quiet, err = mail.OpenQuiet(s.mail, mail.QuietFuncs{Until: s.quietUntil, Grave: s.allHeld, Void: s.isVoid})
	if e, ok := errors.AsType[*durable.DamagedError](err); ok {
		s.log.Error("notices for the end of the quiet hours were damaged", keyErr, e)
		err = e.SetAside()
	}
	if err != nil {
		return fmt.Errorf("notices for the end of the quiet hours: %w", err)
	}
	return nil
}

// quietUntil returns when the person's quiet hours end, or the zero time if at is outside
// those hours.
func (d *deps) quietUntil(at time.Time) time.Time {
	quiet := d.plan().Quiet
	if quiet == nil || !quiet.Open(at) {
		return time.Time{}
	}
	return quiet.Change(at)
}

// isVoid reports whether a fact that was kept during the quiet hours no longer needs a
// person's attention.
func (s *Swarm) isVoid(k journal.Kept) bool {
	what, rest, _ := strings.Cut(strings.TrimPrefix(k.Key, mail.NoticedKey), ":")
	if k.Asks {
		return answered(s.store, k.About)
	}
	if k.Dead {
		found, err := s.store.Find(k.About)
		return errors.Is(err, dropbox.ErrNotFound) || err == nil && found.State != dropbox.Dead // it was tried again or deleted
	}
	m, err := s.member(k.Agent)
	gone := k.Agent != "" && err != nil
	switch what {
	case "spiraling":
		return gone || !s.holds.Of(k.Agent).IsStuck(rest)
	case "stopped":
		return gone || s.holds.Of(k.Agent).Stopped == nil
	case "turns":
		return gone || s.holds.Of(k.Agent).Paused == nil
	case "context":
		return gone || s.holds.Of(k.Agent).ContextFull.IsZero()
	case "limited":
		if gone {
			return true
		}
		_, _, limited := s.holds.LimitOf(m.account(), k.Agent, time.Now())
		return !limited
	case "unclaimed":
		open, err := topic.Of(s.store).Open()
		return err == nil && !slices.ContainsFunc(open, func(p topic.Publication) bool { return p.ID == rest && p.Grant == nil })
	}
	return false
}

// answered reports whether a question to the person is no longer in their mailbox.
func answered(store *dropbox.Store, id string) bool {
	box, err := store.Mailbox(dropbox.Lead)
	if err != nil {
		return false
	}
	for _, list := range []func() ([]dropbox.Entry, error){box.Peek, box.Claimed} {
		entries, err := list()
		if err != nil || slices.ContainsFunc(entries, func(e dropbox.Entry) bool { return e.ID == id }) {
			return false
		}
	}
	return true
}
