package provision

import (
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
)

// RemoveOptions tune Remove. The zero value removes everything that was made and contains
// none of the person's work.
type RemoveOptions struct {
	// Agent, if set, limits the removal to one agent: its mailbox and what [Attach] made
	// for it.
	Agent string
	// Purge removes mail too, and the daemon's logs and journal.
	Purge bool
	// Step is as in [Options].
	Step func(what string) error
}

// Remove removes what [Init] and [Attach] made. Afterwards every other file has the same
// content, mode and time as before. A file that was changed after it was made stays. A
// mailbox that is not empty stays too, unless Purge is set. The report lists what stays.
// No daemon may be running. If a Remove is interrupted, the next Remove finishes it.
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

// removeRest removes what remains once the parts and the mail are gone.
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

// stillNamed adds to the report that claude-swarm.yaml still has an entry for the agent.
// The person wrote that entry.
func (s *setup) stillNamed(agent string) {
	file, err := config.Load(s.r.Config)
	if err != nil {
		return // the file may be missing or broken; the verbs that need it report that
	}
	if _, known := file.Agent(agent); known {
		s.r.kept(s.r.Config, agent+" is still in it, so the next start runs it again; remove it there")
	}
}

// removeHome removes the manifest, and the daemon's folder if nothing else is in it. With
// Purge it removes the folder with everything in it.
func (s *setup) removeHome(o RemoveOptions) error {
	if !isFolder(s.m.home()) {
		return nil
	}
	if s.m.Mail != "" && isFolder(s.m.abs(s.m.Mail)) && !o.Purge {
		// Some mail is still in place. The manifest stays too, so that the next Remove
		// finds the mail.
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
	if ignore := filepath.Join(s.m.home(), discovery.IgnoreFile); n == 1 && discovery.IsIgnoreFile(ignore) {
		// When the folder has nothing else to hide from git, its .gitignore is removed,
		// too.
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
	why := "the daemon's logs and journal; init --remove --purge removes them too"
	if n, err := count(s.m.home()); err != nil || n <= 2 && exists(s.m.path()) && (n == 1 || exists(filepath.Join(s.m.home(), discovery.IgnoreFile))) {
		why = "it lists what was created here and is still in place"
	}
	s.r.kept(s.m.home(), why)
	return nil
}
