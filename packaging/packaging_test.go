package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPackageVersion(t *testing.T) {
	commits := func() (string, error) { return "42", nil }
	for described, want := range map[string]string{
		"v1.2.3":                        "1.2.3",
		"1.2.3":                         "1.2.3",
		"v1.2.3-rc.1":                   "1.2.3-rc.1",
		"v1.2.3-5-g1a02f507":            "1.2.4-0.5.g1a02f507",
		"v1.2.9-5-g1a02f507-dirty":      "1.2.10-0.5.g1a02f507.dirty",
		"v1.2.3-dirty":                  "1.2.4-0.dirty",
		"v1.2.3-rc.1-5-g1a02f507":       "1.2.3-rc.1.0.5.g1a02f507",
		"v1.2.3-rc.1-5-g1a02f507-dirty": "1.2.3-rc.1.0.5.g1a02f507.dirty",
		"1a02f507":                      "0.0.0-0.42.g1a02f507",
		"0123456789":                    "0.0.0-0.42.g0123456789", // a semantic version has no number with a leading zero
		"1a02f507-dirty":                "0.0.0-0.42.g1a02f507.dirty",
		"dev":                           "",
		"":                              "",
		"v1.2":                          "",
		"v01.2.3":                       "",
		"v1.2.3/../..":                  "",
	} {
		got, err := packageVersion(described, commits)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("the version for %q is %q (%v), want %q", described, got, err, want)
		}
	}
	lost := errors.New("no repository")
	if _, err := packageVersion("1a02f507", func() (string, error) { return "", lost }); !errors.Is(err, lost) {
		t.Errorf("without a count of the commits: %v", err)
	}
}

func TestParsePlatforms(t *testing.T) {
	if all, err := parsePlatforms(""); len(all) != 4 || err != nil {
		t.Errorf("without a name: %v, %v", all, err)
	}
	if some, err := parsePlatforms("darwin/arm64,linux/amd64"); len(some) != 2 || some[0] != (platform{"darwin", "arm64"}) || err != nil {
		t.Errorf("two platforms: %v, %v", some, err)
	}
	if _, err := parsePlatforms("linux/mips"); err == nil || !strings.Contains(err.Error(), "linux/arm64") {
		t.Errorf("an unknown platform: %v", err)
	}
}

const changelog = `# Changelog

Text.

## Unreleased

### Added

- new

## [1.2.3] (2026-11-28)

- old

## 1.2.2
`

func TestChangesOf(t *testing.T) {
	for version, want := range map[string]string{"1.2.3": "- old", "1.2.4": "### Added\n\n- new"} {
		if got, err := changesOf(changelog, version); got != want || err != nil {
			t.Errorf("the changes of %s: %q, %v; want %q", version, got, err, want)
		}
	}
	if got, err := changesOf("# Changelog\n\n## 1.0.0\n\n- old\n", "1.0.1"); err == nil {
		t.Errorf("a changelog without a section for the version gives %q", got)
	}
}

// A release replaces the files of an earlier one, and no others.
func TestARelease(t *testing.T) {
	r := release{order: order{out: t.TempDir()}, version: "1.2.3", time: time.Unix(1_700_000_000, 0)}
	for _, name := range []string{"claude-swarm_1.2.2_linux_amd64.tar.gz", "mine.tar.gz"} {
		if err := os.WriteFile(filepath.Join(r.out, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.prepare(); err != nil {
		t.Fatal(err)
	}
	const name = "claude-swarm_1.2.3_linux_amd64.tar.gz"
	if err := r.tarball(name, "top/", []file{{"bin/claude-swarm", 0o755, []byte("program")}, {"share/x", 0o644, []byte("page")}}); err != nil {
		t.Fatal(err)
	}
	if err := r.checksums(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(r.out)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got, want := strings.Join(names, " "), "checksums.txt "+name+" mine.tar.gz"; got != want {
		t.Errorf("the folder has %s, want %s", got, want)
	}

	data, err := os.ReadFile(filepath.Join(r.out, name))
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for files := tar.NewReader(zip); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, h.FileInfo().Mode().String()+" "+h.Name+" "+string(text))
		if !h.ModTime.Equal(r.time) {
			t.Errorf("%s has the time %s, want %s", h.Name, h.ModTime, r.time)
		}
	}
	if got, want := strings.Join(list, "\n"), "-rwxr-xr-x top/bin/claude-swarm program\n-rw-r--r-- top/share/x page"; got != want {
		t.Errorf("the package contains\n%s\nwant\n%s", got, want)
	}
}
