package mcpserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// folders are the folders in which the caller may work. The lead may attach files only from
// these folders; see [mail.attach].
type folders struct {
	own     []string // absolute
	base    string   // the folder that relative paths start from
	daemons string   // the daemon's folder, which no caller may access
}

func foldersOf(c *call) folders {
	f := folders{own: c.Folders, base: c.Project, daemons: c.Home.Dir()}
	if spec, ok := c.spec(c.Me.Name); ok {
		f.base = spec.Client.Dir
	}
	return f
}

// within resolves a path given by the caller, follows symbolic links, and checks that the
// result is in one of the caller's folders.
func (f folders) within(path string) (string, error) {
	path = f.absolute(path)
	real, err := filepath.EvalSymlinks(path)
	if os.IsNotExist(err) {
		return "", fmt.Errorf("%s does not exist", path)
	} else if err != nil {
		return "", err
	}
	if home, err := filepath.EvalSymlinks(f.daemons); err == nil && inside(home, real) {
		return "", fmt.Errorf("%s belongs to the daemon", path) // it contains the tokens of all agents
	}
	for _, folder := range f.own {
		if home, err := filepath.EvalSymlinks(folder); err == nil && inside(home, real) {
			return real, nil
		}
	}
	return "", fmt.Errorf("%s is outside your folders: %s", path, strings.Join(f.own, ", "))
}

// absolute resolves a path relative to the caller's working folder.
func (f folders) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(f.base, path)
}

// inside reports whether path is folder or is in folder. Both must be absolute and free
// of symbolic links.
func inside(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

type directoryArguments struct {
	Path string `json:"path" jsonschema:"absolute, or relative to your working folder"`
}

// A directory is the result of set_directory.
type directory struct {
	Path         string   `json:"path" jsonschema:"the folder, without symbolic links"`
	Instructions string   `json:"instructions,omitempty" jsonschema:"the CLAUDE.md of the folder, or the nearest one above it within your folders"`
	From         string   `json:"from,omitempty" jsonschema:"the file that they come from"`
	Entries      []string `json:"entries" jsonschema:"what is in the folder; folders end with /"`
	Note         string   `json:"note"`
}

const (
	maxInstructions = 24 << 10 // how much of a CLAUDE.md is shown, in bytes
	maxEntries      = 100
)

// enter returns the description of a folder. The client does not change its working
// folder; the agent changes to the new folder with cd.
func (f folders) enter(_ context.Context, in directoryArguments) (*directory, error) {
	path, err := f.within(in.Path)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	d := &directory{Path: path, Entries: []string{}, Note: fmt.Sprintf("Work there from now on: begin shell commands with cd %s, and name files by their full path. Your conversation continues.", path)}
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
		if _, err := f.within(dir); err != nil {
			return d, nil // the parent folders are outside the caller's folders
		}
		file, err := f.within(filepath.Join(dir, "CLAUDE.md"))
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
			d.Note += fmt.Sprintf(" The instructions are truncated; read %s for the rest.", file)
		}
		return d, nil
	}
}

func (d *directory) readable() string {
	var t text
	t.line("%s: %s", d.Path, strings.Join(d.Entries, " "))
	t.remark(d.Note)
	if d.Instructions != "" {
		t.line("")
		t.line("%s says:", d.From)
		t.line("%s", strings.TrimRight(d.Instructions, "\n"))
	}
	return t.String()
}
