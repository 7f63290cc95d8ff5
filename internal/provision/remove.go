package provision

import (
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
)

// RemoveOptions are the options for Remove. The zero value removes everything that was
// created, except what contains a person's work.
type RemoveOptions struct {
	// Agent, if set, limits the removal to one agent: to its mailbox and what [Attach]
	// created for it.
	Agent string
	// Purge also removes mail and the daemon's logs and journal.
	Purge bool
	// Step is the same as in [Options].
	Step func(what string) error
}

// Remove removes what [Init] and [Attach] created. Afterwards, every other file has the
// same content, mode and modification time as before [Init]. A file that was changed
// after its creation remains. A mailbox that is not empty also remains, unless Purge is
// set. The report lists what remains. No daemon may be running during Remove. If Remove
// is interrupted, the next Remove finishes the work.
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

// removeRest removes what remains after the parts and the mail have been removed.
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

// stillNamed notes in the report that claude-swarm.yaml still has an entry for the agent.
// The person wrote that entry, so Remove does not delete it.
func (s *setup) stillNamed(agent string) {
	file, err := config.Load(s.r.Config)
	if err != nil {
		return // the file may be missing or broken; the verbs that need it report that
	}
	if _, known := file.Agent(agent); known {
		s.r.kept(s.r.Config, agent+" is still in it, so the next start runs it again; remove it there")
	}
}

// removeHome removes the manifest, and the daemon's folder if it contains nothing else.
// With Purge, it removes the folder and everything in it.
func (s *setup) removeHome(o RemoveOptions) error {
	if !isFolder(s.m.home()) {
		return nil
	}
	if s.m.Mail != "" && isFolder(s.m.abs(s.m.Mail)) && !o.Purge {
		// Some mail remains. The manifest must remain as well, so that the next Remove
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
		// The .gitignore is the only file left and hides nothing, so it is removed as
		// well.
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
