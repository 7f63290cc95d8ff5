package config

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Later are the keys of parts that this version does not have. They are refused
// by name, so that nobody believes them to work.
func Later() []string { return slices.Clone(later) }

var later = []string{"budget", "supervisor", "webhooks", "worktree"}

// Parse reads a configuration from data as if it were the file at path, which
// need not be there: relative paths start at its folder. A bad file gives
// [Errors] and nothing else.
func Parse(path string, data []byte) (*File, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	text := strings.TrimPrefix(string(data), "\ufeff") // a byte order mark is not part of the first line
	r := &reader{path: path, dir: filepath.Dir(abs), lines: strings.Split(text, "\n"), at: make(map[string]spot)}
	f := standardFile()
	f.Path, f.Dir, f.source, f.from = abs, r.dir, data, r
	r.file(r.document(text), &f)
	if err := r.failed(); err != nil {
		return nil, err
	}
	return &f, nil
}

// oneAgent is what a file without agents lacks.
const oneAgent = "agents: {coder: {role: coder}}"

// file reads the top level, then the agents, and then looks at what names them.
func (r *reader) file(n *yaml.Node, f *File) {
	switch {
	case n == nil && len(r.errs) > 0:
		return
	case n == nil:
		r.report(&yaml.Node{}, "", wrong(oneAgent, "the file is empty; a project needs an agent"))
		return
	case n.Kind != yaml.MappingNode:
		r.report(n, "", wrong(oneAgent, "want keys with values, got %s", kind(n)))
		return
	}
	f.DeadDropDir, f.ProjectDir = filepath.Join(r.dir, f.DeadDropDir), r.dir
	r.keys(n, "", reflect.ValueOf(f).Elem())
	r.at[""] = spot{n, n}
	if r.agents(f) {
		r.named(f)
		r.acl(f)
		r.irc(f)
	}
	if len(r.errs) == 0 {
		r.folders(f)
	}
}

// agents reads the agents over what defaults says, wherever that stands.
func (r *reader) agents(f *File) bool {
	r.project = f.ProjectDir
	f.defaults = standardAgent()
	f.defaults.Cwd = r.project
	if n := r.at["defaults"].value; n != nil {
		r.keys(n, "defaults", reflect.ValueOf(&f.defaults).Elem())
	}
	before := len(r.errs)
	switch n := r.at["agents"].value; {
	case n == nil:
		r.fail("", oneAgent, "agents: missing; a project needs an agent")
	case n.Kind != yaml.MappingNode && !isNull(n):
		r.fail("agents", oneAgent, "want a key for each agent, got %s", kind(n))
	case len(n.Content) == 0:
		r.fail("agents", oneAgent, "none yet; a project needs one")
		return true
	default:
		r.each(n, "agents", func(name string, k, v *yaml.Node) {
			if e := badName("agent name", name); e != nil {
				r.report(k, "", e)
				return
			}
			a := f.defaults
			a.Name = name
			r.keys(v, "agents."+name, reflect.ValueOf(&a).Elem())
			f.Agents = append(f.Agents, a)
		})
	}
	return len(r.errs) == before
}

// badName is what is wrong with a name that cannot be an agent's, with the one it
// might have become.
func badName(what, name string) *Error {
	err, ok := errors.AsType[*dropbox.NameError](dropbox.CheckAgent(name))
	if !ok {
		return nil
	}
	e := wrong("", "%s %q: %s", what, oneLine(name, 40), err.Reason)
	if low := strings.ToLower(name); low != name && dropbox.CheckAgent(low) == nil {
		e.Near = []string{low}
	}
	return e
}

// named looks at the names of agents and of the lead.
func (r *reader) named(f *File) {
	r.namesAgent(f, "lead", f.Lead)
	if f.Topics.Fallback = f.addressOf(f.Topics.Fallback); f.Topics.Fallback != dropbox.Lead {
		r.namesAgent(f, "topics.fallback", f.Topics.Fallback)
	}
	if f.LeadName == "" {
		return
	}
	switch e := badName("lead_name", f.LeadName); {
	case e != nil:
		r.report(r.find("lead_name").value, "", e)
	case f.hasAgent(f.LeadName):
		r.fail("lead_name", "lead: "+f.LeadName, "%s is an agent; an agent that leads is named by lead", f.LeadName)
	case f.Lead != "":
		r.fail("lead_name", "take out lead or lead_name", "the lead is %s, an agent, and goes by that name", f.Lead)
	}
}

// namesAgent refuses a key that names an agent which is not there; "" names none.
func (r *reader) namesAgent(f *File, key, name string) {
	if name != "" && !f.hasAgent(name) {
		r.report(r.find(key).value, key, unlike(name, f.Names(), "there is no agent %s", name))
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
