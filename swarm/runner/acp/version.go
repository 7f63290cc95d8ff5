package acp

import (
	"regexp"
	"sync"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

var versionNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[ /v])(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)`)
})

// readVersion parses the line that the program prints for --version. It reports versions
// other than the tested one as Untested, because they may also work.
func (c *Client) readVersion(line string) (version string, fit runner.Fit) {
	found := versionNumber().FindStringSubmatch(line)
	switch {
	case found == nil:
		return "", runner.Foreign
	case found[1] == c.Tested:
		return found[1], runner.Tested
	}
	return found[1], runner.Untested
}
