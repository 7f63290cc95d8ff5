package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ownProgram returns the path of this program, without symbolic links. Hooks, tool servers
// and the agents' PATH name this path, so they call the program itself even if a person
// calls it by a link or through npm's launcher.
func ownProgram() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	return path, nil // the file has been removed since the start
}

// npmInstallScript returns the path of the script that replaces npm's launcher by this
// program, if that launcher is the parent of this process, and otherwise "". The launcher
// names its process and the script in the environment, which all processes below it inherit.
func npmInstallScript() string {
	pid, script, _ := strings.Cut(os.Getenv("CLAUDE_SWARM_LAUNCHER"), " ")
	if pid != strconv.Itoa(os.Getppid()) {
		return ""
	}
	return script
}
