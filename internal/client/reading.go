package client

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// Reading determines which files an agent's tools may read. The agent may attach these
// files, those in its mailbox, and those that are already attached to a message.
type Reading struct {
	Dir     string   // the working folder of its client, absolute
	Folders []string // the agent's additional folders, absolute
	// Allowed lists the tools that the agent may use, in the notation of Claude Code. If
	// it is nil, the agent may use all tools.
	Allowed *[]string
	Denied  []string // the tools that the agent may not use, in the same notation
}

// ReadingOf returns the Reading of an agent according to the configuration.
func ReadingOf(a config.Agent) Reading {
	r := Reading{Dir: a.Client.Dir, Folders: a.AllowedDirs, Allowed: a.ToolList()}
	kind := backends.Kind(a.Backend)
	switch mode := a.Client.PermissionMode; {
	case kind == nil:
		r.Allowed = new([]string) // the permissions of such a client are unknown
	case mode == "":
	case mode == kind.Bypass:
		r.Allowed = nil
	case mode == kind.Look && a.ToolList() == nil:
		r.Allowed = new([]string) // in this mode, the client runs only tools that read its folder
	}
	if a.Client.DisallowedTools != nil {
		r.Denied = *a.Client.DisallowedTools
	}
	return r
}

// A FileError reports that an agent may not send a file.
type FileError struct {
	Path    string   // the path as the caller specified it
	Daemons bool     // the file belongs to the daemon, and no agent may send it
	Within  []string // the folders of the files that the agent may send
}

func (e *FileError) Error() string {
	if e.Daemons {
		return e.Path + " belongs to the daemon; no agent may send it"
	}
	return fmt.Sprintf("%s is outside what your tools may read: %s", e.Path, strings.Join(e.Within, ", "))
}

// agentFolders contains an agent's name, the daemon's folder, and the mailboxes folder.
type agentFolders struct{ agent, home, store string }

// check implements [Client.Readable] for an agent.
func (r Reading) check(name string, in agentFolders) (string, error) {
	if ownPipe(name) {
		return name, nil
	}
	file, err := filepath.Abs(name)
	if err == nil {
		file, err = filepath.EvalSymlinks(file)
	}
	if err != nil {
		return "", err
	}
	if secret, err := daemons(file, in.home); err != nil {
		return "", err
	} else if secret {
		return "", &FileError{Path: name, Daemons: true}
	}
	own := []string{filepath.Join(in.store, in.agent), filepath.Join(in.store, "attach")}
	if slices.ContainsFunc(own, func(folder string) bool { return inside(folder, file) }) {
		return file, nil
	}
	if r.allows(file, in.store) {
		return file, nil
	}
	within := own[:1:1]
	if r.reads() {
		within = slices.Concat([]string{r.Dir}, r.Folders, within)
	}
	return "", &FileError{Path: name, Within: slices.DeleteFunc(within, func(f string) bool { return f == "" })}
}

// daemons reports whether a file is in the daemon's folder in this project or another
// one. The path must contain no symbolic links. It checks three things: the names in the
// path, whether the path leads through the folder under another name, and whether the
// file is a hard link to a file in the folder.
func daemons(file, folder string) (bool, error) {
	for part := range strings.SplitSeq(file, string(filepath.Separator)) {
		if strings.EqualFold(part, discovery.HomeName) {
			return true, nil
		}
	}
	home, err := os.Stat(folder)
	if err != nil {
		return false, nil // the folder does not exist
	}
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, home) {
			return true, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	info, err := os.Stat(file)
	if err != nil {
		return false, err
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); !ok || sys.Nlink < 2 || !info.Mode().IsRegular() {
		return false, nil
	}
	found := false
	err = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // removed in the meantime, or not a regular file
		}
		if one, err := e.Info(); err == nil && os.SameFile(one, info) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found, err
}

// ownPipe reports whether a name, such as /dev/stdin or the result of a shell's
// <(command), refers to a pipe or a socket with which this process was started.
func ownPipe(name string) bool {
	info, err := os.Stat(name)
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeCharDevice) == 0 {
		return false
	}
	own := fmt.Sprintf("/proc/%d/fd", os.Getpid())
	for range 4 { // /dev/stdin is a link to /proc/self/fd/0
		dir, err := filepath.EvalSymlinks(filepath.Dir(name))
		if err != nil {
			return false
		}
		next, err := os.Readlink(name)
		if err != nil {
			return false
		}
		if dir == own {
			return !filepath.IsAbs(next) // a pipe looks like "pipe:[4711]"; a path would mean a file
		}
		if name = next; !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
	}
	return false
}

// inside reports whether a file is in a folder. The path of the folder may contain
// symbolic links; that of the file must not.
func inside(folder, file string) bool {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(folder, file)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// reads reports whether the agent may read anything in its working folder.
func (r Reading) reads() bool { return !slices.ContainsFunc(r.Denied, isWhole("Read")) }

// allows reports whether the agent's tools may read a file outside of its mailbox. The
// path must contain no symbolic links. store is the mailboxes folder. If store is in the
// working folder, permission to read the working folder does not include other agents'
// mailboxes.
func (r Reading) allows(file, store string) bool {
	if !r.reads() || slices.ContainsFunc(r.Denied, func(t string) bool { return r.covers(t, file, true) }) {
		return false
	}
	if r.unbound() || slices.ContainsFunc(*r.Allowed, isWhole("Read")) {
		return true
	}
	if !inside(store, file) && slices.ContainsFunc(append([]string{r.Dir}, r.Folders...), func(f string) bool { return f != "" && inside(f, file) }) {
		return true
	}
	return slices.ContainsFunc(*r.Allowed, func(t string) bool { return r.covers(t, file, false) })
}

// unbound reports whether the agent may use every tool or run arbitrary commands.
func (r Reading) unbound() bool {
	return r.Allowed == nil || slices.ContainsFunc(*r.Allowed, isWhole("Bash"))
}

// isWhole returns a function that reports whether an entry in a list of tools covers every
// use of the tool.
func isWhole(tool string) func(string) bool {
	return func(entry string) bool {
		return slices.Contains([]string{tool, tool + "()", tool + "(*)", tool + "(**)", tool + "(:*)"}, strings.TrimSpace(entry))
	}
}

// covers reports whether the entry Read(PATTERN) in a list of tools covers a file. As in
// the client, //FOLDER is absolute, ~/ is the home folder, and any other pattern is
// relative to the working folder. A pattern for a folder also covers the files below it.
// If denies is set, a pattern without a slash covers every file with that name, in any
// folder.
func (r Reading) covers(entry, file string, denies bool) bool {
	pattern, ok := strings.CutPrefix(strings.TrimSpace(entry), "Read(")
	if pattern, ok = cutEnd(pattern, ok); !ok {
		return false
	}
	rest, absolute := strings.CutPrefix(pattern, "//")
	switch below, home := strings.CutPrefix(pattern, "~/"); {
	case absolute:
		pattern = "/" + rest
	case home:
		dir, err := os.UserHomeDir()
		if err != nil {
			return denies
		}
		pattern = path.Join(dir, below)
	case denies && !strings.Contains(strings.TrimSuffix(pattern, "/"), "/"):
		pattern = "/**/" + pattern
	default:
		dir, err := filepath.EvalSymlinks(r.Dir)
		if err != nil {
			return denies
		}
		pattern = path.Join(dir, pattern)
	}
	return glob(path.Clean(pattern)).MatchString(file)
}

func cutEnd(s string, ok bool) (string, bool) {
	s, end := strings.CutSuffix(s, ")")
	return s, ok && end && s != ""
}

// glob translates a path pattern into a regular expression: ** matches any number of
// folders; * and ? match within one name.
func glob(pattern string) *regexp.Regexp {
	expr := regexp.QuoteMeta(pattern)
	for _, r := range [][2]string{{`/\*\*/`, "/(?:.*/)?"}, {`\*\*`, ".*"}, {`\*`, "[^/]*"}, {`\?`, "[^/]"}} {
		expr = strings.ReplaceAll(expr, r[0], r[1])
	}
	return regexp.MustCompile("^" + expr + "(?:/.*)?$")
}
