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

// Our lines in a file of somebody else stand between these.
const (
	fenceBegin = "# >>> claude-swarm >>>"
	fenceEnd   = "# <<< claude-swarm <<<"
)

// addLines puts texts into a file that is there. place says where, for the content
// as it is; offsets count in the text as it is after the inserts before them. The
// file keeps its mode, and a symbolic link stays one.
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
	if err := m.note(e); err != nil {
		return err
	}
	return m.disk.replace(path, info, now, time.Time{})
}

// cutOut takes our texts out of a content. It says false when one of them is not
// there as it was put in.
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

// linesState says what became of the texts that we put into a file: they are Current,
// Drifted or Missing.
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

// undoLines takes our texts out of a file again, if they are all there as they were put
// in, and gives a file that is then what it was before its old time back.
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
		return false, fmt.Errorf("take our lines out: %w", err)
	}
	return true, nil
}
