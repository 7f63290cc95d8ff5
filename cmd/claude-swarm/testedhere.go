package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/compat"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// testHere is the command that tests a client on this machine.
const testHere = "claude-swarm compat"

// testedHere returns what claude-swarm compat has found out about a command, or nil if
// nothing is known about it, or the cache cannot be read. version, if it is known, must be
// the tested one.
func testedHere(command []string, version string) *compat.Result {
	cache, err := compat.UserCache()
	if err != nil {
		return nil
	}
	r, err := cache.Find(command)
	if err != nil || r == nil || version != "" && r.Version != version {
		return nil
	}
	return r
}

// doctorTested is [testedHere] for doctor.
func doctorTested(command []string, version string) (words string, holds bool) {
	r := testedHere(command, version)
	if r == nil {
		return "", false
	}
	return r.String(), r.Count(compat.Yes) == len(r.Answers)
}

// writeNewer tells which of the agents' programs are newer than the supported range, and
// whether they were tested here. It starts no program: a version is known from a turn or
// from a test.
func writeNewer(w io.Writer, file *config.File, agents []swarm.AgentStatus) {
	var told [][]string
	for _, a := range file.Agents {
		if a.Backend != claude.Kind().Name || slices.ContainsFunc(told, func(c []string) bool { return slices.Equal(c, a.Client.Command) }) {
			continue
		}
		told = append(told, a.Client.Command)
		version := ""
		for _, st := range agents {
			if v, ok := strings.CutPrefix(st.Client, claude.Kind().Name+" "); ok && st.Name == a.Name {
				version = v
			}
		}
		r := testedHere(a.Client.Command, "")
		if r != nil {
			version = r.Version
		}
		if version == "" || claude.Against(version) <= 0 {
			continue
		}
		words := "not tested here   next: " + testHere
		if r != nil {
			words = r.String()
			if r.Count(compat.Yes) < len(r.Answers) {
				words += "   see: " + testHere
			}
		}
		fmt.Fprintf(w, "Claude Code %s is newer than %s; %s\n", screen.OneLine(version), claude.Newest, words)
	}
}
