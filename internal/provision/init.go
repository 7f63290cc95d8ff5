package provision

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/rendezvous"
)

// Init makes the folder dir, which must be there, into a project: its
// claude-swarm.yaml, the mailboxes of the agents that are named in it, what they
// are to subscribe to, and, if git looks at this folder, the line of .gitignore
// that keeps the daemon's own files out of it. What it makes it notes in
// .claude-swarm, for [Check] and [Remove]. Nothing of others is overwritten. A
// claude-swarm.yaml that is there and bad gives its [config.Errors], and nothing
// is made. After an error the report has what was done before it.
func Init(dir string, o Options) (Report, error) {
	var r Report
	s, err := openSetup(dir, o.Step, &r)
	if err != nil {
		return r, err
	}
	if above, err := rendezvous.Find(filepath.Dir(s.m.dir)); err == nil && above != r.Config {
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

// configuration writes claude-swarm.yaml where there is none.
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
