package permission

import (
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
	// it. Home is the client's home folder, for which ~ stands.
	Dir, Home string
	// Protected lists files for which no entry counts.
	Protected runner.Protected
}

// ByProtection is the rule by which a call is denied that uses a file in
// [Rules].Protected.
const ByProtection = "protected"

// maxLine is the longest command line that is matched against patterns, in bytes.
const maxLine = 64 << 10

// Decide returns the decision on a tool call: Allow, Ask or Deny. rule is the entry that
// determined the decision, or a comma-separated list of entries for a line of several
// commands. rule is "" if no entry matched, and [ByProtection] for a protected file.
func (r Rules) Decide(req runner.PermissionRequest) (answer Answer, rule string) {
	c := &call{PermissionRequest: req}
	if !slices.Contains(kinds, c.Kind) || c.Kind == tool {
		c.Kind = "other"
	}
	for i, p := range req.Paths {
		if i == 0 {
			c.Paths = nil // do not change those of the caller
		}
		p = r.plain(p)
		c.Paths = append(c.Paths, p)
		c.paths = append(c.paths, r.allForms(p)...)
	}
	if r.protects(c) {
		return Deny, ByProtection
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
	if c.Own {
		return Allow, ""
	}
	if i := slices.IndexFunc(r.Ask, concerns); i >= 0 {
		return Ask, r.Ask[i].String()
	}
	if rule := r.allowing(c); rule != "" {
		return Allow, rule
	}
	switch {
	case c.Tool == "" && slices.Contains([]string{"read", "search", "think"}, c.Kind) && !r.isVague(c):
		return Allow, ""
	case r.Otherwise != Unsaid:
		return r.Otherwise, ""
	case c.Tool == "" && c.Kind == "edit" && r.inside(c.Paths):
		return Allow, ""
	}
	return Deny, ""
}

// isVague reports whether a call names no file although an entry in deny or ask concerns
// particular files of its kind.
func (r Rules) isVague(c *call) bool {
	return len(c.Paths) == 0 && slices.ContainsFunc(slices.Concat(r.Deny, r.Ask), func(e Entry) bool { return e.Kind == c.Kind && e.Pattern != "" })
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
