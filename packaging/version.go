package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	semantic = regexp.MustCompile(`^v?((?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.)(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)
	later    = regexp.MustCompile(`^(.+)-(\d+)-(g[0-9a-f]+)$`)
	hash     = regexp.MustCompile(`^[0-9a-f]{7,40}$`)
)

// packageVersion returns the semantic version of packages, which every package manager
// orders in the same way, for a version that git describe --tags --always --dirty prints. A
// commit after a tag has a version between that tag and the next: after v1.2.3 comes
// 1.2.4-0.5.g1a02f50, where 5 counts the commits since the tag. Without a tag, commits counts
// them all.
func packageVersion(described string, commits func() (string, error)) (string, error) {
	clean, isDirty := strings.CutSuffix(described, "-dirty")
	dirty := ""
	if isDirty {
		dirty = ".dirty"
	}
	if hash.MatchString(clean) {
		n, err := commits()
		if err != nil {
			return "", err
		}
		return "0.0.0-0." + n + ".g" + clean + dirty, nil
	}
	tag, since := clean, ""
	if m := later.FindStringSubmatch(clean); m != nil {
		tag, since = m[1], "."+m[2]+"."+m[3]
	}
	m := semantic.FindStringSubmatch(tag)
	if m == nil {
		return "", fmt.Errorf("%q is not a version that packages can have\n  try: make packages VERSION=1.2.3", described)
	}
	base, patch, pre := m[1], m[2], m[3]
	switch {
	case since == "" && !isDirty:
		return base + patch + pre, nil
	case pre != "":
		return base + patch + pre + ".0" + since + dirty, nil
	}
	n, err := strconv.Atoi(patch)
	if err != nil {
		return "", err
	}
	return base + strconv.Itoa(n+1) + "-0" + since + dirty, nil
}
