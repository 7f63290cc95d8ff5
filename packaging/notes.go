package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// notes writes release-notes.md, the draft of what a person publishes with the packages.
func (r *release) notes() error {
	log, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	changes, err := changesOf(string(log), r.version)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# claude-swarm %s\n\n%s\n\n## Files\n\n", r.version, changes)
	b.WriteString("`sha256sum -c --ignore-missing checksums.txt` checks the files that you have downloaded.\n" +
		"docs/install.md says how to install and to remove each of them.\n\n| file | bytes |\n| --- | ---: |\n")
	for _, name := range r.files {
		info, err := os.Stat(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "| `%s` | %d |\n", name, info.Size())
	}
	return os.WriteFile(filepath.Join(r.out, "release-notes.md"), []byte(b.String()), 0o644)
}

// changesOf returns the section of a changelog for a version or, if that version has no
// section yet, the section Unreleased.
func changesOf(log, version string) (string, error) {
	sections := map[string]string{}
	for _, section := range strings.Split("\n"+log, "\n## ")[1:] {
		title, text, _ := strings.Cut(section, "\n")
		// A title can end with the day of the release: "1.2.3 (2026-11-28)".
		title, _, _ = strings.Cut(strings.Trim(title, "[]"), " ")
		sections[strings.Trim(title, "[]v")] = strings.TrimSpace(text)
	}
	for _, title := range []string{version, "Unreleased"} {
		if text := sections[title]; text != "" {
			return text, nil
		}
	}
	return "", errors.New("CHANGELOG.md has neither a section for " + version + " nor a section Unreleased")
}
