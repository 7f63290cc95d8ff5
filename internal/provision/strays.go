package provision

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// strays finds files and folders in the mailboxes' folder that are not mailboxes. They
// may contain mail, so the proposed command moves files to a mailbox and never removes
// them.
func (e *checkup) strays(store *dropbox.Store, agents []string) {
	strangers, err := store.Strangers()
	if err != nil {
		e.wrong("mailboxes", "", "%v", err)
		return
	}
	for _, s := range strangers {
		path := filepath.Join(e.file.DeadDropDir, s)
		own := s == dropbox.Lead || s == dropbox.Swarm || s == dropbox.Hooks || dropbox.IsBridge(s) || slices.Contains(agents, s)
		if own {
			if !e.noAccessIn(path) { // otherwise it is a mailbox that this user may not read
				e.incomplete(s, path)
			}
			continue
		}
		to := filepath.Join(e.file.DeadDropDir, "AGENT") + "/"
		if near := dropbox.Nearest(strings.TrimSuffix(s, filepath.Ext(s)), agents); len(near) > 0 {
			to = shellWord(filepath.Join(e.file.DeadDropDir, near[0]) + "/")
		} else if len(agents) == 1 {
			to = shellWord(filepath.Join(e.file.DeadDropDir, agents[0]) + "/")
		} else {
			to = shellWord(to)
		}
		if store.Known(s) == nil {
			e.former(path, to)
			continue
		}
		e.stray(path, to)
	}
}

// incomplete reports a mailbox of an agent or of the daemon without new/. A clone of a
// repository contains only the folders with finished messages. The daemon creates the others
// when it starts.
func (e *checkup) incomplete(mailbox, path string) {
	const name = "mailboxes"
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		file := shellWord(path + ".md")
		e.wrong(name, "mv -n "+shellWord(path)+" "+file+", then claude-swarm init", "%s is a file, and the mailbox of %s has to be a folder", path, mailbox)
		return
	}
	e.warn(name, "claude-swarm start, or claude-swarm doctor --fix", "the mailbox %s lacks folders, which the daemon creates", path)
	e.fixBy(func() error {
		store, err := dropbox.Open(e.file.DeadDropDir, dropbox.Options{})
		if err != nil {
			return err
		}
		return errors.Join(store.MakeMailbox(mailbox), store.Close())
	})
}

// former reports the mail that waits in the folder of a former mailbox without new/. Its
// finished messages are no mail, and a folder that contains nothing else is in order: git
// brings it back in each clone.
func (e *checkup) former(path, to string) {
	const name = "mailboxes"
	if n, err := count(filepath.Join(path, "cur")); err == nil && n > 0 {
		e.warn(name, "mkdir "+shellWord(filepath.Join(path, "new"))+", then claude-swarm doctor", "%s in %s, which belongs to no agent", screen.Count(n, "file"), filepath.Join(path, "cur"))
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		e.wrong(name, "ls -ld "+shellWord(path), "%v", err)
		return
	}
	entries = slices.DeleteFunc(entries, func(f fs.DirEntry) bool { return !f.Type().IsRegular() })
	if len(entries) > 0 {
		e.warn(name, "find "+shellWord(path)+" -maxdepth 1 -type f -exec mv -n {} "+to+` \;`, "%s belongs to no agent: no agent reads the %s left there", path, screen.Count(len(entries), "file"))
	}
}

// stray reports a file or folder that is not a mailbox, with a command that moves its
// files to a mailbox. The parameter to is the path of that mailbox, quoted for the shell.
// mv -n never overwrites a file.
func (e *checkup) stray(path, to string) {
	const name = "mailboxes"
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil || !info.IsDir():
		e.warn(name, "mv -n "+shellWord(path)+" "+to, "%s is not a mailbox: no agent reads it", path)
	default:
		n, err := count(path)
		if err == nil && n == 0 {
			try := "find " + shellWord(path) + " -depth -type d -exec rmdir {} +"
			if inside, err := os.ReadDir(path); err == nil && len(inside) == 0 {
				try = "rmdir " + shellWord(path)
			}
			e.warn(name, try, "%s is not a mailbox, and is empty", path)
			return
		}
		what := "what is in it"
		if err == nil {
			what = fmt.Sprintf("the %s in it", screen.Count(n, "file"))
		}
		e.warn(name, "find "+shellWord(path)+" -type f -exec mv -n {} "+to+` \;`, "%s is not a mailbox: no agent reads %s", path, what)
	}
}
