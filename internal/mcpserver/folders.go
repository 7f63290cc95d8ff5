package mcpserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// within resolves a path that an agent names, relative to its working folder, and
// checks that it lies in one of the folders that are its own, wherever symbolic
// links lead.
func (c *call) within(path string) (string, error) {
	if !filepath.IsAbs(path) {
		base := c.Project
		if spec, ok := c.spec(c.Me.Name); ok {
			base = spec.Client.Dir
		}
		path = filepath.Join(base, path)
	}
	real, err := filepath.EvalSymlinks(path)
	if os.IsNotExist(err) {
		return "", fmt.Errorf("%s is not there", path)
	} else if err != nil {
		return "", err
	}
	if home, err := filepath.EvalSymlinks(c.Home.Dir()); err == nil && inside(home, real) {
		return "", fmt.Errorf("%s is the daemon's own", path) // the secrets of all agents lie there
	}
	for _, folder := range c.Folders {
		if home, err := filepath.EvalSymlinks(folder); err == nil && inside(home, real) {
			return real, nil
		}
	}
	return "", fmt.Errorf("%s lies outside of your folders: %s", path, strings.Join(c.Folders, ", "))
}

// inside tells whether path is folder, or in it. Both are absolute and real.
func inside(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
