package notice

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// announceEvents is the listener that delivers the announcer's copies of events. It can
// safely be called again, because the store recognizes a copy by its key.
func (t *Teller) announceEvents(_ context.Context, events []journal.Event) error {
	for _, ev := range events {
		mo, shown := announcementOf(ev)
		if time.Since(ev.At) > oldMail {
			continue
		}
		if isTrouble(ev) {
			if lines := t.talkWith(ev.Agent, ev.At); len(lines) > 0 {
				here := mo
				here.Notice, here.Talk = ev.Notice, lines
				if err := t.announce(here); err != nil {
					return err
				}
			}
		}
		if !shown {
			continue
		}
		if err := t.announce(mo); err != nil {
			return err
		}
	}
	return nil
}

// announce delivers the copies of one announcement.
func (t *Teller) announce(mo Announcement) error {
	for _, c := range t.Announcer.Copies(mo) {
		m := mo.copyFor(c, t.Announcer.Bridge())
		err := t.deliverCopy(mo.Kind, m)
		switch {
		case errors.Is(err, errNoBridge): // copies waiting for the bridge must not delay other events
			t.Trouble.Until("mirror", "IRC does not show what is happening: "+err.Error(), func() error { return t.deliverCopy(mo.Kind, m) })
		case dropbox.IsUndeliverable(err):
			t.Log.Warn("copy could not be delivered", keyMessage, mo.About, "moment", string(mo.Kind), keyErr, err)
		case err != nil:
			return err
		}
	}
	return nil
}

// announcementOf returns the announcement of an event, or false if the event is not
// shown.
func announcementOf(ev journal.Event) (Announcement, bool) {
	mo := Announcement{
		Kind: ev.Kind, Message: ev.Message.Mail(), To: ev.To, About: ev.About, Agent: ev.Agent, Of: ev.Of.Mail(), Task: ev.Task.Mail(),
		Notice: ev.Notice, key: ev.Key,
	}
	if !ev.Quiet.IsZero() { // the morning alert will contain this event
		if !catalogue[string(ev.Kind)].work {
			return mo, false
		}
		mo.Notice = nil
	}
	switch {
	case mo.Message == nil, ev.Kind == journal.Alert && ev.Notice == nil:
		return mo, false // an alert without a notice is shown once it arrives in a mailbox
	case ev.Kind == journal.Mail && mo.Message.From == dropbox.Swarm && mo.Message.Type != dropbox.Question:
		mo.Kind, mo.key = journal.Alert, eventKey(journal.Alert, mo.Message.ID)
		// An earlier event has already shown a dead letter or a notice.
		return mo, !strings.HasPrefix(mo.Message.Key, deadKey) && !strings.HasPrefix(mo.Message.Key, noticedKey)
	}
	return mo, true
}

var errNoBridge = errors.New("is the bridge running?")

func (t *Teller) deliverCopy(kind journal.Kind, m *dropbox.Message) error {
	if catalogue[string(kind)].passing && !t.Announcer.room(t.Store) {
		return fmt.Errorf("too much is waiting in the mailbox %s; %w", t.Announcer.Bridge(), errNoBridge)
	}
	bridge := t.Announcer.Bridge()
	_, err := t.Deliver(m.From, bridge, m)
	if errors.Is(err, dropbox.ErrNoMailbox) { // somebody deleted the bridge's mailbox
		if err = t.Store.MakeMailbox(bridge); err == nil {
			_, err = t.Deliver(m.From, bridge, m)
		}
	}
	return err
}

const (
	// oldMail is the age above which an event is no longer shown, for example after the
	// daemon was down.
	oldMail = 24 * time.Hour
)
