package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/provision"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// warnMissing prints a warning for agents whose client program is missing. The daemon
// starts anyway, because a person may install the program later or the agent may receive
// no work.
func warnMissing(w io.Writer, file *config.File, names []string) {
	type missing struct {
		program, why string
		agents       []string
	}
	var all []*missing
	self, _ := ownProgram() // if the path is unknown, the program's folder is not searched
	found := map[string]error{}
	for _, a := range file.Agents {
		if len(names) > 0 && !slices.Contains(names, a.Name) {
			continue
		}
		program := a.Client.Command[0]
		env := pathOf(a, self)
		key := strings.Join(append(env, program), "\n")
		err, known := found[key]
		if !known {
			_, err = runner.LookPath(program, a.Client.Dir, env)
			found[key] = err
		}
		if err == nil {
			continue
		}
		i := slices.IndexFunc(all, func(m *missing) bool { return m.program == program })
		if i < 0 {
			i = len(all)
			all = append(all, &missing{program: program, why: whyMissing(program, err)})
		}
		all[i].agents = append(all[i].agents, a.Name)
	}
	for _, m := range all {
		next := "command: in " + file.Path
		for _, k := range backends.Kinds() {
			if m.program == k.Program() {
				next = k.Install + ", or " + next
			}
		}
		fmt.Fprintf(w, "claude-swarm: %s cannot work: %s\n  try: %s\n", screen.Cut(strings.Join(m.agents, ", "), 200), m.why, next)
	}
}

// warnUnsorted prints a warning for each kind of client that offers tools which this version
// does not know, and which at least one agent therefore does not get.
func warnUnsorted(w io.Writer, p *project) {
	for _, t := range provision.UnsortedTools(p.home, p.file.Agents) {
		fmt.Fprintf(w, "claude-swarm: %s\n  try: %s\n", t.Why, t.Next)
	}
}

// warnUnread prints a warning for missing files that agents are told to read first. The
// agents work even without these files.
func warnUnread(w io.Writer, file *config.File, names []string) {
	told := map[string][]string{} // maps the absolute path of a missing file to the agents that must read it
	var paths []string
	for _, a := range file.Agents {
		if a.Attached || len(names) > 0 && !slices.Contains(names, a.Name) {
			continue
		}
		for _, name := range a.Reread {
			path := name
			if !filepath.IsAbs(path) {
				path = filepath.Join(a.Client.Dir, name)
			}
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if told[path] == nil {
				paths = append(paths, path)
			}
			told[path] = append(told[path], a.Name)
		}
	}
	for _, path := range paths {
		fmt.Fprintf(w, "claude-swarm: missing: %s, which %s must read first (reread)\n  try: write it, or remove it from %s\n",
			path, screen.Cut(strings.Join(told[path], ", "), 200), file.Path)
	}
}

// pathOf returns the PATH of an agent's client as an environment with at most one entry.
func pathOf(a config.Agent, self string) []string {
	o := runner.EnvOptions{Drop: a.EnvDrop}
	if path, ok := a.Env["PATH"]; ok {
		o.Add = map[string]string{"PATH": path}
	}
	if self != "" {
		o.BinDir = filepath.Dir(self)
	}
	env := runner.Environ([]string{"PATH=" + os.Getenv("PATH")}, o)
	return slices.DeleteFunc(env, func(v string) bool { return !strings.HasPrefix(v, "PATH=") })
}

func whyMissing(program string, err error) string {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return program + " is not on the PATH"
	case errors.Is(err, fs.ErrNotExist):
		return program + " does not exist"
	}
	return err.Error()
}
