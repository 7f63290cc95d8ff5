package swarm

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// maxNamed is how many files an alert names.
const maxNamed = 10

// named lists the first few of many names.
func named(names []string) string {
	more := len(names) - maxNamed
	if more <= 0 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), more)
}

// tellAside tells the lead of files in new/ without a message's name.
func (d *deps) tellAside(box *dropbox.Mailbox, aside []dropbox.DeadLetter) {
	if len(aside) == 0 {
		return
	}
	var names []string
	for _, d := range aside {
		names = append(names, screen.Short(d.Original, 100))
	}
	d.log.Warn("files without a message's name were set aside", keyAgent, box.Name(), "files", len(aside))
	d.mail.TellLead(box.Name(), "aside:"+aside[0].ID, "not taken in: "+named(names), fmt.Sprintf(
		"Not the name of a message, in new/ of the mailbox of %s: %s.\n\nKept in dead/: claude-swarm dead list %s\nTo have it taken in: claude-swarm dead retry %s\n"+
			"What is dropped by hand belongs into %s itself.\n",
		box.Name(), named(names), box.Name(), aside[0].ID, filepath.Join(d.store.Dir(), box.Name())))
}

// list lists the agent's mail, and tells the lead of entries that are not messages.
func (a *agent) list() ([]dropbox.Entry, error) {
	entries, aside, err := a.inbox.Box.ListAside()
	a.deps.tellAside(a.inbox.Box, aside)
	return entries, err
}
