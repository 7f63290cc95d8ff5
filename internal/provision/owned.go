package provision

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// makeFile creates a missing file and the missing folders above it, and records them all.
// It leaves an existing file unchanged.
func (m *manifest) makeFile(e entry, path, text string, mode fs.FileMode) (made bool, err error) {
	if _, err := os.Lstat(path); err == nil {
		return false, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := m.makeFolders(filepath.Dir(path), e.Agent); err != nil {
		return false, err
	}
	e.Path, e.Kind, e.SHA256 = path, kindFile, hashOf([]byte(text))
	if err := m.put(e); err != nil {
		return false, err
	}
	err = m.disk.write(path, []byte(text), mode, time.Time{}, false)
	if errors.Is(err, fs.ErrExist) {
		return false, m.forget(path)
	}
	return err == nil, err
}

// makeFolders creates the missing folders in a path, and records them.
func (m *manifest) makeFolders(path, agent string) error {
	if path == m.dir || isFolder(path) {
		return nil
	}
	if err := m.makeFolders(filepath.Dir(path), agent); err != nil {
		return err
	}
	if err := m.put(entry{Path: path, Kind: kindFolder, Agent: agent}); err != nil {
		return err
	}
	mode := fs.FileMode(0o755)
	if strings.HasPrefix(path, m.home()) {
		mode = 0o700
	}
	return m.disk.makeFolder(path, mode)
}

// edited reports whether a file has been changed since we wrote it.
func (m *manifest) edited(path string) (bool, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	e := m.find(path)
	return e == nil || !e.wrote(data), nil
}

// wrote reports whether we wrote this content.
func (e entry) wrote(data []byte) bool {
	hash := hashOf(data)
	return e.SHA256 == hash || e.Also == hash
}

// renew replaces the content of a file that we created. Both contents count as ours until
// the new one is durable. If someone has changed the file and it is therefore no longer
// ours, renew keeps the recorded hash.
func (m *manifest) renew(e entry, text []byte, ours bool) error {
	path := m.abs(e.Path)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if ours {
		e.Also = hashOf(text)
	}
	if err := m.put(e); err != nil {
		return err
	}
	if err := m.disk.write(path, text, info.Mode().Perm(), time.Time{}, true); err != nil || !ours {
		return err
	}
	e.SHA256, e.Also = e.Also, ""
	return m.put(e)
}

// otherUser returns an entry that another agent has in the folder, or nil.
func (m *manifest) otherUser(folder entry) *entry {
	for i, e := range m.Entries {
		if e.Agent != folder.Agent && strings.HasPrefix(m.abs(e.Path), m.abs(folder.Path)+string(filepath.Separator)) {
			return &m.Entries[i]
		}
	}
	return nil
}
