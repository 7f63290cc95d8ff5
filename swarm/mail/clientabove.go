package mail

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// ancestry is the maximum number of ancestor processes that a hook checks to find the
// client that called it.
const ancestry = 8

// shells are the programs through which a client may start a hook.
var shells = []string{"sh", "bash", "dash", "zsh", "fish", "ash", "busybox"}

// clientAbove returns the process that called a hook: the nearest ancestor that is not a
// shell.
func clientAbove(pid int) (runner.Process, error) {
	for _, p := range runner.Ancestors(pid, ancestry) {
		if !slices.Contains(shells, strings.TrimPrefix(filepath.Base(programOf(p.PID)), "-")) {
			return p, nil
		}
	}
	return runner.Process{}, errors.New("the client that called this hook was not found among its parents")
}

func programOf(pid int) string {
	if name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm"); err == nil {
		return strings.TrimSpace(string(name))
	}
	name, _ := exec.Command("ps", "-o", "comm=", "-p", strconv.Itoa(pid)).Output()
	return strings.TrimSpace(string(name))
}
