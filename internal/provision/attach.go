package provision

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// AttachOptions specify which agent to attach and how. Agent and Program are required.
type AttachOptions struct {
	Agent   string
	Program string // absolute path of claude-swarm itself
	Way     Way    // "" means the way chosen earlier or, by default, the best way that is allowed here
	Home    string // the person's home folder, which contains the client's settings
	Step    func(what string) error
}

// An AttachReport is a report with additional information that the person needs.
type AttachReport struct {
	Report
	Agent  string `json:"agent"`
	Way    Way    `json:"way"`
	Plugin string `json:"plugin,omitempty"` // its folder
	Dir    string `json:"dir"`              // the folder in which to start the session
	Why    string `json:"why,omitempty"`    // the reason why hooks are not allowed
}

// Attach makes a person's own Claude Code session an agent of the project in dir. It writes
// either a plugin or the client's files in the agent's folder. It also writes a fenced entry
// into claude-swarm.yaml, unless the agent is already attached in that file. Like [Init], it
// can be repeated, and [Remove] undoes it. If another agent is attached in the same folder,
// both must use the plugin; otherwise the error is an [*OccupiedError].
func Attach(dir string, o AttachOptions) (AttachReport, error) {
	r := AttachReport{Agent: o.Agent}
	s, err := openSetup(dir, o.Step, &r.Report)
	if err != nil {
		return r, err
	}
	if err := s.m.sweep(); err != nil {
		return r, err
	}
	text, lines, file, err := s.withAgent(o.Agent)
	if err != nil {
		return r, err
	}
	agent, _ := file.Agent(o.Agent)
	r.Dir, r.Why = agent.Client.Dir, hooksBlocked(agent, o.Home)
	r.Way = s.way(o, r.Why)
	session := attachedSession{o.Agent, r.Way, o.Program, r.Config, agent.Client.Dir}
	err = inOrder(
		func() error { return s.canAttach(session, file) }, // before anything is created
		func() error { return s.addAgent(o.Agent, text, lines) },
		func() error { return s.mailboxes(file) },
		func() error { return s.setWay(o.Agent, r.Way) },
		func() error { return s.makeAll(session.parts(), Options{}) },
	)
	if r.Way == ByPlugin {
		r.Plugin = session.pluginDir()
	}
	return r, err
}

// setWay records how a session is set up, and removes what a different earlier way
// created.
func (s *setup) setWay(agent string, way Way) error {
	if was := s.m.Attached[agent]; was != "" && was != way {
		if err := s.undoAll(agent); err != nil {
			return err
		}
	}
	if s.m.Attached == nil {
		s.m.Attached = make(map[string]Way)
	}
	s.m.Attached[agent] = way
	return s.m.save()
}

// way chooses how the session is set up: as the person specifies, as before, or in the
// best way that works. why is the reason why hooks are blocked, or "".
func (s *setup) way(o AttachOptions, why string) Way {
	switch {
	case o.Way != "":
		return o.Way
	case s.m.Attached[o.Agent] != "":
		return s.m.Attached[o.Agent]
	case why != "":
		return ByTools
	}
	return ByPlugin
}

// An OccupiedError reports that another agent is attached in the same folder and that the
// two would conflict. Attach has not changed anything.
type OccupiedError struct {
	Dir   string // the folder
	Agent string // the other agent
	By    string // why the two conflict, as the second part of a sentence
	Try   string // what to do
}

func (e *OccupiedError) Error() string {
	return fmt.Sprintf("%s is also the folder of %s, and %s", e.Dir, e.Agent, e.By)
}

// canAttach checks, before anything is created, that a session can be attached. Callers can
// test for [*OccupiedError], [*ConflictError], and, if a file is not JSON, [*BrokenError].
func (s *setup) canAttach(a attachedSession, file *config.File) error {
	if err := s.sharesFolder(a, file); err != nil {
		return err
	}
	for _, p := range a.parts() {
		if e := s.m.find(p.path); e != nil && e.Agent == a.agent {
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

// sharesFolder returns an error if the session would conflict with another agent attached
// in the same folder. Plugins do not conflict, because a person starts a session with
// only one of them. The settings in the folder itself, however, apply to every session
// there.
func (s *setup) sharesFolder(a attachedSession, file *config.File) error {
	plugin := "claude-swarm attach " + a.agent + " --way plugin"
	if was := s.m.Attached[a.agent]; a.way == ByPlugin && (was == BySettings || was == ByTools) {
		return nil // an earlier version allowed two agents to share a folder; each of them can switch to a plugin
	}
	for _, p := range append(a.parts(), attachedSession{agent: a.agent, way: BySettings, cwd: a.cwd}.parts()...) {
		e := s.m.find(p.path)
		if e == nil || e.Agent == "" || e.Agent == a.agent {
			continue
		}
		err := &OccupiedError{Dir: a.cwd, Agent: e.Agent, By: short(a.cwd, p.path) + " there can serve only one agent", Try: plugin}
		if a.way == ByPlugin {
			err.Try = "claude-swarm attach " + e.Agent + " --way plugin && " + plugin
		}
		return err
	}
	if a.way == ByPlugin {
		return nil
	}
	for _, other := range file.Agents {
		if other.Name != a.agent && other.Attached && s.m.Attached[other.Name] == ByPlugin && followLinks(other.Client.Dir) == followLinks(a.cwd) {
			return &OccupiedError{Dir: a.cwd, Agent: other.Name, By: "what --way " + string(a.way) + " puts there applies to every session in that folder", Try: plugin}
		}
	}
	return nil
}
