package provision

import (
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/rendezvous"
)

// RemoveOptions tune Remove. The zero value removes everything that was made and
// holds nothing of yours.
type RemoveOptions struct {
	// Agent, if set, is whose things alone are removed: its mailbox and what
	// [Attach] made for it.
	Agent string
	// Purge removes mail too, and the daemon's logs and journal.
	Purge bool
	// Step is as in [Options].
	Step func(what string) error
}

// Remove takes away what [Init] and [Attach] made: afterwards every file of
// others is, to the byte and with its mode and time, what it was before. A file
// that was changed since it was made stays, and so does a mailbox with anything
// in it, unless Purge is set; the report says so. No daemon may be running. Cut
// off at any point, the next Remove finishes what is left.
func Remove(dir string, o RemoveOptions) (Report, error) {
	var r Report
	s, err := openSetup(dir, o.Step, &r)
	if err != nil {
		return r, err
	}
	err = inOrder(
		s.m.sweep,
		func() error { return s.removeAgents(o.Agent) },
		func() error { return s.undoAll(o.Agent) },
		func() error { return s.removeMail(o) },
		func() error { return s.removeRest(o) },
	)
	return r, err
}

// removeRest removes what is left when the parts and the mail are gone.
func (s *setup) removeRest(o RemoveOptions) error {
	if o.Agent == "" {
		return s.removeHome(o)
	}
	s.stillNamed(o.Agent)
	if _, ok := s.m.Attached[o.Agent]; !ok {
		return nil
	}
	delete(s.m.Attached, o.Agent)
	return s.m.save()
}

// stillNamed says that claude-swarm.yaml has the agent in the person's own words.
func (s *setup) stillNamed(agent string) {
	file, err := config.Load(s.r.Config)
	if err != nil {
		return // it may be gone, or broken; the verbs that need it say so
	}
	if _, known := file.Agent(agent); known {
		s.r.kept(s.r.Config, agent+" still stands in it, so the next start runs it again; take it out there")
	}
}

// removeHome removes the manifest, and the daemon's folder if nothing else is in it.
func (s *setup) removeHome(o RemoveOptions) error {
	if !isFolder(s.m.home()) {
		return nil
	}
	if s.m.Mail != "" && isFolder(s.m.abs(s.m.Mail)) && !o.Purge {
		// Mail has stayed: the manifest says where, for the next time.
		return s.keptHome()
	}
	if o.Purge {
		return s.removeBy(s.m.home(), os.RemoveAll)
	}
	for _, path := range []string{tempPath(s.m.path()), s.m.path()} {
		if err := s.m.disk.remove(path); err != nil {
			return err
		}
	}
	n, err := count(s.m.home())
	if err != nil {
		return err
	}
	if ignore := filepath.Join(s.m.home(), rendezvous.IgnoreFile); n == 1 && rendezvous.IsIgnoreFile(ignore) {
		// With nothing to keep git from it goes, too.
		if err := s.m.disk.remove(ignore); err != nil {
			return err
		}
		n = 0
	}
	if n > 0 {
		return s.keptHome()
	}
	return s.removeBy(s.m.home(), removeEmpty)
}

func (s *setup) keptHome() error {
	why := "the daemon's logs and books; init --remove --purge removes them too"
	if n, err := count(s.m.home()); err != nil || n <= 2 && exists(s.m.path()) && (n == 1 || exists(filepath.Join(s.m.home(), rendezvous.IgnoreFile))) {
		why = "it says what was made here and has stayed"
	}
	s.r.kept(s.m.home(), why)
	return nil
}
