package provision

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
)

// undoAll undoes the manifest's entries for one agent, or all entries if agent is "". It
// goes through them in reverse order, so that files are removed before their folders.
func (s *setup) undoAll(agent string) error {
	for _, e := range slices.Backward(slices.Clone(s.m.Entries)) {
		if agent == "" || e.Agent == agent {
			if err := s.undo(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// undo removes what a manifest entry describes.
func (s *setup) undo(e entry) error {
	switch e.Kind {
	case kindFile:
		return s.undoFile(e)
	case kindLines:
		return s.undoLines(e)
	case kindFolder:
		return s.undoFolder(e)
	}
	return fmt.Errorf("%s: %q of %s is not known to this version", s.m.path(), e.Kind, e.Path)
}

// undoFile removes a file that we created, unless it has been changed since then.
func (s *setup) undoFile(e entry) error {
	path := s.m.abs(e.Path)
	if !exists(path) {
		return s.m.forget(path)
	}
	switch changed, err := s.m.edited(path); {
	case err != nil:
		return err
	case changed:
		s.r.kept(path, "it was changed after it was created; remove it yourself if you do not want it")
	default:
		if err := s.removeBy(path, os.Remove); err != nil {
			return err
		}
	}
	return s.m.forget(path)
}

// undoLines removes our lines from a file, unless they have been changed since then.
func (s *setup) undoLines(e entry) error {
	path := s.m.abs(e.Path)
	taken, err := s.m.undoLines(e)
	if err != nil {
		return err
	}
	if taken {
		s.r.add(path, Taken, "what claude-swarm put into it", "")
	} else if state, err := s.m.linesState(e); err != nil {
		return err
	} else if state == Drifted {
		s.r.kept(path, "what claude-swarm put into it was changed; remove it by hand, from "+fenceBegin+" to "+fenceEnd)
	}
	return s.m.forget(path)
}

// undoFolder removes a folder that we created, if it is empty.
func (s *setup) undoFolder(e entry) error {
	path := s.m.abs(e.Path)
	if err := s.m.disk.asks("remove " + path); err != nil {
		return err
	}
	switch err := ignoreMissing(os.Remove(path)); {
	case err == nil:
	case s.m.otherUser(e) != nil:
		e.Agent = s.m.otherUser(e).Agent
		return s.m.put(e)
	case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, syscall.EEXIST):
		// The folder contains something that is not ours, so the folder is no longer
		// ours.
	default:
		return err
	}
	return s.m.forget(path)
}

// removeBy removes a file or folder with a function such as [os.RemoveAll], and adds it to
// the report.
func (s *setup) removeBy(path string, by func(string) error) error {
	if err := s.m.disk.asks("remove " + path); err != nil {
		return err
	}
	if err := ignoreMissing(by(path)); err != nil {
		return err
	}
	s.r.add(path, Removed, "", "")
	return nil
}
