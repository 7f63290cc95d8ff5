package config

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Parse reads a configuration from data as if it were the file at path, which
// need not be there: relative paths start at its folder. A bad file gives
// [Errors] and nothing else.
func Parse(path string, data []byte) (*File, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	source := data
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // a byte order mark is not part of the first line
	r := &reader{path: path, lines: strings.Split(string(data), "\n")}
	f := builtin(abs)
	f.shown, f.source = path, source
	r.file(r.document(data), f)
	if len(r.errs) == 0 {
		r.paths(f)
	}
	if len(r.errs) == 0 {
		r.checkFolderSharing(f)
	}
	if len(r.errs) > 0 {
		for _, e := range r.errs {
			e.Problem, e.Try = oneLine(e.Problem), oneLine(e.Try)
		}
		slices.SortStableFunc(r.errs, func(a, b *Error) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, r.errs
	}
	return f, nil
}

// builtin is a file in which nothing is written.
func builtin(path string) *File {
	return &File{
		Path:        path,
		Dir:         filepath.Dir(path),
		DeadDropDir: ".dead-drop",
		ProjectDir:  ".",
		Debounce:    time.Second,
		MaxWarm:     4,
		MaxWaiting:  10_000,
		Topics:      Topics{ClaimTimeout: 2 * time.Minute},
		Policy:      builtinPolicy(),
		IRC:         builtinIRC(),
		Log:         Log{MaxSizeMB: 20, MaxBackups: 5, MaxAgeDays: 30},
		Retention:   Retention{RefusedDays: 30, RefusedMB: 100},
		where:       make(map[string]*position),
	}
}

// builtinAgent is an agent of which nothing is written.
func builtinAgent() Agent {
	return Agent{
		Backend:        claude,
		Command:        []string{claude},
		PermissionMode: "acceptEdits",
		WindowTokens:   100_000,
		CompactWindow:  200_000,
		StallTimeout:   10 * time.Minute,
		TurnTimeout:    2 * time.Hour,
		RetryDelay:     30 * time.Second,
		MaxFailures:    3,
		Session:        SessionResume,
		MCP:            true,
		AttachedMail:   "continue",
		Cwd:            ".",
	}
}

// file reads the top level. defaults may stand below the agents, so both are
// read when all keys have been seen.
func (r *reader) file(n *yaml.Node, f *File) {
	const try = "agents: {coder: {role: coder}}"
	if n == nil {
		if len(r.errs) == 0 {
			r.failAt(position{1, 1}, "the file is empty; a project needs an agent").Try = try
		}
		return
	}
	if n = follow(n); n.Kind != yaml.MappingNode {
		r.fail(n, "want keys with values, got %s", kind(n)).Try = try
		return
	}
	var defaults, agents *yaml.Node
	r.each(n, "", func(key string, k, v *yaml.Node) {
		f.where[key] = r.placeOf(v)
		switch key {
		case "defaults":
			defaults = v
		case "agents":
			agents = v
		default:
			r.topKey(key, k, v, f)
		}
	})
	base := builtinAgent()
	if defaults != nil {
		r.agent(defaults, "", &base, f)
	}
	if agents == nil {
		r.fail(n, "agents: missing; a project needs an agent").Try = try
		return
	}
	before := len(r.errs)
	r.agents(agents, base, f)
	if len(r.errs) == before {
		r.namesAgent(f, "lead", f.Lead)
		r.leadName(f)
		if f.Leads(f.Topics.Fallback) {
			f.Topics.Fallback = dropbox.Lead
		} else {
			r.namesAgent(f, "topics.fallback", f.Topics.Fallback)
		}
		r.acl(f)
		r.irc(f)
	}
	if len(f.Agents) == 0 && len(r.errs) == before {
		r.fail(agents, "agents: none yet; a project needs one").Try = try
	}
}

// namesAgent refuses a key that names an agent which is not there; "" names none.
func (r *reader) namesAgent(f *File, key, name string) {
	if _, ok := f.Agent(name); name != "" && !ok {
		section, _, _ := strings.Cut(key, ".")
		r.failAt(f.place(key, section), "%s: there is no agent %s", key, name).Near = dropbox.Nearest(name, f.Names())
	}
}

// leadName refuses a name for the lead that is that of somebody or something else.
func (r *reader) leadName(f *File) {
	if f.LeadName == "" {
		return
	}
	fail := func(format string, args ...any) *Error {
		return r.failAt(f.place("lead_name", "lead_name"), format, args...)
	}
	switch err := dropbox.CheckAgent(f.LeadName); {
	case err != nil:
		e := fail("lead_name %q: %s", f.LeadName, reasonOf(err))
		if low := strings.ToLower(f.LeadName); low != f.LeadName && dropbox.CheckAgent(low) == nil {
			e.Near = []string{low}
		}
	case f.hasAgent(f.LeadName):
		fail("lead_name: %s is an agent; an agent that leads is named by lead", f.LeadName).Try = "lead: " + f.LeadName
	case f.Lead != "":
		fail("lead_name: the lead is %s, an agent, and goes by that name", f.Lead).Try = "take out lead or lead_name"
	}
}

// Leads tells whether a name stands for the lead.
func (f *File) Leads(name string) bool {
	return dropbox.IsLead(name) || name != "" && name == f.LeadName
}

// addressOf is the mailbox that a name stands for: lead, where it is the lead's.
func (f *File) addressOf(name string) string {
	if f.Leads(name) {
		return dropbox.Lead
	}
	return name
}

// topKey reads a key of the top level, or the section that it opens.
func (r *reader) topKey(key string, k, v *yaml.Node, f *File) {
	for _, fk := range fileKeys {
		if fk.Path == key {
			fk.set(r, v, key, f)
			return
		}
	}
	if !slices.Contains(fileNames(), key) {
		r.unknown(k, key, fileNames(), agentNames())
		return
	}
	r.each(v, key, func(sub string, k, v *yaml.Node) {
		var near []string
		for _, fk := range fileKeys {
			if fk.Path == key+"."+sub {
				f.where[fk.Path] = r.placeOf(v)
				fk.set(r, v, fk.Path, f)
				return
			}
			if name, ok := strings.CutPrefix(fk.Path, key+"."); ok {
				near = append(near, name)
			}
		}
		if key == "irc" && strings.HasSuffix(sub, "password") {
			r.fail(k, "%s.%s: a password does not stand in this file", key, sub).Try = sub + "_file: FILE, or " + sub + "_env: NAME"
			return
		}
		r.unknown(k, sub, near, nil)
	})
}

// fileNames are the keys that may stand at the top level.
func fileNames() []string {
	names := []string{"defaults", "agents"}
	for _, k := range fileKeys {
		name, _, _ := strings.Cut(k.Path, ".")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
