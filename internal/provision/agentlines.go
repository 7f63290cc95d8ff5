package provision

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// withAgent adds an agent to the text of claude-swarm.yaml as an attached agent. It
// returns the new text, the added lines, and the configuration parsed from the new text.
// If the agent is already attached in the file, it returns only the configuration.
func (s *setup) withAgent(name string) (text []byte, lines string, file *config.File, err error) {
	if file, err = config.Load(s.r.Config); err != nil {
		return nil, "", nil, err
	}
	a, known := file.Agent(name)
	if known && a.Attached {
		return nil, "", file, nil
	}
	if text, err = os.ReadFile(s.r.Config); err != nil {
		return nil, "", nil, err
	}
	ins, err := placeAgent(text, name, known)
	if err == nil { // the new text must be a valid configuration
		text = slices.Insert(text, ins.At, []byte(ins.Text)...)
		file, err = config.Parse(s.r.Config, text)
	}
	if err != nil {
		return nil, "", nil, &EntryError{Agent: name, Known: known, Err: err}
	}
	return text, ins.Text, file, nil
}

// addAgent adds an attached agent to claude-swarm.yaml. The parameter text is the file's
// new content. If lines is empty, the agent is already in the file, and addAgent does
// nothing.
func (s *setup) addAgent(name string, text []byte, lines string) error {
	if lines == "" {
		return nil
	}
	path := followLinks(s.r.Config)
	was, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	e := entry{Path: path, Kind: kindLines, Before: &before{hashOf(was), info.ModTime()}}
	if have := s.m.find(s.r.Config); have != nil {
		e = *have
	}
	e.Lines = append(slices.DeleteFunc(slices.Clone(e.Lines), func(l agentLines) bool { return l.Agent == name }), agentLines{name, lines})
	if err := s.rewrite(e, text); err != nil {
		return err
	}
	s.r.add(s.r.Config, Added, "", "")
	return nil
}

// rewrite replaces the content of claude-swarm.yaml, and saves its entry e in the manifest.
// If init created the file and nobody has changed it, it still counts as created by init.
func (s *setup) rewrite(e entry, text []byte) error {
	if e.Kind == kindFile {
		e.Plain = false
		changed, err := s.m.edited(s.r.Config)
		if err != nil {
			return err
		}
		return s.m.renew(e, text, !changed)
	}
	e.Kind = kindLines
	if err := s.m.put(e); err != nil {
		return err
	}
	path := followLinks(s.m.abs(e.Path))
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return s.m.disk.replace(path, info, text, e.oldTime(text))
}

// removeAgents removes the lines of an agent from claude-swarm.yaml; "" means the lines
// of all agents. For "", it does not touch a file that init created and nobody has
// changed, because [setup.undoAll] removes that file as a whole.
func (s *setup) removeAgents(agent string) error {
	if e := s.m.find(s.r.Config); agent == "" && e != nil && e.Kind == kindFile {
		if changed, err := s.m.edited(s.r.Config); err != nil || !changed {
			return err
		}
	}
	return s.removeAgentLines(agent)
}

// removeAgentLines removes the lines of an attached agent from claude-swarm.yaml; ""
// means the lines of all attached agents.
func (s *setup) removeAgentLines(agent string) error {
	e, path := s.m.find(s.r.Config), s.r.Config
	was, err := os.ReadFile(path)
	if err != nil {
		return ignoreMissing(err)
	}
	text, own := s.separate(e, was)
	now := entry{Path: path}
	if e != nil {
		now = *e
		now.Lines = nil
	}
	took, struck := false, false
	for _, l := range own {
		if agent != "" && l.Agent != agent {
			now.Lines = append(now.Lines, l)
			continue
		}
		struck = true
		if at := l.in(text); at >= 0 {
			text, took = slices.Delete(text, at, at+len(l.Text)), true
		} else if bytes.Contains(text, []byte(fenceBegin)) && l.key(text) != nil {
			s.r.kept(path, l.Agent+"'s entry was changed; remove it by hand")
		}
	}
	if took {
		if err := s.rewrite(now, text); err != nil {
			return err
		}
		what := "what claude-swarm put into it"
		if agent != "" {
			what = agent + "'s entry"
		}
		s.r.add(path, Taken, what, "")
	}
	switch {
	case !struck:
		return nil
	case now.Kind != kindFile && len(now.Lines) == 0:
		return s.m.forget(now.Path)
	case !took:
		return s.m.put(now)
	}
	return nil
}

// separate puts the lines of each attached agent into a separate fence in the text of
// claude-swarm.yaml. It returns the new text and the agents' lines. An earlier version
// inserted the second agent between the fence and the entry of the first agent, and lost
// the record of the first agent's lines.
func (s *setup) separate(e *entry, text []byte) ([]byte, []agentLines) {
	var own, all []agentLines
	if e != nil {
		own = e.Lines
	}
	bare := slices.Clone(text)
	for _, l := range own {
		if at := l.in(bare); at >= 0 {
			bare = slices.Delete(bare, at, at+len(l.Text))
		}
	}
	for _, agent := range slices.Sorted(maps.Keys(s.m.Attached)) {
		if slices.ContainsFunc(own, func(l agentLines) bool { return l.Agent == agent }) {
			continue
		}
		if m := fencedEntry(agent).FindIndex(bare); m != nil {
			all = append(all, agentLines{agent, string(bare[m[0]:m[1]])})
			bare = slices.Delete(bare, m[0], m[1])
		}
	}
	if len(all) == 0 {
		return slices.Clone(text), own
	}
	all = append(all, own...)
	for i, l := range all {
		ins, err := placeAgent(bare, l.Agent, !l.named())
		if err != nil {
			return slices.Clone(text), own
		}
		all[i].Text = ins.Text
		bare = slices.Insert(bare, ins.At, []byte(ins.Text)...)
	}
	return bare, all
}

// fencedEntry returns a pattern for the entry that attach wrote for an agent, including
// its fence.
func fencedEntry(agent string) *regexp.Regexp {
	line := func(text string) string { return `[ ]*` + regexp.QuoteMeta(text) + `\r?\n` }
	return regexp.MustCompile(`(?m)^` + line(fenceBegin) + line(agent+": {attached: true}") + line(fenceEnd))
}

// named reports whether the lines are a complete entry, with the agent's name.
func (l agentLines) named() bool { return strings.Contains(l.Text, l.Agent+": {attached: true}") }

// in returns the offset of the lines in text, or -1 if they are not there. A complete
// entry contains the agent's name. If the person wrote the entry, our only line in it is
// the one that attaches the agent. That line has no name, so it counts only inside the
// agent's entry.
func (l agentLines) in(text []byte) int {
	if l.named() {
		return bytes.Index(text, []byte(l.Text))
	}
	key := l.key(text)
	if key == nil || key.Line < 2 {
		return -1
	}
	at := lineOffset(text, key.Line-1)
	if !bytes.HasPrefix(text[at:], []byte(l.Text)) {
		return -1
	}
	return at
}

// key returns the key "attached" in the agent's entry, or nil.
func (l agentLines) key(text []byte) *yaml.Node {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	agent := member(member(doc.Content[0], "agents"), l.Agent)
	if agent == nil || agent.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(agent.Content); i += 2 {
		if agent.Content[i].Value == "attached" {
			return agent.Content[i]
		}
	}
	return nil
}

// An EntryError reports that the layout of claude-swarm.yaml makes it impossible to add
// the entry of an attached agent safely.
type EntryError struct {
	Agent string
	Known bool // the agent is in the file, but not attached
	Err   error
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("%s has no place where %s could be added: %v", config.Name, e.Agent, e.Err)
}

func (e *EntryError) Unwrap() error { return e.Err }

// Line returns the line that the person must add, and where it belongs.
func (e *EntryError) Line() string {
	if e.Known {
		return "attached: true, under " + e.Agent + " in " + config.Name
	}
	return e.Agent + ": {attached: true}, under agents in " + config.Name
}

// placeAgent returns the insert for the entry of an attached agent. It goes before the
// first agent or, if the file already lists the agent, before that agent's first key. If a
// fence begins just before that line, the insert goes before the fence.
func placeAgent(text []byte, name string, known bool) (insert, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return insert{}, err
	}
	agents := member(doc.Content[0], "agents")
	lines := []string{name + ": {attached: true}"}
	at := agents
	if known {
		at, lines = member(agents, name), []string{"attached: true"}
	}
	if at == nil || at.Kind != yaml.MappingNode || at.Style&yaml.FlowStyle != 0 || len(at.Content) == 0 {
		return insert{}, errors.New("its agents are written on one line")
	}
	first := at.Content[0]
	offset := lineOffset(text, first.Line)
	end := "\n"
	if strings.Contains(string(text), "\r\n") {
		end = "\r\n"
	}
	indent := strings.Repeat(" ", first.Column-1)
	if strings.TrimLeft(string(text[offset:offset+first.Column-1]), " ") != "" {
		return insert{}, errors.New("its agents are written on one line")
	}
	for line := first.Line - 1; line > 0; line-- {
		above := lineOffset(text, line)
		if strings.TrimSpace(string(text[above:offset])) != fenceBegin {
			break
		}
		offset = above
	}
	var b strings.Builder
	for _, line := range slices.Concat([]string{fenceBegin}, lines, []string{fenceEnd}) {
		b.WriteString(indent + line + end)
	}
	return insert{offset, b.String()}, nil
}

// lineOffset returns the offset of a line in text. Lines are counted from 1.
func lineOffset(text []byte, line int) int {
	offset := 0
	for n := 1; n < line; n++ {
		i := bytes.IndexByte(text[offset:], '\n')
		if i < 0 {
			return len(text)
		}
		offset += i + 1
	}
	return offset
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
