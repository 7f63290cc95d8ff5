package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// folder reads the path of a folder; it is made absolute later, when all of the file is known.
func (r *reader) folder(n *yaml.Node, name string) (string, bool) {
	s, ok := r.line(n, name)
	switch {
	case !ok:
		return "", false
	case s == "":
		r.fail(follow(n), "%s: is empty", name)
		return "", false
	case strings.HasPrefix(s, "~") && s != "~" && !strings.HasPrefix(s, "~/"):
		r.fail(follow(n), "%s: %q: only ~/ is known, not another person's home", name, s)
		return "", false
	}
	return s, true
}

// folders reads a list of paths of folders.
func (r *reader) folders(n *yaml.Node, name string) ([]string, bool) {
	list, ok := r.list(n, name)
	if !ok {
		return nil, false
	}
	before := len(r.errs)
	for _, item := range follow(n).Content {
		r.folder(item, name)
	}
	return list, len(r.errs) == before
}

// resolve makes a path absolute: ~ is the home folder, anything relative starts
// at dir.
func resolve(dir, path string) (string, error) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		return filepath.Join(home, strings.TrimPrefix(path, "~")), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Join(dir, path), nil
}

// paths makes the paths of the file absolute.
func (r *reader) paths(f *File) {
	absolute := func(dir string, path *string, keys ...string) {
		p, err := resolve(dir, *path)
		if err != nil {
			r.failAt(f.place(keys...), "%s: %v", lastKey(keys), err)
			return
		}
		*path = p
	}
	written := f.DeadDropDir
	absolute(f.Dir, &f.DeadDropDir, "dead_drop_dir")
	absolute(f.Dir, &f.ProjectDir, "project_dir")
	for i := range f.Agents {
		a := &f.Agents[i]
		absolute(f.ProjectDir, &a.Cwd, a.Name+".cwd", ".cwd")
		if strings.Contains(a.Command[0], "/") {
			a.Command = append([]string(nil), a.Command...) // defaults' slice is shared by the agents
			absolute(f.Dir, &a.Command[0], a.Name+".command", ".command")
		}
		a.AllowedDirs = slices.Clone(a.AllowedDirs) // as well
		for j := range a.AllowedDirs {
			absolute(f.Dir, &a.AllowedDirs[j], a.Name+".allowed_dirs", ".allowed_dirs")
		}
		for name, server := range a.MCPServers {
			if strings.Contains(server.Command, "/") {
				absolute(f.Dir, &server.Command, a.Name+".mcp_servers", ".mcp_servers")
				a.MCPServers[name] = server
			}
		}
	}
	for key, path := range map[string]*string{
		"irc.ca_file": &f.IRC.CAFile, "irc.cert_file": &f.IRC.CertFile, "irc.key_file": &f.IRC.KeyFile,
		"irc.password_file": &f.IRC.PasswordFile, "irc.server_password_file": &f.IRC.ServerPasswordFile,
		"irc.channel_keys_file": &f.IRC.ChannelKeysFile,
	} {
		if *path != "" {
			absolute(f.Dir, path, key, "irc")
		}
	}
	// The mailboxes beside our own files or around the project would make the
	// project's files mail.
	var why string
	switch dd := f.DeadDropDir; {
	case within(f.Dir, dd), within(f.ProjectDir, dd):
		why = "holds the project; the mailboxes need a separate folder"
	case within(dd, f.Home()):
		why = "is the daemon's own folder; the mailboxes need another"
	default:
		return
	}
	r.failAt(f.place("dead_drop_dir"), "dead_drop_dir: %s %s", written, why).Try = "dead_drop_dir: .dead-drop"
}

// within says whether path is dir or lies in it; both are absolute and clean.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// place is the position of the first of the keys that is written in the file.
func (f *File) place(keys ...string) position {
	for _, k := range keys {
		if p := f.where[k]; p != nil {
			return *p
		}
	}
	if p := f.where["agents"]; p != nil {
		return *p
	}
	return position{1, 1}
}

func lastKey(keys []string) string {
	return strings.TrimPrefix(keys[len(keys)-1], ".")
}

// checkFolderSharing refuses session: continue where another agent works in the
// same folder: the newest session there may be the other's.
func (r *reader) checkFolderSharing(f *File) {
	for i, a := range f.Agents {
		if a.Session != SessionContinue {
			continue
		}
		for j, b := range f.Agents {
			if i != j && realPath(a.Cwd) == realPath(b.Cwd) {
				r.failAt(f.place(a.Name+".session", ".session"),
					"session: %s cannot continue the newest session of %s, because %s works there too", a.Name, a.Cwd, b.Name).
					Try = "session: resume, or another cwd for one of them"
				break
			}
		}
	}
}

// realPath is the path without symbolic links, or the path itself if it is not
// there.
func realPath(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}

// CheckFolders looks whether the folders that the agents work in are there. It
// returns [Errors], a problem for each agent whose folder is missing, or nil.
// It is the part of the check that depends on this machine; start calls it.
func (f *File) CheckFolders() error {
	var errs Errors
	add := func(p position, problem, try string) {
		errs = append(errs, &Error{Path: f.shown, Line: p.line, Column: p.column, Problem: problem, Try: try})
	}
	if why := noFolder(f.ProjectDir); why != "" {
		add(f.place("project_dir"), "project_dir: "+why, "mkdir -p "+f.ProjectDir+", or change project_dir")
		return errs // the agents' folders are in it, as a rule; one error says it all
	}
	for _, a := range f.Agents {
		if why := noFolder(a.Cwd); why != "" {
			add(f.place(a.Name+".cwd", ".cwd"), "cwd: agent "+a.Name+": "+why, "mkdir -p "+a.Cwd+", or change cwd")
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return errs
}

// noFolder says why path is no folder to work in, or nothing.
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
