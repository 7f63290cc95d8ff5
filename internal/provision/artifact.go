package provision

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// makeFile makes a file that is not there yet, with the folders that it needs, and
// writes both down. It leaves one that is there.
func (s *setup) makeFile(e entry, path, text string, mode fs.FileMode) (made bool, err error) {
	if _, err := os.Lstat(path); err == nil {
		return false, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := s.makeFolders(filepath.Dir(path), e.Agent); err != nil {
		return false, err
	}
	e.Path, e.Kind, e.SHA256 = path, kindFile, hashOf([]byte(text))
	if err := s.enter(e); err != nil {
		return false, err
	}
	err = s.write(path, []byte(text), mode, time.Time{}, false)
	if errors.Is(err, fs.ErrExist) {
		return false, s.strike(path)
	}
	return err == nil, err
}

// makeFolders makes the folders of a path that are missing.
func (s *setup) makeFolders(path, agent string) error {
	if path == s.dir || isFolder(path) {
		return nil
	}
	if err := s.makeFolders(filepath.Dir(path), agent); err != nil {
		return err
	}
	if err := s.enter(entry{Path: path, Kind: kindFolder, Agent: agent}); err != nil {
		return err
	}
	if err := s.does("make " + path); err != nil {
		return err
	}
	mode := fs.FileMode(0o755)
	if strings.HasPrefix(path, s.home()) {
		mode = 0o700
	}
	if err := os.Mkdir(path, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// fileState says what became of a file that we made and that should hold text now.
func (s *setup) fileState(path, text string) (State, error) {
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Missing, nil
	case err != nil:
		return "", err
	case string(data) == text:
		return Current, nil
	}
	return Drifted, nil
}

// edited says whether somebody else changed a file since we wrote it.
func (s *setup) edited(path string) (bool, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	e := s.find(path)
	hash := hashOf(data)
	return e == nil || e.SHA256 != hash && e.Also != hash, nil
}

// addLines puts texts into a file that is there. place says where, for the content
// as it is; offsets count in the text as it is after the inserts before them. The
// file keeps its mode, and a symbolic link stays one.
func (s *setup) addLines(path, agent string, place func(text []byte) ([]insert, error)) error {
	path = real(path)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	inserts, err := place(text)
	if err != nil {
		return err
	}
	now := slices.Clone(text)
	for _, in := range inserts {
		now = slices.Insert(now, in.At, []byte(in.Text)...)
	}
	e := entry{Path: path, Kind: kindLines, Agent: agent, Inserts: inserts, Before: &before{hashOf(text), info.ModTime()}}
	if err := s.enter(e); err != nil {
		return err
	}
	return s.replace(path, info, now, time.Time{})
}

// replace gives a file that is not ours another content.
func (s *setup) replace(path string, was fs.FileInfo, text []byte, at time.Time) error {
	if st, ok := was.Sys().(*syscall.Stat_t); ok && (int(st.Uid) != os.Geteuid() || st.Nlink > 1) {
		// A new file would have another owner, or part from its other names.
		return s.overwrite(path, text, at)
	}
	return s.write(path, text, was.Mode().Perm(), at, true)
}

func (s *setup) overwrite(path string, text []byte, at time.Time) error {
	if err := s.does("write " + path); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = out.WriteAt(text, 0)
	if err == nil {
		err = out.Truncate(int64(len(text)))
	}
	if err = errors.Join(err, out.Close()); err == nil && !at.IsZero() {
		err = os.Chtimes(path, at, at)
	}
	return err
}

// cut takes our texts out of a content. It says false when one of them is not
// there as it was put in.
func cut(text []byte, inserts []insert) ([]byte, bool) {
	text = slices.Clone(text)
	for _, in := range slices.Backward(inserts) {
		at, end := in.At, in.At+len(in.Text)
		if end > len(text) || string(text[at:end]) != in.Text {
			if bytes.Count(text, []byte(in.Text)) != 1 {
				return nil, false
			}
			at = bytes.Index(text, []byte(in.Text))
			end = at + len(in.Text)
		}
		text = slices.Delete(text, at, end)
	}
	return text, true
}

// linesState says what became of the texts that we put into a file.
func (s *setup) linesState(e entry) (State, error) {
	text, err := os.ReadFile(s.abs(e.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return Missing, nil
	} else if err != nil {
		return "", err
	}
	if _, ok := cut(text, e.Inserts); ok {
		return Current, nil
	}
	for _, in := range e.Inserts {
		if bytes.Contains(text, []byte(in.Text)) || bytes.Contains(text, []byte(fenceBegin)) {
			return Drifted, nil
		}
	}
	return Missing, nil
}

// takeLines takes our texts out of a file again. A file that is then what it was
// before gets its old time back.
func (s *setup) takeLines(e entry) error {
	path := s.abs(e.Path)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s.strike(path)
	} else if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	without, ok := cut(text, e.Inserts)
	if !ok {
		if state, err := s.linesState(e); err != nil || state == Missing {
			return errors.Join(err, s.strike(path))
		}
		s.kept(path, "what claude-swarm put into it was changed; take it out by hand, from "+fenceBegin+" to "+fenceEnd)
		return s.strike(path)
	}
	if err := s.replace(path, info, without, s.oldTime(e, without)); err != nil {
		return fmt.Errorf("take our lines out: %w", err)
	}
	s.taken(path, "what claude-swarm put into it")
	return s.strike(path)
}

// takeFile removes a file that we made, unless somebody changed it since.
func (s *setup) takeFile(e entry) error {
	path := s.abs(e.Path)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return s.strike(path)
	}
	changed, err := s.edited(path)
	if err != nil {
		return err
	}
	if changed {
		s.kept(path, "it was changed since it was made; remove it yourself if you do not want it")
		return s.strike(path)
	}
	if err := s.does("remove " + path); err != nil {
		return err
	}
	if err := gone(os.Remove(path)); err != nil {
		return err
	}
	s.removed(path)
	return s.strike(path)
}

// takeFolder removes a folder that we made, if nothing is in it.
func (s *setup) takeFolder(e entry) error {
	path := s.abs(e.Path)
	if err := s.does("remove " + path); err != nil {
		return err
	}
	switch err := gone(os.Remove(path)); {
	case err == nil:
	case s.heir(e) != nil:
		e.Agent = s.heir(e).Agent
		return s.enter(e)
	case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, syscall.EEXIST):
		// Others put something there: it is theirs now.
	default:
		return err
	}
	return s.strike(path)
}

// heir is what was made in a folder for another agent; nil for nothing.
func (s *setup) heir(folder entry) *entry {
	for i, e := range s.rec.Entries {
		if e.Agent != folder.Agent && strings.HasPrefix(s.abs(e.Path), s.abs(folder.Path)+string(filepath.Separator)) {
			return &s.rec.Entries[i]
		}
	}
	return nil
}

func (s *setup) removed(path string) {
	s.r.Items = append(s.r.Items, Item{Path: short(s.dir, path), State: Removed})
}

func (s *setup) taken(path, what string) {
	s.r.Items = append(s.r.Items, Item{Path: short(s.dir, path), State: Taken, Why: what})
}

func (s *setup) kept(path, why string) {
	s.r.Items = append(s.r.Items, Item{Path: short(s.dir, path), State: Kept, Why: why})
}
