package provision

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// A Way is how an attached session gets its hooks and tools.
type Way string

// The ways, best first.
const (
	// ByPlugin makes a plugin in the daemon's folder, which the session is started
	// with. Nothing of others is touched.
	ByPlugin Way = "plugin"
	// BySettings puts entries into .claude/settings.json and .mcp.json of the
	// agent's folder.
	BySettings Way = "settings"
	// ByTools is for where hooks are not allowed: the tools and /inbox alone.
	ByTools Way = "tools"
)

// Ways are all ways.
var Ways = []Way{ByPlugin, BySettings, ByTools}

// AttachOptions say who is attached and how. Agent and Program are required.
type AttachOptions struct {
	Agent   string
	Program string // claude-swarm itself, absolute
	Way     Way    // "": what was chosen before, else the best that is allowed here
	Home    string // the person's home folder, where the client's settings are looked for
	Step    func(what string) error
}

// An AttachReport is a report with what the person needs to know.
type AttachReport struct {
	Report
	Agent  string `json:"agent"`
	Way    Way    `json:"way"`
	Plugin string `json:"plugin,omitempty"` // its folder
	Dir    string `json:"dir"`              // where the session is to be started
	Why    string `json:"why,omitempty"`    // hooks are not allowed
}

// Attach makes what a person's own session of Claude Code needs to be an agent of
// the project in dir: a fenced entry in claude-swarm.yaml, where the agent is not
// there or not attached yet, and a plugin, or entries in the client's settings.
// Like [Init] it may be repeated and is undone by [Remove]. Where another agent is
// attached in the same folder, both have to be by plugin; else it is an
// [*OccupiedError].
func Attach(dir string, o AttachOptions) (AttachReport, error) {
	r := AttachReport{Agent: o.Agent}
	s, err := openSetup(dir, o.Step, &r.Report)
	if err != nil {
		return r, err
	}
	if err := s.sweep(); err != nil {
		return r, err
	}
	_, _, file, err := s.entered(o.Agent)
	if err != nil {
		return r, err
	}
	agent, _ := file.Agent(o.Agent)
	r.Dir, r.Why = agent.Cwd, HooksBlocked(o.Home, agent.Cwd)
	r.Way = s.way(o, r.Why)
	kit := kit{o.Agent, r.Way, o.Program, r.Config, agent.Cwd}
	// Before anything is made, so that nothing is left half-made.
	if err := s.fits(kit, file); err != nil {
		return r, err
	}
	if err := s.enlist(o.Agent); err != nil {
		return r, err
	}
	if err := s.mailboxes(file); err != nil {
		return r, err
	}
	if was := s.rec.Attached[o.Agent]; was != "" && was != r.Way {
		if err := s.detach(o.Agent); err != nil {
			return r, err
		}
	}
	if s.rec.Attached == nil {
		s.rec.Attached = make(map[string]Way)
	}
	s.rec.Attached[o.Agent] = r.Way
	if err := s.save(); err != nil {
		return r, err
	}
	if r.Way == ByPlugin {
		r.Plugin = s.pluginDir(o.Agent)
	}
	return r, s.outfit(kit, Options{})
}

// way is how the session is to be set up: as the person says, as before, or by the best
// way that works where hooks are blocked for the reason why.
func (s *setup) way(o AttachOptions, why string) Way {
	switch {
	case o.Way != "":
		return o.Way
	case s.rec.Attached[o.Agent] != "":
		return s.rec.Attached[o.Agent]
	case why != "":
		return ByTools
	}
	return ByPlugin
}

// An OccupiedError says that a folder already speaks for another attached agent, so that
// one session there would be both. Nothing was changed.
type OccupiedError struct {
	Dir   string // the folder
	Agent string // the other one
	By    string // what speaks for it
	Try   string // what to do
}

func (e *OccupiedError) Error() string {
	return fmt.Sprintf("%s is the folder of %s too, and %s", e.Dir, e.Agent, e.By)
}

// fits finds what keeps a kit from being made, before anything is made: an
// [*OccupiedError], a [*ConflictError], or a [*BrokenError] of a file that is not JSON.
func (s *setup) fits(k kit, file *config.File) error {
	if err := s.occupied(k, file); err != nil {
		return err
	}
	for _, p := range k.parts(s) {
		if e := s.made(p.path); e != nil && e.Agent == k.agent {
			continue
		}
		data, err := os.ReadFile(p.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case p.place == nil:
			return &ConflictError{p.path}
		case !json.Valid(data):
			return &BrokenError{Path: p.path, Problem: "is not JSON, so nothing can be added to it", Hint: "fix it, or claude-swarm attach --way plugin, which leaves it alone"}
		}
		if _, err := p.place(data); err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
	}
	return nil
}

// occupied finds another agent with the same folder that the kit would get in the way of.
// Plugins do not: a person starts a session with one of them. What stands in the folder's
// own settings speaks to every session there.
func (s *setup) occupied(k kit, file *config.File) error {
	plugin := "claude-swarm attach " + k.agent + " --way plugin"
	if was := s.rec.Attached[k.agent]; k.way == ByPlugin && (was == BySettings || was == ByTools) {
		return nil // it leaves what an earlier version let two agents share
	}
	for _, p := range append(k.parts(s), kit{agent: k.agent, way: BySettings, cwd: k.cwd}.parts(s)...) {
		e := s.made(p.path)
		if e == nil || e.Agent == "" || e.Agent == k.agent {
			continue
		}
		err := &OccupiedError{Dir: k.cwd, Agent: e.Agent, By: short(k.cwd, p.path) + " there can speak for one agent only", Try: plugin}
		if k.way == ByPlugin {
			err.Try = "claude-swarm attach " + e.Agent + " --way plugin && " + plugin
		}
		return err
	}
	if k.way == ByPlugin {
		return nil
	}
	for _, a := range file.Agents {
		if a.Name != k.agent && a.Attached && s.rec.Attached[a.Name] == ByPlugin && real(a.Cwd) == real(k.cwd) {
			return &OccupiedError{Dir: k.cwd, Agent: a.Name, By: "what --way " + string(k.way) + " puts there speaks to every session in it", Try: plugin}
		}
	}
	return nil
}

// detach takes away what an agent's session was set up with, but not its entry in
// claude-swarm.yaml.
func (s *setup) detach(agent string) error {
	for _, e := range slices.Backward(slices.Clone(s.rec.Entries)) {
		if e.Agent == agent {
			if err := s.takeAway(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// HooksBlocked says why the client runs no hooks of ours here; "" when it does, as
// far as its settings tell.
func HooksBlocked(home, cwd string) string {
	for _, path := range []string{
		"/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json",
		filepath.Join(home, ".claude", "settings.json"), filepath.Join(cwd, ".claude", "settings.json"), filepath.Join(cwd, ".claude", "settings.local.json"),
	} {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var set struct{ AllowManagedHooksOnly, DisableAllHooks bool }
		if json.Unmarshal(data, &set) != nil {
			continue
		}
		managed := strings.HasSuffix(path, "managed-settings.json")
		switch {
		case managed && set.AllowManagedHooksOnly:
			return path + " has allowManagedHooksOnly"
		case set.DisableAllHooks:
			return path + " has disableAllHooks"
		}
	}
	return ""
}
