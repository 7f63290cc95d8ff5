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

// A part is a file, or lines in an existing file, that init or attach creates in a
// project.
type part struct {
	path  string
	agent string // the attached agent whose session needs it; "" for the project
	text  string // content of the whole file
	mode  fs.FileMode
	// yours marks a file that a person may write or change, such as claude-swarm.yaml.
	// Such a file is recreated only if it has not changed since another version created
	// it.
	yours bool
	// place returns the inserts for an existing file that belongs to someone else; it is
	// nil if the part needs a separate file.
	place func(text []byte) ([]insert, error)
	cores []string // the pieces of text that identify the part in such a file
}

// A condition is the state of a part compared with what we created.
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
	current            // as this version would create it
	outdated           // as created by another version, or for another program
	edited             // created by us and changed since then
	foreign            // not created by us, or without our lines
	personal           // a file that the person maintains
	anothers           // created for another attached session
)

// look returns the condition of a part and its entry in the manifest, which may be nil.
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

// hasCores reports whether the lines of an entry contain all of these cores.
func (e entry) hasCores(cores []string) bool {
	return !slices.ContainsFunc(cores, func(core string) bool {
		return !slices.ContainsFunc(e.Inserts, func(in insert) bool { return strings.Contains(in.Text, core) })
	})
}

// configPart returns the part for claude-swarm.yaml as init creates it by default.
func (s *setup) configPart() part {
	return part{path: s.r.Config, text: config.Template(), mode: 0o644, yours: true}
}

// A ConflictError reports that a foreign file exists at the path of one of our files.
type ConflictError struct{ Path string }

func (e *ConflictError) Error() string {
	return e.Path + " already exists and was not created by claude-swarm"
}

// make creates or updates a part.
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

// makeAll creates or updates several parts.
func (s *setup) makeAll(parts []part, o Options) error {
	for _, p := range parts {
		if err := s.make(p, o); err != nil {
			return err
		}
	}
	return nil
}

// check adds the condition of a part to the report.
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

// speaksFor returns the reason for keeping a part that was created for another agent's
// session.
func speaksFor(other, agent string) string { return "it speaks for " + other + ", not for " + agent }

// bothByPlugin returns the next step that sets up both agents with plugins.
func bothByPlugin(other, agent string) string {
	return "claude-swarm attach " + other + " --way plugin, then the same for " + agent
}
