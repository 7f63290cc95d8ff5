package provision

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// take takes away what an entry of the manifest is about.
func (s *setup) take(e entry) error {
	switch e.Kind {
	case kindFile:
		return s.takeFile(e)
	case kindLines:
		return s.takeLines(e)
	case kindFolder:
		return s.takeFolder(e)
	}
	return fmt.Errorf("%s: %q of %s is not known to this version", s.m.path(), e.Kind, e.Path)
}

// takeFile removes a file that we made, unless somebody changed it since.
func (s *setup) takeFile(e entry) error {
	path := s.m.abs(e.Path)
	if !exists(path) {
		return s.m.strike(path)
	}
	switch changed, err := s.m.edited(path); {
	case err != nil:
		return err
	case changed:
		s.r.kept(path, "it was changed since it was made; remove it yourself if you do not want it")
	default:
		if err := s.takeBy(path, os.Remove); err != nil {
			return err
		}
	}
	return s.m.strike(path)
}

// takeLines takes our lines out of a file, unless somebody changed them since.
func (s *setup) takeLines(e entry) error {
	path := s.m.abs(e.Path)
	taken, err := s.m.takeLines(e)
	if err != nil {
		return err
	}
	if taken {
		s.r.add(path, Taken, "what claude-swarm put into it", "")
	} else if state, err := s.m.linesState(e); err != nil {
		return err
	} else if state == Drifted {
		s.r.kept(path, "what claude-swarm put into it was changed; take it out by hand, from "+fenceBegin+" to "+fenceEnd)
	}
	return s.m.strike(path)
}

// takeFolder removes a folder that we made, if nothing is in it.
func (s *setup) takeFolder(e entry) error {
	path := s.m.abs(e.Path)
	if err := s.m.disk.asks("remove " + path); err != nil {
		return err
	}
	switch err := gone(os.Remove(path)); {
	case err == nil:
	case s.m.heir(e) != nil:
		e.Agent = s.m.heir(e).Agent
		return s.m.enter(e)
	case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, syscall.EEXIST):
		// Others put something there, so it is theirs now.
	default:
		return err
	}
	return s.m.strike(path)
}

// takeBy removes a file or folder by a function, such as [os.RemoveAll], and reports it.
func (s *setup) takeBy(path string, by func(string) error) error {
	if err := s.m.disk.asks("remove " + path); err != nil {
		return err
	}
	if err := gone(by(path)); err != nil {
		return err
	}
	s.r.add(path, Removed, "", "")
	return nil
}
