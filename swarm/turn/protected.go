package turn

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// ofMailboxes lists what only the swarm writes in the mailboxes folder. A file in a mailbox
// itself is not in the list, because anybody may drop one there; neither are the agents' own
// files in work, and the pages in board.
var ofMailboxes = []string{
	"*/tmp", "*/new", "*/cur", "*/done", "*/dead", "*/keys", "*/FULL", "HALT", "version", ".lock", ".gitignore", "attach", "refused", "halted", "topics", "hooks",
}

// Protected returns the files that the tools of an agent's client must not use: those of
// the swarm, of git, and those from which any client reads its settings or its memory.
// Links in the paths of their folders are also given resolved.
func (t *Turns) Protected(s Settings) runner.Protected {
	var p runner.Protected
	unread := addTo(&p.Unread)
	unwritten := addTo(&p.Unwritten)
	unread(t.Home.Dir(), "")
	unwritten(t.Mailboxes, ofMailboxes...)
	if t.Config != "" {
		unwritten(filepath.Dir(t.Config), filepath.Base(t.Config))
	}
	folders := foldersBetween(t.Project, cmp.Or(s.Client.Dir, t.Project))
	editable := func(name string) bool { return slices.Contains(s.Editable, name) }
	if !editable(".git") {
		unwritten(t.Project, "**/.git")
		for _, f := range folders {
			unwritten(f, ".git")
			unwritten(commonGit(f))
		}
	}
	env := t.environment(s, "")
	home := valueOf(env, "HOME")
	for _, name := range slices.Sorted(maps.Keys(t.Backends)) {
		kind := t.Backends[name].Kind()
		own, login := kind.Own, cmp.Or(valueOf(env, kind.Login.Folder), join(home, kind.Login.Home))
		unread(login, own.Memory...)
		unwritten(login, own.Folder...)
		unwritten(home, own.Home...)
		for _, f := range folders {
			unread(f, own.ProjectMemory...)
			unwritten(f, slices.DeleteFunc(slices.Clone(own.Project), editable)...)
		}
	}
	return p
}

// HomeOf returns the home folder of an agent's client.
func (t *Turns) HomeOf(s Settings) string { return valueOf(t.environment(s, ""), "HOME") }

// addTo returns a function that adds protected paths below a folder to a list. It ignores
// a folder that is not absolute, such as "", and lists a folder behind links twice.
func addTo(list *[]runner.ProtectedPath) func(dir string, names ...string) {
	return func(dir string, names ...string) {
		if !filepath.IsAbs(dir) {
			return
		}
		dirs := []string{filepath.Clean(dir)}
		if real := runner.ResolveLinks(dir); real != dirs[0] {
			dirs = append(dirs, real)
		}
		for _, d := range dirs {
			for _, name := range names {
				if p := (runner.ProtectedPath{Dir: d, Name: name}); !slices.Contains(*list, p) {
					*list = append(*list, p)
				}
			}
		}
	}
}

// foldersBetween returns the project's folder, an agent's folder, and those between them.
func foldersBetween(project, dir string) []string {
	all := []string{filepath.Clean(project)}
	inside, err := filepath.Rel(project, dir)
	if err != nil || inside == ".." || strings.HasPrefix(inside, "../") {
		return append(all, filepath.Clean(dir))
	}
	for part := range strings.SplitSeq(inside, "/") {
		if part != "." {
			all = append(all, filepath.Join(all[len(all)-1], part))
		}
	}
	return all
}

// commonGit returns the folder of the repository to which a linked worktree belongs, and
// "" as the name below it. dir is "" if the folder is no such worktree.
func commonGit(folder string) (dir, name string) {
	link, err := os.ReadFile(filepath.Join(folder, ".git"))
	to, ok := strings.CutPrefix(strings.TrimSpace(string(link)), "gitdir:")
	if err != nil || !ok {
		return "", ""
	}
	dir = absolute(folder, strings.TrimSpace(to))
	if common, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		dir = absolute(dir, strings.TrimSpace(string(common)))
	}
	return dir, ""
}

func absolute(base, p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(base, p)
}

func join(dir, name string) string {
	if dir == "" || name == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// valueOf returns the value of a variable, or "". The last of several entries counts.
func valueOf(env []string, name string) string {
	for _, e := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(e, name+"="); ok && name != "" {
			return value
		}
	}
	return ""
}
