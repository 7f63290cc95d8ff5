package provision

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// These lines form the fence around our lines in a foreign file.
const (
	fenceBegin = "# >>> claude-swarm >>>"
	fenceEnd   = "# <<< claude-swarm <<<"
)

// addLines inserts text into an existing file. The function place returns the inserts for
// the file's content; each offset refers to the text after the earlier inserts have been
// made. The file keeps its mode, and a symbolic link remains a link.
func (m *manifest) addLines(path, agent string, place func(text []byte) ([]insert, error)) error {
	path = followLinks(path)
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
	if err := m.put(e); err != nil {
		return err
	}
	return m.disk.replace(path, info, now, time.Time{})
}

// cutOut removes our inserts from the content of a file. It returns false if any of them is
// missing or changed.
func cutOut(text []byte, inserts []insert) ([]byte, bool) {
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

// linesState returns the state of our inserts in a file: Current, Drifted or Missing.
func (m *manifest) linesState(e entry) (State, error) {
	text, err := os.ReadFile(m.abs(e.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return Missing, nil
	} else if err != nil {
		return "", err
	}
	if _, ok := cutOut(text, e.Inserts); ok {
		return Current, nil
	}
	for _, in := range e.Inserts {
		if bytes.Contains(text, []byte(in.Text)) || bytes.Contains(text, []byte(fenceBegin)) {
			return Drifted, nil
		}
	}
	return Missing, nil
}

// undoLines removes our inserts from a file if all of them are unchanged. If the result
// equals the file's content before the inserts, undoLines also restores the old
// modification time.
func (m *manifest) undoLines(e entry) (taken bool, err error) {
	path := m.abs(e.Path)
	info, err := os.Stat(path)
	if err != nil {
		return false, ignoreMissing(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	without, ok := cutOut(text, e.Inserts)
	if !ok {
		return false, nil
	}
	if err := m.disk.replace(path, info, without, e.oldTime(without)); err != nil {
		return false, fmt.Errorf("remove our lines: %w", err)
	}
	return true, nil
}
