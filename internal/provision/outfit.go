package provision

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

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

// made is what was noted of a part; nil for nothing.
func (s *setup) made(path string) *entry {
	if e := s.find(path); e != nil {
		return e
	}
	return s.find(real(path))
}

func (s *setup) part(k kit, p part, o Options) error {
	e := s.made(p.path)
	if e != nil && e.Agent != k.agent {
		s.kept(p.path, speaksFor(e.Agent, k.agent))
		return nil
	}
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
			s.kept(p.path, "it was changed since it was made; claude-swarm init --reset makes it again")
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

// speaksFor says what became of a part of an agent's kit that has become another's.
func speaksFor(other, agent string) string {
	return "it speaks for " + other + ", not for " + agent + "; claude-swarm attach " + other + " --way plugin, then the same for " + agent
}

func (s *setup) checkKit(k kit) error {
	for _, p := range k.parts(s) {
		if err := s.checkPart(k, p); err != nil {
			return err
		}
	}
	return nil
}

func (s *setup) checkPart(k kit, p part) error {
	e := s.made(p.path)
	var state State
	var err error
	switch {
	case e != nil && e.Agent != k.agent:
		s.found(p.path, Missing, "it speaks for "+e.Agent+", not for "+k.agent, "claude-swarm attach "+e.Agent+" --way plugin, then the same for "+k.agent)
		return nil
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
	return nil
}
