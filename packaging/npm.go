package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

//go:embed npm/program.js npm/install.js npm/launcher.js npm/README.md
var npmFiles embed.FS

// An npmManifest is the package.json of a package.
type npmManifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	License     string            `json:"license"`
	Homepage    string            `json:"homepage"`
	Repository  map[string]string `json:"repository"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	Man         []string          `json:"man,omitempty"`
	Scripts     map[string]string `json:"scripts,omitempty"`
	Engines     map[string]string `json:"engines,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
}

func (r *release) manifest(name, description string) npmManifest {
	const home = "https://github.com/claude-swarm/claude-swarm"
	return npmManifest{Name: name, Version: r.version, Description: description, License: "MIT", Homepage: home,
		Repository: map[string]string{"type": "git", "url": "git+" + home + ".git"}}
}

// npmCPU returns the processor of a platform in the words of Node.js.
func (p platform) npmCPU() string {
	if p.arch == "amd64" {
		return "x64"
	}
	return p.arch
}

// npmName returns the name of the npm package with the program for a platform.
func (p platform) npmName() string { return "claude-swarm-" + p.os + "-" + p.npmCPU() }

// npmProgram makes the npm package with the program for a platform. Its command is the
// program, so a person who has only this file can install it alone: without a registry, and
// without an install script.
func (r *release) npmProgram(p platform, program []byte, common []file) error {
	m := r.manifest(p.npmName(), "The program claude-swarm for "+p.os+" on "+p.npmCPU())
	m.OS, m.CPU, m.Bin = []string{p.os}, []string{p.npmCPU()}, npmCommand
	files := m.pages(common)
	about := fmt.Appendf(nil, "# %s\n\nThe program of the package claude-swarm, for %s on %s. https://github.com/claude-swarm/claude-swarm\n", m.Name, p.os, p.npmCPU())
	return r.npmPackage(m, append(files, file{"README.md", 0o644, about}, file{"bin/claude-swarm", 0o755, program}))
}

// npmCommand says which file of a package is the command.
var npmCommand = map[string]string{"claude-swarm": "bin/claude-swarm"}

// npmMain makes the npm package that people install. Its command is a launcher, which its
// install script replaces by the program.
func (r *release) npmMain(common []file) error {
	m := r.manifest("claude-swarm", "Several coding agents on one project: files in folders wake them")
	m.Bin = npmCommand
	m.Scripts = map[string]string{"postinstall": "node install.js"}
	m.Engines = map[string]string{"node": ">=18"}
	m.Optional = map[string]string{}
	for _, p := range platforms {
		m.Optional[p.npmName()] = r.version
	}
	files := m.pages(common)
	for _, f := range []struct {
		from, to string
		mode     int64
	}{
		{"npm/README.md", "README.md", 0o644},
		{"npm/program.js", "program.js", 0o644},
		{"npm/install.js", "install.js", 0o644},
		{"npm/launcher.js", "bin/claude-swarm", 0o755},
	} {
		data, err := npmFiles.ReadFile(f.from)
		if err != nil {
			return err
		}
		files = append(files, file{f.to, f.mode, data})
	}
	return r.npmPackage(m, files)
}

// pages returns the files of all packages that npm packages have too, and names the manual
// pages in the manifest, so that npm install -g installs them.
func (m *npmManifest) pages(common []file) []file {
	var files []file
	for _, f := range common {
		switch {
		case strings.HasPrefix(f.path, "share/man/"):
			page := "man/" + path.Base(f.path)
			files, m.Man = append(files, file{page, 0o644, f.data}), append(m.Man, page)
		case path.Base(f.path) == "LICENSE":
			files = append(files, file{"LICENSE", 0o644, f.data})
		}
	}
	return files
}

// npmPackage writes a package as npm pack does.
func (r *release) npmPackage(m npmManifest, files []file) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		return err
	}
	return r.tarball(m.Name+"-"+r.version+".tgz", "package/", append([]file{{"package.json", 0o644, b.Bytes()}}, files...))
}
