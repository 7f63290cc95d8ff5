package discovery

import (
	"os"
	"path/filepath"
	"strings"
)

// MainDaemon returns the configuration of the project in the main worktree of a git repository
// if dir is in a linked worktree of it, and a daemon runs there but not for dir. Otherwise, it
// returns "". The configuration is often tracked, so each worktree contains a copy of it, and a
// daemon of a copy would run the same agents a second time. It reads git's files and does not
// start git, because each `send` calls it.
func MainDaemon(dir string) string {
	if _, held := Holder(lockIn(dir)); held {
		return ""
	}
	for top := dir; top != filepath.Dir(top); top = filepath.Dir(top) {
		info, err := os.Lstat(filepath.Join(top, ".git"))
		if err != nil {
			continue
		}
		if !info.Mode().IsRegular() {
			return "" // the main worktree
		}
		below, err := filepath.Rel(top, dir)
		main := mainWorktree(top)
		if main == "" || err != nil {
			return ""
		}
		if _, held := Holder(lockIn(filepath.Join(main, below))); !held {
			return ""
		}
		return filepath.Join(main, below, ConfigName)
	}
	return ""
}

func lockIn(project string) string { return filepath.Join(project, HomeName, "daemon.lock") }

// mainWorktree returns the main worktree of the repository to which the linked worktree top
// belongs, or "" if there is none: a submodule also has a file .git, and a bare repository has
// no main worktree. See gitrepository-layout(5).
func mainWorktree(top string) string {
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
	git := from(own, strings.TrimSpace(string(common)))
	if filepath.Base(git) != ".git" {
		return ""
	}
	return filepath.Dir(git)
}

// from returns a path that a file in the folder dir contains.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
