package view

import (
	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// RestartDaemon is the next step if the daemon is running without its bridge.
const RestartDaemon = "claude-swarm restart"

// IRCOf reads the IRC status from the bridge's files. It returns nil if IRC is not
// configured. The result becomes the IRC field of a status.
func IRCOf(f *config.File, home journal.Home) (*swarm.IRCStatus, error) {
	if !f.IRC.On() {
		return nil, nil
	}
	st, err := bridge.ReadState(ircbridge.Folder(home.Dir()))
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
		s.Why, s.Next = "no bridge is running", "claude-swarm irc run"
	case hasDaemon(home):
		s.Why, s.Next = "the daemon is running without its bridge", RestartDaemon
	default:
		s.Why, s.Next = swarm.WhyNoDaemon, StartDaemon
	}
	if st.Running && !st.Since.IsZero() {
		s.Since = &st.Since
	}
	if !st.Running {
		// The recorded count is from before the bridge ended. More messages may have
		// arrived since then.
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

// waitingForIRC counts the messages that are waiting for a bridge.
func waitingForIRC(f *config.File) (int, error) {
	store, err := dropbox.Open(f.DeadDropDir, f.StoreOptions())
	if err != nil {
		return 0, err
	}
	defer store.Close()
	box, err := store.Mailbox(ircbridge.Name)
	if err != nil {
		return 0, nil // no bridge has ever run
	}
	entries, err := box.Peek()
	return len(entries), err
}

// hasDaemon reports whether a daemon is running for the project.
func hasDaemon(home journal.Home) bool {
	_, held := discovery.Holder(home.LockFile())
	return held
}

// OpenQuestions returns the unanswered questions to people on IRC: for each agent name,
// the agent's newest question. The map is empty if the bridge's files cannot be read.
func OpenQuestions(home journal.Home) map[string]bridge.OpenQuestion {
	open := map[string]bridge.OpenQuestion{}
	st, err := bridge.ReadState(ircbridge.Folder(home.Dir()))
	if err != nil {
		return open // not an error, because the rest of the status is still useful
	}
	for _, q := range st.Questions {
		if have := open[q.From]; q.At.After(have.At) && q.ID != have.ID { // a question can be shown in an alert as well
			open[q.From] = q
		}
	}
	return open
}
