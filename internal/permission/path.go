package permission

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// ofProcess matches the links of a process to its working folder and to the root folder.
// For the client, they lead to a different folder than for us.
var ofProcess = regexp.MustCompile(`^/proc/[^/]+(?:/task/[^/]+)?/(cwd|root)(/|$)`)

// plain returns the path that a client means by p: without file://, with its home folder
// instead of ~, and without the links that lead to its working folder.
func (r Rules) plain(p string) string {
	if strings.HasPrefix(strings.ToLower(p), "file:") {
		if u, err := url.Parse(p); err == nil && u.Path != "" {
			p = u.Path
		}
	}
	if r.Home != "" && (p == "~" || strings.HasPrefix(p, "~/")) {
		p = r.Home + p[1:]
	}
	for range 4 { // such a link can lead through another one
		clean := path.Clean(p)
		found := ofProcess.FindStringSubmatch(clean)
		if found == nil {
			break
		}
		rest := clean[len(found[0]):]
		if p = "/" + rest; found[1] == "cwd" {
			p = path.Join(r.Dir, rest)
		}
	}
	return p
}

// allForms returns the forms of a plain path in which an entry may name it: absolute and
// relative to the agent's folder, with links as written and resolved.
func (r Rules) allForms(p string) []string {
	forms := formsOf(p, r.Dir)
	if !path.IsAbs(forms[0]) {
		return forms
	}
	if leads := runner.ResolveLinks(wholeOf(p, r.Dir)); leads != forms[0] {
		forms = append(forms, formsOf(leads, runner.ResolveLinks(r.Dir))...)
	}
	return forms
}

// wholeOf returns an absolute path that is not cleaned, because a .. after a link leads to
// the folder above the one to which the link leads.
func wholeOf(p, dir string) string {
	if path.IsAbs(p) || dir == "" {
		return p
	}
	return dir + "/" + p
}

// formsOf returns the forms in which an entry may name a path: absolute, and relative to
// the agent's folder.
func formsOf(p, dir string) []string {
	whole := path.Clean(p)
	if !path.IsAbs(whole) && dir != "" {
		whole = path.Join(dir, whole)
	}
	if dir == "" {
		return []string{whole}
	}
	if inside, ok := strings.CutPrefix(whole, strings.TrimSuffix(path.Clean(dir), "/")+"/"); ok {
		return []string{whole, inside}
	}
	return []string{whole}
}

// protects reports whether a call uses a protected file. It does not look at commands.
func (r Rules) protects(c *call) bool {
	if c.Kind == execute {
		return false
	}
	var files []string
	for _, p := range c.Paths {
		files = append(files, formsOf(p, r.Dir)[0], runner.ResolveLinks(wholeOf(p, r.Dir)))
	}
	uses := func(all []runner.ProtectedPath) bool {
		return slices.ContainsFunc(all, func(p runner.ProtectedPath) bool {
			return slices.ContainsFunc(files, func(file string) bool { return p.Contains(file) || c.removes() && p.IsBelow(file) })
		})
	}
	return uses(r.Protected.Unread) || c.mayChange() && uses(r.Protected.Unwritten)
}

// removes reports whether the call removes a file from its place, with everything below
// it.
func (c *call) removes() bool { return c.Kind == "delete" || c.Kind == "move" }

// inside reports whether all paths, after resolving links, are in the agent's folder. It
// returns true if that folder is unknown. If the folder is known, inside returns false
// for a call without a path, because such a call may change any file.
func (r Rules) inside(paths []string) bool {
	if r.Dir == "" {
		return true
	}
	dir := runner.ResolveLinks(r.Dir)
	for _, p := range paths {
		if strings.HasPrefix(p, "~") || strings.Contains(p, "://") {
			return false
		}
		whole := formsOf(p, r.Dir)[0]
		if whole != path.Clean(r.Dir) && len(formsOf(p, r.Dir)) == 1 {
			return false
		}
		if leads := runner.ResolveLinks(wholeOf(p, r.Dir)); leads != dir && !strings.HasPrefix(leads, strings.TrimSuffix(dir, "/")+"/") {
			return false
		}
	}
	return len(paths) > 0
}
