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
		if (s == dropbox.Lead || s == dropbox.Swarm || s == dropbox.Hooks || dropbox.IsBridge(s) || slices.Contains(agents, s)) && e.noAccessIn(path) {
			continue // a mailbox that this user may not read
		}
		to := filepath.Join(e.file.DeadDropDir, "AGENT") + "/"
		if near := dropbox.Nearest(strings.TrimSuffix(s, filepath.Ext(s)), agents); len(near) > 0 {
			to = shellWord(filepath.Join(e.file.DeadDropDir, near[0]) + "/")
		} else if len(agents) == 1 {
			to = shellWord(filepath.Join(e.file.DeadDropDir, agents[0]) + "/")
		} else {
			to = shellWord(to)
		}
		e.stray(path, to)
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
