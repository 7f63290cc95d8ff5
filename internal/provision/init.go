package provision

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
)

// Init turns the folder dir, which must exist, into a project. It creates
// claude-swarm.yaml, the mailboxes and subscriptions of the agents in it, and, if the
// folder is in a git work tree or has a .gitignore, the line in .gitignore that excludes
// the daemon's own files. It records what it creates in .claude-swarm, for [Check] and
// [Remove]. It never overwrites anything that others created. If claude-swarm.yaml has
// mistakes, Init returns [config.Errors] and creates nothing. After an error, the report
// lists what was done before the error.
func Init(dir string, o Options) (Report, error) {
	var r Report
	s, err := openSetup(dir, o.Step, &r)
	if err != nil {
		return r, err
	}
	if above, err := discovery.Find(filepath.Dir(s.m.dir)); err == nil && above != r.Config {
		r.Above = above
	}
	plain := o.Config == ""
	if plain {
		o.Config = config.Template()
	}
	file, err := config.Load(r.Config)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(s.m.dir); err != nil {
			return r, err
		}
		file, err = config.Parse(r.Config, []byte(o.Config))
	}
	if err != nil {
		return r, err
	}
	err = inOrder(
		func() error { return s.skillFits(o) },
		s.m.sweep,
		func() error { return s.configuration(o, plain) },
		func() error { return s.mailboxes(file) },
		func() error { return s.subscribe(file, o.Subscribe) },
		s.ignore,
		func() error { return s.skill(o) },
		func() error { return s.makeSessions(file, o) },
	)
	return r, err
}

// configuration writes claude-swarm.yaml if it is missing.
func (s *setup) configuration(o Options, plain bool) error {
	if exists(s.r.Config) {
		return s.make(s.configPart(), o)
	}
	made, err := s.m.makeFile(entry{Plain: plain}, s.r.Config, o.Config, 0o644)
	if err == nil {
		s.r.made(s.r.Config, made)
	}
	return err
}
