package provision

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// OwnSwarm is the command that starts a separate swarm in a linked worktree.
const OwnSwarm = "claude-swarm --config " + config.Name + " start, for a separate swarm in this worktree"

// A Worktree is a project in a linked worktree of a git repository, while the daemon of that
// repository runs in another worktree, usually the main one. If mailboxes are committed, the worktree has a copy
// of them, which no daemon reads.
type Worktree struct {
	Dir  string       // the project's folder in the linked worktree
	main string       // the project's folder in the worktree where the daemon runs
	file *config.File // the configuration of that daemon; nil if it is unknown
}

// LinkedWorktree returns the project in the linked worktree dir whose daemon uses the
// configuration at main; see [discovery.DaemonFor].
func LinkedWorktree(dir, main string) Worktree {
	file, err := config.Load(main)
	if err != nil {
		file = config.InForce(main)
	}
	return Worktree{Dir: dir, main: filepath.Dir(main), file: file}
}

// String says that the daemon runs elsewhere, and where its mailboxes are.
func (w Worktree) String() string {
	where := "another linked worktree"
	if discovery.IsMain(w.main) {
		where = "the main worktree"
	}
	s := fmt.Sprintf("%s is a linked worktree, and the daemon of its repository runs in %s, %s", w.Dir, where, w.main)
	if w.file != nil {
		s += ", with the mailboxes in " + w.file.DeadDropDir
	}
	return s
}

// Unread are files that somebody dropped into a folder of a linked worktree.
type Unread struct {
	Why  string // how many there are, and where their mailbox is
	Next string // the command that moves them there
}

// maxNamed is the maximum number of files in the command of an [Unread]. When it has moved
// them, the next one names others.
const maxNamed = 10

// Unread returns the files that were dropped in the worktree into folders with the names of
// agents, for each of these folders. No daemon reads them.
func (w Worktree) Unread() (all []Unread) {
	if w.file == nil {
		return nil
	}
	below, err := filepath.Rel(w.file.Dir, w.file.DeadDropDir)
	if err != nil || !filepath.IsLocal(below) {
		return nil // the worktrees share the mailboxes
	}
	for _, name := range w.file.Names() {
		folder, mailbox := filepath.Join(w.Dir, below, name), filepath.Join(w.file.DeadDropDir, name)
		files, err := dropbox.DropsIn(folder)
		if err != nil || len(files) == 0 || discovery.SameFolder(folder, mailbox) {
			continue
		}
		var words []string
		for _, f := range files[:min(len(files), maxNamed)] {
			words = append(words, shellWord(filepath.Join(folder, f)))
		}
		all = append(all, Unread{
			Why:  fmt.Sprintf("no daemon reads %s, which contains %s; the mailbox of %s is %s", folder, screen.Count(len(files), "file"), name, mailbox),
			Next: "mv -n " + strings.Join(words, " ") + " " + shellWord(mailbox+"/"),
		})
	}
	return all
}

// worktree reports that the project is in a linked worktree whose mailboxes are in
// another worktree, with the files that were dropped here. It reports false if it is not.
func (e *checkup) worktree() bool {
	const name = "mailboxes"
	dir := filepath.Dir(e.Config)
	main := discovery.DaemonFor(dir)
	if main == "" {
		return false
	}
	w := LinkedWorktree(dir, main)
	e.warn(name, OwnSwarm, "%v", w)
	for _, u := range w.Unread() {
		e.warn(name, u.Next, "%s", u.Why)
	}
	return true
}
