package provision

import (
	"encoding/json"
	"errors"
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
// Like [Init] it may be repeated and is undone by [Remove].
func Attach(dir string, o AttachOptions) (AttachReport, error) {
	r := AttachReport{Agent: o.Agent}
	s, err := openSetup(dir, o.Step, &r.Report)
	if err != nil {
		return r, err
	}
	if err := s.sweep(); err != nil {
		return r, err
	}
	if o.Way == BySettings {
		if err := s.readable(o.Agent); err != nil {
			return r, err
		}
	}
	if err := s.enlist(o.Agent); err != nil {
		return r, err
	}
	file, err := config.Load(r.Config)
	if err != nil {
		return r, err
	}
	if err := s.mailboxes(file); err != nil {
		return r, err
	}
	agent, _ := file.Agent(o.Agent)
	r.Dir, r.Why = agent.Cwd, HooksBlocked(o.Home, agent.Cwd)
	r.Way = o.Way
	if r.Way == "" {
		r.Way = s.rec.Attached[o.Agent]
	}
	if r.Way == "" {
		r.Way = ByPlugin
		if r.Why != "" {
			r.Way = ByTools
		}
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
	return r, s.outfit(kit{o.Agent, r.Way, o.Program, r.Config, agent.Cwd}, Options{})
}

// readable is a [*BrokenError] if a file of the client is not JSON, into which
// entries are to go: before anything is made, so that nothing is left half-made.
func (s *setup) readable(agent string) error {
	cwd := s.dir
	if file, err := config.Load(s.r.Config); err == nil {
		if a, known := file.Agent(agent); known {
			cwd = a.Cwd
		}
	}
	for _, path := range []string{filepath.Join(cwd, ".mcp.json"), filepath.Join(cwd, ".claude", "settings.json")} {
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		if !json.Valid(data) {
			return &BrokenError{Path: path, Problem: "is not JSON, so nothing can be added to it", Hint: "mend it, or claude-swarm attach --way plugin, which leaves it alone"}
		}
	}
	return nil
}

// detach takes away what an agent's session was set up with, but not its entry in
// claude-swarm.yaml.
func (s *setup) detach(agent string) error {
	for _, e := range slices.Backward(slices.Clone(s.rec.Entries)) {
		if e.Agent == agent && s.abs(e.Path) != real(s.r.Config) {
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
