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

// A part is one thing that init or attach makes in a project: a file, or lines in an
// existing file.
type part struct {
	path  string
	agent string // the attached session that needs it; "" for the project
	text  string // of the whole file
	mode  fs.FileMode
	// yours says that a person may write or change the file, such as claude-swarm.yaml. It
	// is remade only if it has not changed since another version made it.
	yours bool
	// place returns what to insert into somebody else's file; it is nil if the part needs a
	// separate file.
	place func(text []byte) ([]insert, error)
	cores []string // the pieces of text that identify the part in somebody else's file
}

// A condition is the state of a part, compared to when it was made.
//
//	             init         init --upgrade  init --reset   init --check
//	absent       made         made            made           missing
//	current      there        there           there          current
//	outdated     remade, *    remade          remade         drifted
//	edited       kept         kept            remade         drifted
//	foreign      added, or a ConflictError                   missing
//	personal     there        there           there          present
//	another's    kept         kept            kept           missing
//
// * Without --upgrade, init leaves an outdated claude-swarm.yaml unchanged. Edited lines
// are added again, because they cannot be distinguished from the person's own.
type condition int

const (
	absent   condition = iota
	current            // as this version makes it
	outdated           // as another version made it, or for another program
	edited             // made by us, and changed since
	foreign            // not made by us, or without our lines
	personal           // a valid file that the person writes
	anothers           // made for another attached session
)

// look returns the condition of a part, and its entry in the manifest or nil.
func (m *manifest) look(p part) (condition, *entry, error) {
	e := m.find(p.path)
	if e != nil && e.Agent != p.agent {
		return anothers, e, nil
	}
	if _, err := os.Lstat(p.path); errors.Is(err, fs.ErrNotExist) {
		return absent, e, nil
	} else if err != nil {
		return absent, e, err
	}
	switch {
	case p.yours && (e == nil || e.Kind != kindFile):
		return personal, e, nil
	case e == nil:
		return foreign, e, nil
	case e.Kind != kindFile:
		state, err := m.linesState(*e)
		switch {
		case state == Current && e.hasCores(p.cores):
			return current, e, err
		case state == Current:
			return outdated, e, err
		case state == Drifted:
			return edited, e, err
		}
		return foreign, e, err
	}
	data, err := os.ReadFile(p.path)
	switch {
	case err != nil:
		return absent, e, err
	case !e.wrote(data) && p.yours:
		return personal, e, nil
	case string(data) == p.text, p.yours && !e.Plain:
		return current, e, nil
	case !e.wrote(data):
		return edited, e, nil
	}
	return outdated, e, nil
}

// hasCores reports whether the lines of an entry belong to a part with these cores.
func (e entry) hasCores(cores []string) bool {
	return !slices.ContainsFunc(cores, func(core string) bool {
		return !slices.ContainsFunc(e.Inserts, func(in insert) bool { return strings.Contains(in.Text, core) })
	})
}

// configPart is claude-swarm.yaml as init makes it by default.
func (s *setup) configPart() part {
	return part{path: s.r.Config, text: config.Template(), mode: 0o644, yours: true}
}

// A ConflictError says that a foreign file has the path of one of ours.
type ConflictError struct{ Path string }

func (e *ConflictError) Error() string { return e.Path + " exists already, and is not ours" }

// make creates a part, or brings it up to date.
func (s *setup) make(p part, o Options) error {
	was, e, err := s.m.look(p)
	switch {
	case err != nil:
		return err
	case was == anothers:
		s.r.kept(p.path, speaksFor(e.Agent, p.agent)+"; "+bothByPlugin(e.Agent, p.agent))
		return nil
	case was == absent:
		made, err := s.m.makeFile(entry{Agent: p.agent}, p.path, p.text, p.mode)
		if err == nil {
			s.r.made(p.path, made)
		}
		return err
	case was == current, was == personal, was == outdated && p.yours && !o.Upgrade && !o.Reset:
		s.r.made(p.path, false)
		return nil
	case e != nil && e.Kind == kindFile:
		if was == edited && !o.Reset {
			s.r.kept(p.path, "it was changed after it was created; claude-swarm init --reset recreates it")
			return nil
		}
		if err := s.m.renew(*e, []byte(p.text), true); err != nil {
			return err
		}
		s.r.add(e.Path, Remade, "", "")
		return nil
	case p.place == nil:
		return &ConflictError{p.path}
	case was == outdated:
		if _, err := s.m.undoLines(*e); err != nil {
			return err
		}
		if err := s.m.forget(e.Path); err != nil {
			return err
		}
	}
	if err := s.m.addLines(p.path, p.agent, p.place); err != nil {
		return fmt.Errorf("%s: %w", p.path, err)
	}
	s.r.add(p.path, Added, "", "")
	return nil
}

// makeAll creates parts, or brings them up to date.
func (s *setup) makeAll(parts []part, o Options) error {
	for _, p := range parts {
		if err := s.make(p, o); err != nil {
			return err
		}
	}
	return nil
}

// check reports the condition of a part.
func (s *setup) check(p part) error {
	is, e, err := s.m.look(p)
	if err != nil && e != nil {
		return err
	}
	state, why, try := Missing, "", "claude-swarm init --upgrade"
	switch is {
	case anothers:
		why, try = speaksFor(e.Agent, p.agent), bothByPlugin(e.Agent, p.agent)
	case personal:
		state, try = Present, ""
	case current:
		state, try = Current, ""
	case outdated:
		state = Drifted
		if p.yours {
			why = "made by another version, and not changed since"
		}
	case edited:
		state = Drifted
		if e.Kind == kindFile {
			try = "claude-swarm init --reset"
		}
	}
	s.r.add(p.path, state, why, try)
	return nil
}

// speaksFor returns the reason to keep a part that was made for another agent's session.
func speaksFor(other, agent string) string { return "it speaks for " + other + ", not for " + agent }

// bothByPlugin returns the command that gives each of the two agents a plugin.
func bothByPlugin(other, agent string) string {
	return "claude-swarm attach " + other + " --way plugin, then the same for " + agent
}
