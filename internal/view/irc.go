package view

import (
	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/rendezvous"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// RestartDaemon is the next step where the daemon runs without its bridge.
const RestartDaemon = "claude-swarm restart"

// IRCOf is how things stand with IRC, as far as the bridge's files tell; nil where the
// configuration has none. The status of the daemon, or of the files, has it as its IRC.
func IRCOf(f *config.File, home journal.Home) (*swarm.IRCStatus, error) {
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
	case hasDaemon(home):
		s.Why, s.Next = "the daemon runs without its bridge", RestartDaemon
	default:
		s.Why, s.Next = swarm.WhyNoDaemon, StartDaemon
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

// hasDaemon tells whether a daemon holds the project.
func hasDaemon(home journal.Home) bool {
	_, held := rendezvous.Holder(home.LockFile())
	return held
}

// OpenQuestions are the newest of those that people on IRC were asked and have not
// answered, by the agent that asked. It is empty where the bridge's files do not tell.
func OpenQuestions(home journal.Home) map[string]ircbridge.OpenQuestion {
	open := map[string]ircbridge.OpenQuestion{}
	st, err := ircbridge.ReadState(home.Dir())
	if err != nil {
		return open // who asks for the status is told the rest
	}
	for _, q := range st.Questions {
		if q.At.After(open[q.From].At) {
			open[q.From] = q
		}
	}
	return open
}
