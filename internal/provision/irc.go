package provision

import (
	"os"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

// irc checks the passwords and the state of the bridge. It does not check that the server
// can be reached; `claude-swarm irc doctor` does that.
func (e *checkup) irc() {
	const name = "irc"
	i := e.file.IRC
	if !i.On() {
		return
	}
	for _, path := range []string{i.PasswordFile, i.ServerPasswordFile, i.ChannelKeysFile, i.KeyFile} {
		if path == "" {
			continue
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
			e.wrong(name, "write the password into it, readable only by you", "%v", err)
			return
		case info.Mode().Perm()&0o077 != 0:
			e.wrong(name, "chmod go-rwx "+shellWord(path), "%s can be read by others (mode %04o)", path, info.Mode().Perm())
			e.fixBy(func() error { return os.Chmod(path, info.Mode().Perm()&^0o077) })
		}
	}
	for _, variable := range i.Secrets() {
		// A running daemon may have the variable in its environment, but a daemon started
		// from here would not.
		if e.Getenv(variable) == "" {
			e.warn(name, "export "+variable+"=… before start", "%s, which contains a password, is not set here", variable)
		}
	}
	if len(i.Allow) == 0 {
		e.warn(name, "irc: {allow: [{account: NAME, may: [talk, task, control]}]}", "irc.allow is empty: people can only read the channels")
	}
	st, err := bridge.ReadState(ircbridge.Folder(e.home.Dir()))
	switch {
	case err != nil:
		e.wrong(name, "", "%v", err)
	case !st.Running && i.Apart:
		e.warn(name, "claude-swarm irc run", "no bridge is running, and irc.apart keeps the daemon from running one")
	case !st.Running:
		e.good(name, "%s; the daemon connects when it runs (claude-swarm irc doctor tries it)", i.Server)
	case !st.Connected:
		e.warn(name, "claude-swarm irc doctor", "not connected to %s: %s", i.Server, firstLine(st.Why))
	default:
		e.good(name, "connected to %s as %s, %s", i.Server, st.Nick, screen.Count(len(st.Channels), "channel"))
	}
	for _, w := range st.Warnings {
		if st.Running {
			e.warn(name, "claude-swarm status", "%s", firstLine(w))
		}
	}
}
