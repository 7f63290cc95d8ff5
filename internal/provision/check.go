package provision

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// Check reports, for everything that [Init] and [Attach] create, whether it exists and
// matches what this version would create. It changes nothing. It detects changed files by
// comparing their content with the recorded hash, not by their names or times.
func Check(dir string) (Report, error) {
	var r Report
	s, err := openSetup(dir, nil, &r)
	if err != nil {
		return r, err
	}
	file, err := config.Load(r.Config)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		why, try := "", "claude-swarm init"
		if config.InForce(r.Config) != nil {
			why, try = "the daemon has a copy", CopyBack(r.Config)
		}
		r.add(r.Config, Missing, why, try)
		return r, nil
	case err != nil:
		return r, err
	}
	if err := s.check(s.configPart()); err != nil {
		return r, err
	}
	s.checkMailboxes(file)
	if err := s.checkIgnore(); err != nil {
		return r, err
	}
	parts, err := s.sessionParts(file)
	if err != nil {
		return r, err
	}
	if p := s.skillPart(); s.m.find(p.path) != nil {
		parts = slices.Insert(parts, 0, p)
	}
	for _, p := range parts {
		if err := s.check(p); err != nil {
			return r, err
		}
	}
	return r, nil
}
