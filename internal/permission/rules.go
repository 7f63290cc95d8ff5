package permission

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// An Answer is the rules' decision on a tool call.
type Answer string

// These are the answers. Unsaid is only a value of Rules.Otherwise: like the permission
// mode acceptEdits, it allows edits of files in the agent's folder and denies everything
// else.
const (
	Allow  Answer = "allow"
	Ask    Answer = "ask"
	Deny   Answer = "deny"
	Unsaid Answer = ""
)

// Rules specify what a client may do. The zero value allows what [Unsaid] allows.
type Rules struct {
	Allow, Ask, Deny []Entry
	Otherwise        Answer        // for calls that match no entry, except calls to read, search or think, which are allowed
	Timeout          time.Duration // how long a question waits for an answer; without an answer, the call is denied
	// Dir is the agent's folder, as an absolute path. Entries may use paths relative to
	// it.
	Dir string
}

// maxLine is the longest command line that is matched against patterns, in bytes.
const maxLine = 64 << 10

// Decide returns the decision on a tool call: Allow, Ask or Deny. rule is the entry that
// determined the decision, or a comma-separated list of entries for a line of several
// commands. rule is "" if no entry matched.
func (r Rules) Decide(req runner.PermissionRequest) (answer Answer, rule string) {
	c := &call{PermissionRequest: req}
	for _, p := range req.Paths {
		c.paths = append(c.paths, formsOf(p, r.Dir)...)
	}
	if req.Kind == execute {
		if len(req.Command) > maxLine && slices.ContainsFunc(slices.Concat(r.Deny, r.Ask, r.Allow), Entry.hasCommand) {
			return Deny, "" // it is too long for a person to check
		}
		c.line = readLine(req.Command)
	}
	concerns := func(e Entry) bool { return e.concerns(c) }
	if i := slices.IndexFunc(r.Deny, concerns); i >= 0 {
		return Deny, r.Deny[i].String()
	}
	if i := slices.IndexFunc(r.Ask, concerns); i >= 0 {
		return Ask, r.Ask[i].String()
	}
	if rule := r.allowing(c); rule != "" {
		return Allow, rule
	}
	switch {
	case c.Tool == "" && slices.Contains([]string{"read", "search", "think"}, c.Kind):
		return Allow, ""
	case r.Otherwise != Unsaid:
		return r.Otherwise, ""
	case c.Tool == "" && c.Kind == "edit" && r.inside(c.Paths):
		return Allow, ""
	}
	return Deny, ""
}

// hasCommand reports whether an entry has a pattern for command lines.
func (e Entry) hasCommand() bool { return e.Kind == execute && e.Pattern != "" }

// allowing returns the entry or entries that allow a call, or "". Each command of a line
// may need a different entry.
func (r Rules) allowing(c *call) string {
	if i := slices.IndexFunc(r.Allow, func(e Entry) bool { return e.allows(c, r.Dir) }); i >= 0 {
		return r.Allow[i].String()
	}
	if len(c.Beside) > 0 {
		return "" // no pattern allows additional rights
	}
	var used []string
	for _, command := range c.line.commands {
		i := slices.IndexFunc(r.Allow, func(e Entry) bool { return e.hasCommand() && fits(e.Pattern, command, "") })
		if i < 0 {
			return ""
		}
		if rule := r.Allow[i].String(); !slices.Contains(used, rule) {
			used = append(used, rule)
		}
	}
	return strings.Join(used, ", ")
}

// inside reports whether all paths, after resolving links, are in the agent's folder. It
// returns true if that folder is unknown. If the folder is known, inside returns false
// for a call without a path, because such a call may change any file.
func (r Rules) inside(paths []string) bool {
	if r.Dir == "" {
		return true
	}
	dir := whereItLeads(path.Clean(r.Dir))
	for _, p := range paths {
		if strings.HasPrefix(p, "~") || strings.Contains(p, "://") {
			return false
		}
		whole := formsOf(p, r.Dir)[0]
		if whole != path.Clean(r.Dir) && len(formsOf(p, r.Dir)) == 1 {
			return false
		}
		if leads := whereItLeads(whole); leads != dir && !strings.HasPrefix(leads, strings.TrimSuffix(dir, "/")+"/") {
			return false
		}
	}
	return len(paths) > 0
}

// whereItLeads resolves the links in the existing part of a path.
func whereItLeads(p string) string {
	rest := ""
	for at := p; ; at = path.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return path.Join(real, rest)
		}
		if at == "/" || at == "." {
			return p
		}
		rest = path.Join(path.Base(at), rest)
	}
}
