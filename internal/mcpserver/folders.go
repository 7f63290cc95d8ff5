package mcpserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// within resolves a path that an agent names, relative to its working folder, and
// checks that it lies in one of the folders that are its own, wherever symbolic
// links lead.
func (c *call) within(path string) (string, error) {
	path = c.absolute(path)
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

// absolute is a path as it is seen from the working folder of the agent.
func (c *call) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	base := c.Project
	if spec, ok := c.spec(c.Me.Name); ok {
		base = spec.Client.Dir
	}
	return filepath.Join(base, path)
}

// inside tells whether path is folder, or in it. Both are absolute and real.
func inside(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

type directoryArguments struct {
	Path string `json:"path" jsonschema:"absolute, or relative to your working folder"`
}

// A directory is what set_directory gives.
type directory struct {
	Path         string   `json:"path" jsonschema:"the folder, without symbolic links"`
	Instructions string   `json:"instructions,omitempty" jsonschema:"the CLAUDE.md of the folder, or the nearest one above it within your folders"`
	From         string   `json:"from,omitempty" jsonschema:"where the instructions stand"`
	Entries      []string `json:"entries" jsonschema:"what is in the folder; folders end with /"`
	Note         string   `json:"note"`
}

const (
	maxInstructions = 24 << 10 // bytes of a CLAUDE.md that are shown
	maxEntries      = 100
)

// setDirectory says what there is to know of a folder. The client keeps its own
// working folder; the agent goes there by cd.
func (c *call) setDirectory(_ context.Context, in directoryArguments) (*directory, error) {
	path, err := c.within(in.Path)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	d := &directory{Path: path, Entries: []string{}, Note: fmt.Sprintf("Work there from now on: begin shell commands with cd %s, and name files by their whole path. Your conversation goes on.", path)}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		if len(d.Entries) == maxEntries {
			d.Note += fmt.Sprintf(" The first %d of %d entries are listed.", maxEntries, len(entries))
			break
		}
		d.Entries = append(d.Entries, name)
	}
	for dir := path; ; dir = filepath.Dir(dir) {
		if _, err := c.within(dir); err != nil {
			return d, nil // above there is nothing of the agent's own
		}
		file, err := c.within(filepath.Join(dir, "CLAUDE.md"))
		if err != nil {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		d.From = file
		d.Instructions = strings.ToValidUTF8(string(data[:min(len(data), maxInstructions)]), "")
		if len(data) > maxInstructions {
			d.Note += fmt.Sprintf(" The instructions are cut; read %s for the rest.", file)
		}
		return d, nil
	}
}

func (d *directory) readable() string {
	var t text
	t.line("%s: %s", d.Path, strings.Join(d.Entries, " "))
	t.note(d.Note)
	if d.Instructions != "" {
		t.line("")
		t.line("%s says:", d.From)
		t.line("%s", strings.TrimRight(d.Instructions, "\n"))
	}
	return t.String()
}
