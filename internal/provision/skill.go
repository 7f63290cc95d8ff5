package provision

import (
	_ "embed"
	"os"
	"path/filepath"
)

// skillName is the name of the skill in Claude Code: its folder, and /swarm. It does not
// begin with claude, which is reserved for the makers of the client.
const skillName = "swarm"

// skillText explains the verbs to a session of Claude Code. It is the same in every project
// and names no path, so that it can be committed.
//
//go:embed skill.md
var skillText string

// skillPart returns the file of the skill, for the sessions in the folder of the project.
func (s *setup) skillPart() part {
	return part{path: filepath.Join(s.m.dir, ".claude", "skills", skillName, "SKILL.md"), text: skillText, mode: 0o644}
}

// skillFits returns a [*ConflictError] for a foreign SKILL.md, before anything is made. A
// file with our text is no conflict: it came with a clone of the project.
func (s *setup) skillFits(o Options) error {
	p := s.skillPart()
	if !o.Skill || s.m.find(p.path) != nil {
		return nil
	}
	data, err := os.ReadFile(p.path)
	if err == nil && string(data) != p.text {
		return &ConflictError{p.path}
	}
	return ignoreMissing(err)
}

// skill makes the skill if the options ask for it, and brings an existing one up to date.
func (s *setup) skill(o Options) error {
	p := s.skillPart()
	if s.m.find(p.path) != nil || o.Skill && !exists(p.path) {
		return s.make(p, o)
	}
	if o.Skill {
		s.r.made(p.path, false)
	}
	return nil
}
