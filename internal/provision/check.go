package provision

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
)

// Check says of everything that [Init] and [Attach] make whether it is there and
// as this version makes it. It changes nothing. Drift is told by content: a hash
// of what was written is kept, so neither a time nor a name can deceive it.
func Check(dir string) (Report, error) {
	var r Report
	s, err := openSetup(dir, nil, &r)
	if err != nil {
		return r, err
	}
	file, err := config.Load(r.Config)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.found(r.Config, Missing, "", "claude-swarm init")
		return r, nil
	case err != nil:
		return r, err
	}
	if err := s.checkConfig(); err != nil {
		return r, err
	}
	s.checkMailboxes(file)
	if err := s.checkIgnore(); err != nil {
		return r, err
	}
	if err := s.checkSkill(); err != nil {
		return r, err
	}
	return r, s.checkAttachments(file)
}

// Sound says whether nothing is missing and nothing has drifted.
func (r Report) Sound() bool {
	for _, i := range r.Items {
		if i.State == Missing || i.State == Drifted {
			return false
		}
	}
	return true
}

func (s *setup) found(path string, state State, why, try string) {
	s.r.Items = append(s.r.Items, Item{Path: short(s.dir, path), State: state, Why: why, Try: try})
}

func (s *setup) checkConfig() error {
	path := s.r.Config
	e := s.find(path)
	changed, err := s.edited(path)
	switch {
	case err != nil:
		return err
	case e == nil || changed:
		s.found(path, Present, "", "") // it was made to be changed
	case e.Plain && e.SHA256 != hashOf([]byte(config.Template())):
		s.found(path, Drifted, "made by another version, and not changed since", "claude-swarm init --upgrade")
	default:
		s.found(path, Current, "", "")
	}
	return nil
}

func (s *setup) checkMailboxes(file *config.File) {
	state := func(ok bool) (State, string) {
		if ok {
			return Current, ""
		}
		return Missing, "claude-swarm init"
	}
	store, err := dropbox.Open(file.DeadDropDir, dropbox.Options{})
	st, try := state(err == nil)
	why := ""
	if err != nil && !errors.Is(err, dropbox.ErrNoStore) {
		why = err.Error()
	}
	s.found(file.DeadDropDir, st, why, try)
	if err != nil {
		return
	}
	defer store.Close()
	for _, name := range append(file.Names(), dropbox.Lead) {
		_, err := store.Mailbox(name)
		st, try := state(err == nil)
		s.found(filepath.Join(file.DeadDropDir, name), st, "", try)
	}
}

func (s *setup) checkIgnore() error {
	path := s.ignorePath()
	need, missing, err := s.ignoreNeeded()
	if err != nil || missing && !need {
		return err
	}
	e := s.find(real(path))
	switch {
	case need && e != nil && e.Kind == kindLines && !missing:
		state, err := s.linesState(*e)
		if err != nil {
			return err
		}
		s.found(path, state, "the line that keeps "+ignoredDir+" out of git is gone", "claude-swarm init")
	case need:
		s.found(path, Missing, "", "claude-swarm init")
	case e == nil:
		s.found(path, Present, "", "")
	case e.Kind == kindLines:
		state, err := s.linesState(*e)
		if err != nil {
			return err
		}
		if state == Missing {
			state = Present // the rule stands there in the person's own words
		}
		why, try := "", ""
		if state == Drifted {
			why, try = "our lines in it were changed", "take them out, from "+fenceBegin+" to "+fenceEnd+", then claude-swarm init"
		}
		s.found(path, state, why, try)
	default:
		state, why := Current, ""
		if changed, err := s.edited(path); err != nil {
			return err
		} else if changed {
			state = Present
		}
		s.found(path, state, why, "")
	}
	return nil
}

// exists says whether something lies at a path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
