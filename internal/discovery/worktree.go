package discovery

import (
	"os"
	"path/filepath"
	"strings"
)

// OtherDaemons returns the configurations of the projects in the other worktrees of a git
// repository whose daemons run, that of the main worktree first. dir is the folder of a project in
// one of the worktrees, and linked reports whether that is a linked one. If a daemon runs for dir,
// or dir is in no repository, the list is empty. The configuration is often tracked, so each
// worktree contains a copy of it, and a daemon of a copy would run the same agents a second time.
// OtherDaemons reads git's files and does not start git, because each `send` calls it.
func OtherDaemons(dir string) (configs []string, linked bool) {
	if _, held := Holder(lockIn(dir)); held {
		return nil, false
	}
	for top := dir; top != filepath.Dir(top); top = filepath.Dir(top) {
		info, err := os.Lstat(filepath.Join(top, ".git"))
		if err != nil {
			continue
		}
		below, err := filepath.Rel(top, dir)
		if err != nil {
			return nil, false
		}
		common := filepath.Join(top, ".git")
		if linked = info.Mode().IsRegular(); linked {
			common = commonFolder(top)
		}
		for _, tree := range worktrees(common) {
			project := filepath.Join(tree, below)
			if _, held := Holder(lockIn(project)); held && !SameFolder(project, dir) {
				configs = append(configs, filepath.Join(project, ConfigName))
			}
		}
		return configs, linked
	}
	return nil, false
}

// DaemonFor returns the configuration of the daemon that works for a project in a linked
// worktree: that of the main worktree, or else of the only other worktree in which one runs.
// It returns "" if a daemon runs for dir itself, if there is no such daemon, or if dir is in
// no linked worktree.
func DaemonFor(dir string) string {
	others, linked := OtherDaemons(dir)
	if linked && len(others) > 0 && (len(others) == 1 || IsMain(filepath.Dir(others[0]))) {
		return others[0]
	}
	return ""
}

// IsMain reports whether a folder is in the main worktree of its repository.
func IsMain(dir string) bool {
	for top := dir; top != filepath.Dir(top); top = filepath.Dir(top) {
		if info, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			return info.IsDir()
		}
	}
	return false
}

func lockIn(project string) string { return filepath.Join(project, HomeName, "daemon.lock") }

// SameFolder reports whether two paths lead to the same folder. A path that leads nowhere is
// the same as no other.
func SameFolder(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// commonFolder returns the folder of the repository to which the linked worktree top belongs, or
// "" if there is none: a submodule also has a file .git. See gitrepository-layout(5).
func commonFolder(top string) string {
	link, err := os.ReadFile(filepath.Join(top, ".git"))
	own, ok := strings.CutPrefix(strings.TrimSpace(string(link)), "gitdir: ")
	if err != nil || !ok {
		return ""
	}
	own = from(top, own)
	common, err := os.ReadFile(filepath.Join(own, "commondir"))
	if err != nil {
		return ""
	}
	return from(own, strings.TrimSpace(string(common)))
}

// worktrees lists the worktrees of a repository, the main one first. A bare repository has no
// main worktree.
func worktrees(common string) (tops []string) {
	if common == "" {
		return nil
	}
	if filepath.Base(common) == ".git" {
		tops = append(tops, filepath.Dir(common))
	}
	entries, err := os.ReadDir(filepath.Join(common, "worktrees"))
	if err != nil {
		return tops // there are no linked worktrees
	}
	for _, e := range entries {
		own := filepath.Join(common, "worktrees", e.Name())
		if link, err := os.ReadFile(filepath.Join(own, "gitdir")); err == nil {
			tops = append(tops, filepath.Dir(from(own, strings.TrimSpace(string(link)))))
		}
	}
	return tops
}

// from returns a path that a file in the folder dir contains.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
