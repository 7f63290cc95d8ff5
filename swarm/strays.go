package swarm

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// strayFiles tells the lead about files in the mailboxes and beside them that are not taken in. It
// is safe for concurrent use.
type strayFiles struct {
	store   *dropbox.Store
	notices *notice.Teller
	plan    func() Plan
	members func() []*member
	log     *slog.Logger
}

// tellNotTaken tells the lead once about a file that was set aside.
func (f *strayFiles) tellNotTaken(mailbox string, st dropbox.Stray, bad *dropbox.InvalidError) {
	f.notices.Tell(notice.SetAside{Mailbox: mailbox, File: st.Name, Changed: st.ModTime, Why: bad.Reason})
}

// tellAside tells the lead about files in new/ whose names were not valid message names.
func (f *strayFiles) tellAside(box *dropbox.Mailbox, aside []dropbox.DeadLetter) {
	if len(aside) == 0 {
		return
	}
	var names []string
	for _, d := range aside {
		names = append(names, screen.Short(d.Original, 100))
	}
	f.log.Warn("files without a valid message name were set aside", keyAgent, box.Name(), "files", len(aside))
	f.notices.Tell(notice.Misnamed{Mailbox: box.Name(), Files: named(names), ID: aside[0].ID, Folder: filepath.Join(f.store.Dir(), box.Name())})
}

// listLead sets aside entries in the lead's new/ that are not messages, because no agent
// lists that folder.
func (f *strayFiles) listLead() {
	box, err := f.store.Mailbox(dropbox.Lead)
	if err != nil {
		return // the folder check reports this error
	}
	_, aside, err := box.ListAside()
	if err != nil {
		f.log.Warn("mailbox could not be read", keyAgent, dropbox.Lead, keyErr, err)
		return
	}
	f.tellAside(box, aside)
}

// listBusy lists the mailboxes of agents that are busy or held and therefore do not list
// them themselves. The last listing determines whether a mailbox counts as full and refuses
// senders.
func (f *strayFiles) listBusy() {
	for _, m := range f.members() {
		if m.view.state() != Idle {
			_, _ = m.list() // the agent reports an error when it resumes work
		}
	}
}

// strayMemory is the age above which a dropped file is not reported to the lead. It is
// shorter than the time for which keys are kept, so no file is reported twice.
const strayMemory = 6 * 24 * time.Hour

// tellStrays tells the lead about files that were dropped into a folder that no agent
// reads. Such a folder either is not a mailbox, usually because its name is wrong, or is
// the folder that contains the mailboxes. The files are not moved. The lead gets one
// alert for all files that were dropped into a folder on one day.
func (f *strayFiles) tellStrays(now time.Time) {
	strangers, err := f.store.Strangers()
	if err != nil {
		f.log.Warn("folders could not be read", keyErr, err)
		return
	}
	var agents []string
	for _, spec := range f.plan().Agents {
		agents = append(agents, spec.Name)
	}
	for _, name := range strangers {
		path := filepath.Join(f.store.Dir(), name)
		info, err := os.Lstat(path) // do not follow links
		if err != nil {
			continue
		}
		// The modification time of a folder shows when a file arrived, even if a copied
		// file kept its old time. A folder to which files are still being added is
		// checked later.
		changed := info.ModTime()
		if age := now.Sub(changed); age < f.plan().debounce() || age > strayMemory {
			continue
		}
		wrong := notice.Misplaced{Store: f.store.Dir(), Name: name, Changed: changed, Agents: agents}
		switch {
		case info.Mode().IsRegular():
			f.notices.Tell(wrong)
		case info.IsDir():
			if wrong.Files = dropsIn(path); len(wrong.Files) == 0 {
				continue
			}
			wrong.All, wrong.Near = named(wrong.Files), dropbox.Nearest(name, agents)
			f.notices.Tell(wrong)
		}
	}
}

// litterAfter is the time after which the lead is told of a file that is never taken in. A
// program that is still using a file may do so for a long time.
func litterAfter(kind dropbox.LitterKind) time.Duration {
	if kind == dropbox.LitterIncomplete {
		return time.Hour
	}
	return time.Minute
}

// tellLitter tells the lead about files in mailboxes that are never taken in because of
// their names. The files are not moved. The lead is told once of each file that may have
// been meant as a message, and once for all others of a kind in a mailbox.
func (f *strayFiles) tellLitter(now time.Time) {
	var all []*dropbox.Mailbox
	if box, err := f.store.Mailbox(dropbox.Lead); err == nil {
		all = append(all, box)
	}
	for _, m := range f.members() {
		all = append(all, m.inbox.Box)
	}
	for _, box := range all {
		list, err := box.Drops().Litter()
		if err != nil {
			continue // the folder check reports it
		}
		told := map[dropbox.LitterKind]bool{}
		for _, l := range list {
			if age := now.Sub(l.Changed); age < litterAfter(l.Kind) || age > strayMemory {
				continue
			}
			left := notice.Litter{Mailbox: box.Name(), Folder: filepath.Join(f.store.Dir(), box.Name()), File: l.Name, Kind: l.Kind}
			if left.IsOnePerMailbox() {
				if told[l.Kind] {
					continue
				}
				told[l.Kind] = true
			}
			f.notices.Tell(left)
		}
	}
}

// dropsIn lists the dropped files in a folder.
func dropsIn(folder string) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // deleted in the meantime, or not readable
	}
	var files []string
	for _, e := range entries { // sorted
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, e.Name())
		}
	}
	return files
}
