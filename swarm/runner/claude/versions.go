package claude

import (
	"cmp"
	"strconv"
	"strings"

	claudeswarm "github.com/claude-swarm/claude-swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// locked is the client's line in clients.lock. Every documented guarantee of claude-swarm is
// tested with two of its versions: the oldest supported one, and the newest one at the time
// of this claude-swarm release.
var locked = func() claudeswarm.Client {
	c, ok := claudeswarm.Find("claude")
	if !ok {
		panic("clients.lock does not name claude")
	}
	return c
}()

// Oldest and Newest are the ends of the supported range; Supported is the range as text, for
// documentation and messages. They never change while the program runs.
var (
	Oldest    = locked.Oldest
	Newest    = locked.Newest
	Supported = Oldest + " to " + Newest
)

// readVersion parses a line such as "2.1.197 (Claude Code)".
func readVersion(line string) (version string, fit runner.Fit) {
	version, _, _ = strings.Cut(line, " ")
	if version == "" || version[0] < '0' || version[0] > '9' {
		return "", runner.Foreign
	}
	switch Against(version) {
	case -1:
		return version, runner.TooOld
	case 1:
		return version, runner.Untested
	}
	return version, runner.Tested
}

// Against compares a version such as "2.1.197" with the supported range: -1 means below the
// range, 0 within it, and 1 above it. Only the leading digits of each part of a version are
// compared; a part without leading digits counts as 0. The text after a hyphen is ignored,
// so "2.1.330-beta.1" is treated as 2.1.330.
func Against(version string) int {
	version, _, _ = strings.Cut(version, "-")
	switch {
	case CompareVersions(version, Oldest) < 0:
		return -1
	case CompareVersions(version, Newest) > 0:
		return 1
	}
	return 0
}

// CompareVersions compares the parts of two versions as numbers, one by one. A missing
// part counts as 0.
func CompareVersions(a, b string) int {
	for a != "" || b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		if c := cmp.Compare(leading(x), leading(y)); c != 0 {
			return c
		}
	}
	return 0
}

// leading returns the number at the beginning of a part, or 0 if the part does not begin
// with a digit.
func leading(part string) int {
	digits := len(part) - len(strings.TrimLeft(part, "0123456789"))
	n, _ := strconv.Atoi(part[:digits])
	return n
}
