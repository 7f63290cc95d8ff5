package provision

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ignore adds the daemon's folder to .gitignore if that file exists or the project is in a
// git work tree. It does not add the mailboxes, because they have a separate .gitignore and
// finished mail is worth committing.
func (s *setup) ignore() error {
	path := s.ignorePath()
	need, missing, err := s.ignoreNeeded()
	switch {
	case err != nil:
		return err
	case missing && need:
		made, err := s.m.makeFile(entry{}, path, homeName+"/\n", 0o644)
		if err == nil {
			s.r.made(path, made)
		}
		return err
	case missing:
		return nil
	case !need:
		s.r.made(path, false)
		return nil
	}
	if err := s.m.addLines(path, "", placeIgnore); err != nil {
		return fmt.Errorf("add %s/ to .gitignore: %w", homeName, err)
	}
	s.r.add(path, Added, "", "")
	return nil
}

func (s *setup) ignorePath() string { return filepath.Join(s.m.dir, ".gitignore") }

// ignoreNeeded reports whether .gitignore needs our line, and whether the file is missing.
func (s *setup) ignoreNeeded() (need, missing bool, err error) {
	text, err := os.ReadFile(s.ignorePath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return inWorkTree(s.m.dir), true, nil
	case err != nil:
		return false, false, err
	}
	for line := range strings.Lines(string(text)) {
		// There are several ways to write the rule. If a later rule negates it, that is
		// the person's choice.
		if rule := strings.Trim(strings.TrimSpace(line), "/"); rule == homeName {
			return false, false, nil
		}
	}
	return true, false, nil
}

// placeIgnore returns the insert that puts our line, in its fence, at the end of a
// .gitignore.
func placeIgnore(text []byte) ([]insert, error) {
	end := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		end = "\r\n"
	}
	add := fenceBegin + end + homeName + "/" + end + fenceEnd + end
	if len(text) > 0 && text[len(text)-1] != '\n' {
		add = end + add
	}
	return []insert{{len(text), add}}, nil
}

// inWorkTree reports whether dir is in a git work tree. In a linked work tree and in a
// submodule, .git is a file.
func inWorkTree(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		above := filepath.Dir(dir)
		if above == dir {
			return false
		}
		dir = above
	}
}

// checkIgnore reports the state of our line in .gitignore.
func (s *setup) checkIgnore() error {
	path := s.ignorePath()
	need, missing, err := s.ignoreNeeded()
	if err != nil || missing && !need {
		return err
	}
	e := s.m.find(path)
	state, why, try := Current, "", ""
	switch {
	case e != nil && e.Kind == kindLines && !missing:
		if state, err = s.m.linesState(*e); need {
			why, try = "the line that keeps "+homeName+" out of git is gone", "claude-swarm init"
		} else if state == Missing {
			state = Present // the person wrote the rule
		} else if state == Drifted {
			why, try = "our lines in it were changed", "remove them, from "+fenceBegin+" to "+fenceEnd+", then claude-swarm init"
		}
	case need:
		state, try = Missing, "claude-swarm init"
	default:
		var changed bool
		if changed, err = s.m.edited(path); changed { // even if it does not contain our line
			state = Present
		}
	}
	if err == nil {
		s.r.add(path, state, why, try)
	}
	return err
}
