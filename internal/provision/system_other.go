//go:build !linux

package provision

import (
	"os/exec"
	"strconv"
	"strings"
)

// watches has no limit to check on these systems: kqueue uses a file descriptor for each
// folder, and the Go runtime raises the limit on file descriptors.
func (e *checkup) watches() {}

// processesWith calls f for each process that was started with entry in its environment.
// It passes to f the words of the command and environment that ps prints.
func processesWith(entry string, f func(pid int, environ []string)) {
	out, err := exec.Command("ps", "-axEww", "-o", "pid=,command=").Output()
	if err != nil {
		return
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		for i, word := range words {
			if i > 0 && word == entry {
				if pid, err := strconv.Atoi(words[0]); err == nil {
					f(pid, words[1:])
				}
				break
			}
		}
	}
}
