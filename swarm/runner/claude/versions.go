package claude

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Every promise that claude-swarm makes is tested with these two versions of Claude Code:
// the oldest supported version, and the newest one at the time of this release of
// claude-swarm. The Makefile reads both from here and installs them, and the tests run the
// real programs.
const (
	Oldest = "2.1.197"
	Newest = "2.1.330"
)

// Default is the version that tests, demo and README run by default.
const Default = Newest

// Supported is the range as text, for pages and messages.
const Supported = Oldest + " to " + Newest

// readVersion reads a line such as "2.1.197 (Claude Code)".
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

// Against compares a version such as "2.1.197" with the supported range: -1 means below it,
// 0 in it, 1 above it. A part of a version counts by its leading digits, or as 0 if it has
// none. The part after a hyphen does not count: "2.1.330-beta.1" compares like 2.1.330.
func Against(version string) int {
	version, _, _ = strings.Cut(version, "-")
	switch {
	case compareVersions(version, Oldest) < 0:
		return -1
	case compareVersions(version, Newest) > 0:
		return 1
	}
	return 0
}

// compareVersions compares part by part, as numbers. A missing part is 0.
func compareVersions(a, b string) int {
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

// leading returns the number at the beginning of a part, or 0 without such a number.
func leading(part string) int {
	digits := len(part) - len(strings.TrimLeft(part, "0123456789"))
	n, _ := strconv.Atoi(part[:digits])
	return n
}
