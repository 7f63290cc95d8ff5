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
	"time"

	"gopkg.in/yaml.v3"

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

// enlist sees to it that claude-swarm.yaml has the agent, attached.
func (s *setup) enlist(name string) error {
	file, err := config.Load(s.r.Config)
	if err != nil {
		return err
	}
	a, known := file.Agent(name)
	if known && a.Attached {
		return nil
	}
	place := func(text []byte) ([]insert, error) { return placeAgent(text, name, known) }
	text, err := os.ReadFile(s.r.Config)
	if err != nil {
		return err
	}
	ins, err := place(text)
	if err == nil { // it must be a good configuration afterwards
		_, err = config.Parse(s.r.Config, slices.Insert(slices.Clone(text), ins[0].At, []byte(ins[0].Text)...))
	}
	if err != nil {
		return &EnlistError{Agent: name, Known: known, Err: err}
	}
	// A file that we made whole is the person's from here on.
	if e := s.find(s.r.Config); e != nil && e.Kind == kindFile {
		return s.addOver(*e, name, ins)
	}
	if err := s.addLines(s.r.Config, name, place); err != nil {
		return err
	}
	s.r.Items = append(s.r.Items, Item{Path: config.Name, State: Added})
	return nil
}

// addOver puts lines into a claude-swarm.yaml that init made. It has one entry for
// the file and, since a path has one, the lines become part of it: of a file that
// is otherwise ours the new content is ours too.
func (s *setup) addOver(e entry, name string, ins []insert) error {
	text, err := os.ReadFile(s.r.Config)
	if err != nil {
		return err
	}
	changed, err := s.edited(s.r.Config)
	if err != nil {
		return err
	}
	e.Plain = false
	e.Lines = append(slices.Clone(e.Lines), ownLines{name, ins[0].Text})
	if err := s.renewText(e, slices.Insert(text, ins[0].At, []byte(ins[0].Text)...), !changed); err != nil {
		return err
	}
	s.r.Items = append(s.r.Items, Item{Path: config.Name, State: Added})
	return nil
}

// renewText is renew where the file may be the person's meanwhile: then our hash
// stays what it was.
func (s *setup) renewText(e entry, text []byte, ours bool) error {
	if ours {
		return s.renew(e, text)
	}
	if err := s.enter(e); err != nil {
		return err
	}
	info, err := os.Stat(s.abs(e.Path))
	if err != nil {
		return err
	}
	return s.write(s.abs(e.Path), text, info.Mode().Perm(), time.Time{}, true)
}

// An EnlistError says that claude-swarm.yaml has a shape into which the entry of
// an attached agent cannot be put safely.
type EnlistError struct {
	Agent string
	Known bool // the agent is there, but not attached
	Err   error
}

func (e *EnlistError) Error() string {
	return fmt.Sprintf("%s has no place where %s could be entered: %v", config.Name, e.Agent, e.Err)
}

func (e *EnlistError) Unwrap() error { return e.Err }

// Line is what the person is to write.
func (e *EnlistError) Line() string {
	if e.Known {
		return "attached: true, under " + e.Agent + " in " + config.Name
	}
	return e.Agent + ": {attached: true}, under agents in " + config.Name
}

// placeAgent finds where the entry of an attached agent goes: before the first
// agent, or, where the agent is known, before its first key.
func placeAgent(text []byte, name string, known bool) ([]insert, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	agents := member(doc.Content[0], "agents")
	lines := []string{name + ": {attached: true}"}
	at := agents
	if known {
		at, lines = member(agents, name), []string{"attached: true"}
	}
	if at == nil || at.Kind != yaml.MappingNode || at.Style&yaml.FlowStyle != 0 || len(at.Content) == 0 {
		return nil, errors.New("its agents are written in one line")
	}
	first := at.Content[0]
	offset := 0
	for n := 1; n < first.Line; n++ {
		i := strings.IndexByte(string(text[offset:]), '\n')
		offset += i + 1
	}
	end := "\n"
	if strings.Contains(string(text), "\r\n") {
		end = "\r\n"
	}
	indent := strings.Repeat(" ", first.Column-1)
	if strings.TrimLeft(string(text[offset:offset+first.Column-1]), " ") != "" {
		return nil, errors.New("its agents are written in one line")
	}
	var b strings.Builder
	for _, line := range slices.Concat([]string{fenceBegin}, lines, []string{fenceEnd}) {
		b.WriteString(indent + line + end)
	}
	return []insert{{offset, b.String()}}, nil
}

func member(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
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

// attachments makes again what attached sessions need.
func (s *setup) attachments(file *config.File, o Options) error {
	return s.eachKit(file, func(k kit) error { return s.outfit(k, o) })
}

func (s *setup) checkAttachments(file *config.File) error {
	return s.eachKit(file, s.checkKit)
}

func (s *setup) eachKit(file *config.File, f func(kit) error) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	for _, a := range file.Agents {
		way, ok := s.rec.Attached[a.Name]
		if !ok || !a.Attached {
			continue
		}
		if err := f(kit{a.Name, way, program, s.r.Config, a.Cwd}); err != nil {
			return err
		}
	}
	return nil
}

// outfit makes the files and lines of a kit.
func (s *setup) outfit(k kit, o Options) error {
	for _, p := range k.parts(s) {
		if err := s.part(k, p, o); err != nil {
			return err
		}
	}
	return nil
}

func (s *setup) part(k kit, p part, o Options) error {
	e := s.find(real(p.path))
	_, err := os.Lstat(p.path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return err
	case missing:
		made, err := s.makeFile(entry{Agent: k.agent}, p.path, p.text, p.mode)
		if err == nil {
			s.note(p.path, made)
		}
		return err
	case e != nil && e.Kind == kindFile:
		state, err := s.fileState(p.path, p.text)
		if err != nil || state == Current {
			s.note(p.path, false)
			return err
		}
		if changed, err := s.edited(p.path); err != nil {
			return err
		} else if changed && !o.Reset {
			s.kept(p.path, "it was changed since it was made; claude-swarm init --reset makes it anew")
			return nil
		}
		return s.remake(*e, p.text)
	case p.place == nil:
		return &ConflictError{p.path}
	}
	if e != nil {
		switch state, err := s.linesState(*e); {
		case err != nil:
			return err
		case state == Current && e.wrote(p):
			s.note(p.path, false)
			return nil
		case state == Current: // of another version, or for another program
			if err := s.takeLines(*e); err != nil {
				return err
			}
			s.r.Items = s.r.Items[:len(s.r.Items)-1] // it is put back at once
		}
	}
	if err := s.addLines(p.path, k.agent, p.place); err != nil {
		return fmt.Errorf("%s: %w", p.path, err)
	}
	s.r.Items = append(s.r.Items, Item{Path: short(s.dir, p.path), State: Added})
	return nil
}

// wrote says whether the lines of an entry are those of a part.
func (e entry) wrote(p part) bool {
	for _, core := range p.cores {
		if !slices.ContainsFunc(e.Inserts, func(in insert) bool { return strings.Contains(in.Text, core) }) {
			return false
		}
	}
	return true
}

// A ConflictError is a file of somebody else where one of ours should be.
type ConflictError struct{ Path string }

func (e *ConflictError) Error() string { return e.Path + " is there already, and not ours" }

func (s *setup) checkKit(k kit) error {
	for _, p := range k.parts(s) {
		e := s.find(real(p.path))
		var state State
		var err error
		switch {
		case e == nil:
			state = Missing
		case e.Kind == kindFile:
			state, err = s.fileState(p.path, p.text)
		default:
			if state, err = s.linesState(*e); state == Current && !e.wrote(p) {
				state = Drifted
			}
		}
		if err != nil {
			return err
		}
		try := ""
		if state != Current {
			try = "claude-swarm init --upgrade"
			if changed, err := s.edited(p.path); err == nil && changed && e != nil && e.Kind == kindFile {
				try = "claude-swarm init --reset"
			}
		}
		s.found(p.path, state, "", try)
	}
	return nil
}
