package provision

import (
	_ "embed"
	"os"
	"path/filepath"
)

// skillName is the name of the skill in Claude Code, both for its folder and for the
// command /swarm. It does not begin with claude, because such names are reserved for the
// client's makers.
const skillName = "swarm"

// skillText explains the verbs to a Claude Code session. It is the same in every project
// and contains no paths, so that it can be committed.
//
//go:embed skill.md
var skillText string

// skillPart returns the part for the skill file, which applies to sessions in the
// project's folder.
func (s *setup) skillPart() part {
	return part{path: filepath.Join(s.m.dir, ".claude", "skills", skillName, "SKILL.md"), text: skillText, mode: 0o644}
}

// skillFits returns a [*ConflictError] for a foreign SKILL.md. It is called before
// anything is created. A file with our text is not a conflict: it came with a clone of
// the project.
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

// skill creates the skill if the options request it, and updates an existing skill.
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
