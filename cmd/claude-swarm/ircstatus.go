package main

import (
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// restartHint starts the bridge of a daemon that runs without.
const restartHint = "claude-swarm restart"

// ircStatus is how things stand with IRC, as far as the bridge's files tell; nil where
// the configuration has none.
func ircStatus(f *config.File, home swarm.Home) (*swarm.IRCStatus, error) {
	if !f.IRC.On() {
		return nil, nil
	}
	st, err := ircbridge.ReadState(home.Dir())
	if err != nil {
		return nil, err
	}
	s := &swarm.IRCStatus{
		Server: f.IRC.Server, Apart: f.IRC.Apart, Running: st.Running, Connected: st.Running && st.Connected,
		Nick: st.Nick, Channels: []string{}, Waiting: st.Waiting, Unproven: st.Unproven, Questions: len(st.Questions),
		Warnings: append([]string{}, st.Warnings...),
	}
	switch {
	case s.Connected:
	case st.Running:
		s.Why, s.Next = st.Why, "claude-swarm irc doctor"
		if !st.NextTry.IsZero() {
			s.NextTry = &st.NextTry
		}
	case f.IRC.Apart:
		s.Why, s.Next = "no bridge runs", "claude-swarm irc run"
	case lockHeld(home):
		s.Why, s.Next = "the daemon runs without its bridge", restartHint
	default:
		s.Why, s.Next = "no daemon runs", view.StartDaemon
	}
	if st.Running && !st.Since.IsZero() {
		s.Since = &st.Since
	}
	if !st.Running {
		// What was counted last says nothing of what came since.
		if s.Waiting, err = waitingForIRC(f); err != nil {
			return nil, err
		}
		s.Unproven, s.Warnings = 0, []string{}
	}
	for _, c := range st.Channels {
		if s.Connected && c.Joined {
			s.Channels = append(s.Channels, c.Name)
		}
	}
	return s, nil
}

// waitingForIRC counts what nobody says now.
func waitingForIRC(f *config.File) (int, error) {
	store, err := dropbox.Open(f.DeadDropDir, f.StoreOptions())
	if err != nil {
		return 0, err
	}
	defer store.Close()
	box, err := store.Mailbox(dropbox.IRC)
	if err != nil {
		return 0, nil // not made yet
	}
	entries, err := box.Peek()
	return len(entries), err
}

// ircLine is how things stand with IRC, for a person.
func ircLine(s swarm.IRCStatus, now time.Time) string {
	line := "IRC: "
	switch {
	case s.Connected:
		line += fmt.Sprintf("connected to %s as %s", s.Server, s.Nick)
		if s.Since != nil {
			line += " for " + since(*s.Since, now)
		}
		line += ", " + count(len(s.Channels), "channel")
	default:
		line += "not connected to " + s.Server
		if s.Since != nil {
			line += " for " + since(*s.Since, now)
		}
		if s.Why != "" {
			line += ": " + oneLine(s.Why)
		}
		if s.NextTry != nil && s.NextTry.After(now) {
			line += "; tries again in " + span(s.NextTry.Sub(now))
		}
	}
	if s.Waiting > 0 {
		line += fmt.Sprintf(", %s to be said", count(s.Waiting, "message"))
	}
	if s.Questions > 0 {
		line += fmt.Sprintf(", %s open", count(s.Questions, "question"))
	}
	for _, w := range s.Warnings {
		line += "\n! " + oneLine(w)
	}
	if s.Next != "" {
		line += "\nnext: " + s.Next
	}
	return line
}
