package claude

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// The range of Claude Code versions that every promise is tested with: the oldest one
// that is supported, and the newest one that was published when this version of
// claude-swarm was made. The Makefile reads both from here, installs them, and the
// tests run the real programs.
const (
	Oldest = "2.1.197"
	Newest = "2.1.330"
)

// Default is the version that tests, demo and README run where none is named.
const Default = Newest

// Supported is the range in words, for pages and messages.
const Supported = Oldest + " to " + Newest

// readVersion reads "2.1.197 (Claude Code)".
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

// Against says where a version such as "2.1.197" stands: -1 below the supported range, 0 in
// it, 1 above it. A part counts by the digits that it begins with, and without any as 0.
// The part after a hyphen does not count: "2.1.330-beta.1" compares like 2.1.330.
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

// compareVersions compares part by part, by number. A part that is missing is 0.
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

// leading is the number that a part begins with; 0 where it begins with no digit.
func leading(part string) int {
	digits := len(part) - len(strings.TrimLeft(part, "0123456789"))
	n, _ := strconv.Atoi(part[:digits])
	return n
}
