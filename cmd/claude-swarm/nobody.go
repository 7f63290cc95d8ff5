package main

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// sayIfNobodyWorks prints a warning if messages to these mailboxes must wait: no daemon is
// running for the project, the project was moved while its daemon was running, or the swarm
// is halted. It prints nothing for mail to the lead, which needs no daemon.
func sayIfNobodyWorks(w io.Writer, project string, store *dropbox.Store, to ...string) {
	if !slices.ContainsFunc(to, func(name string) bool { return name != dropbox.Lead }) {
		return
	}
	listens, moved := daemonListens(project)
	switch {
	case moved:
		fmt.Fprint(w, "claude-swarm: "+movedText+"; the message is waiting\n  try: claude-swarm restart\n")
	case !listens:
		if why, next := inOtherWorktree(project); why != "" {
			fmt.Fprintf(w, "claude-swarm: %s; the message is waiting\n  try: %s\n", why, next)
			return
		}
		fmt.Fprint(w, "claude-swarm: no daemon is running; the message is waiting\n  try: claude-swarm start\n")
	case store.Halted():
		fmt.Fprint(w, "claude-swarm: the swarm is halted; the message is waiting\n  try: claude-swarm unhalt\n")
	}
}

// daemonListens reports whether a daemon is listening for the project, and whether the
// project was moved while its daemon was running.
func daemonListens(project string) (listens, moved bool) {
	if !lockHeld(journal.HomeOf(project)) {
		return false, false // no daemon is running
	}
	if discovery.Listening(project, os.Getenv) {
		return true, false
	}
	return discovery.Elsewhere(project, os.Getenv)
}
