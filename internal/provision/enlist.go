package provision

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

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
