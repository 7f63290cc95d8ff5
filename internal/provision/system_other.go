//go:build !linux

package provision

import (
	"os/exec"
	"strconv"
	"strings"
)

// watches has no limit to check here: kqueue takes a file descriptor for each folder, and
// Go raises that limit itself.
func (e *checkup) watches() {}

// processesWith calls f for each process that has entry in the environment it was started
// with, and passes to f the words of its command and environment that ps shows.
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
