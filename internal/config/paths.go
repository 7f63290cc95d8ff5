package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// folders checks how the folders in a valid file relate to each other.
func (r *reader) folders(f *File) {
	// If the mailboxes shared a folder with the daemon's files, or if their folder
	// contained the project, the other files there would become mail.
	why, dd := "", f.DeadDropDir
	switch {
	case within(f.Dir, dd), within(f.ProjectDir, dd):
		why = "contains the project; the mailboxes need a separate folder"
	case within(dd, f.Home()):
		why = "is the daemon's own folder; the mailboxes need another"
	}
	if why != "" {
		written := ".dead-drop"
		if at, ok := r.at["dead_drop_dir"]; ok {
			written = at.value.Value
		}
		r.fail("dead_drop_dir", "dead_drop_dir: .dead-drop", "%s %s", written, why)
	}
	// With "session: continue", the newest session in the folder may belong to another
	// agent.
	for _, a := range f.Agents {
		if a.Session != turn.SessionContinue {
			continue
		}
		if a.Worktree.Mode.On() {
			r.fail("agents."+a.Name+".session", "session: resume, or worktree: none", "%s cannot continue the newest session of its folder, because worktree: %s gives it other folders", a.Name, a.Worktree.Mode)
			continue
		}
		j := slices.IndexFunc(f.Agents, func(b Agent) bool { return b.Name != a.Name && realPath(b.Client.Dir) == realPath(a.Client.Dir) })
		if j >= 0 {
			r.fail("agents."+a.Name+".session", "session: resume, or another cwd for one of them", "%s cannot continue the newest session of %s, because %s works there too", a.Name, a.Client.Dir, f.Agents[j].Name)
		}
	}
}

// within reports whether path is dir or below it. Both must be absolute and clean.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// realPath returns a path with all symbolic links resolved, or the path itself if it does
// not exist.
func realPath(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}

// CheckFolders checks that the agents' working folders exist, and that the time zones can
// be looked up. The error is [Errors]. The result depends on the machine, so this check is
// not part of [Load].
func (f *File) CheckFolders() error {
	r := *f.from
	if why := noFolder(f.ProjectDir); why != "" {
		// The agents' folders are usually in the project folder, so one error is enough.
		r.fail("project_dir", "mkdir -p "+f.ProjectDir+", or change project_dir", "%s", why)
		return r.failed()
	}
	for _, a := range f.Agents {
		if why := noFolder(a.Client.Dir); why != "" {
			r.fail("agents."+a.Name+".cwd", "mkdir -p "+a.Client.Dir+", or change cwd", "agent %s: %s", a.Name, why)
		}
	}
	f.checkZones(&r)
	return r.failed()
}

// noFolder returns the reason why path cannot be a working folder, or "" if it can.
func noFolder(path string) string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path + " does not exist"
	case err != nil:
		return err.Error()
	case !info.IsDir():
		return path + " is not a folder"
	}
	return ""
}
