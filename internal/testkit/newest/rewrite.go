package main

import (
	"fmt"
	"regexp"
	"strings"

	claudeswarm "github.com/claude-swarm/claude-swarm"
)

// moved returns the client's line for a release. Only Claude Code is tested with more than
// one version.
func moved(c claudeswarm.Client, r release) claudeswarm.Client {
	c.Newest, c.Published = r.Version, r.Published
	if c.Name != "claude" {
		c.Oldest = r.Version
	}
	if name, _, ok := strings.Cut(c.Brings, "@"); ok {
		for need, wanted := range r.Needs {
			if need == name || strings.HasSuffix(need, "/"+name) {
				c.Brings = name + "@" + span(wanted)
			}
		}
	}
	return c
}

// span writes a range of npm's below 1.0 in words: ^0.166.0 is 0.166.x.
func span(wanted string) string {
	if m := regexp.MustCompile(`^[\^~](0\.\d+)\.\d+$`).FindStringSubmatch(wanted); m != nil {
		return m[1] + ".x"
	}
	return wanted
}

// relock returns the text of clients.lock with other clients, in columns.
func relock(text string, clients []claudeswarm.Client) string {
	rows := [][]string{nil}
	for _, c := range clients {
		brings := c.Brings
		if brings == "" {
			brings = "-"
		}
		rows = append(rows, []string{c.Name, c.Package, c.Program, c.Oldest, c.Newest, c.Published, brings})
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# name "); ok {
			rows[0] = append([]string{"# name"}, strings.Fields(rest)...)
			continue
		}
		b.WriteString(line)
	}
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len(cell))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += fmt.Sprintf("%-*s", width[i]+2, cell)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// renamed replaces the supported range of Claude Code in a page, and the newest version in
// the demo's output.
func renamed(text string, was, is claudeswarm.Client) string {
	text = strings.ReplaceAll(text, was.Oldest+" to "+was.Newest, is.Oldest+" to "+is.Newest)
	return strings.ReplaceAll(text, "claude "+was.Newest+" (supported", "claude "+is.Newest+" (supported")
}

// noted adds a line about each client to the part Changed of the unreleased changes.
func noted(changelog string, titles []string) (string, error) {
	_, unreleased, ok := strings.Cut(changelog, "\n## Unreleased\n")
	head := "\n### Changed\n\n"
	at := strings.Index(unreleased, head)
	if next := strings.Index(unreleased, "\n## "); !ok || at < 0 || next >= 0 && next < at {
		return "", fmt.Errorf("CHANGELOG.md has no part Changed below Unreleased")
	}
	at += len(changelog) - len(unreleased) + len(head)
	lines := ""
	for _, title := range titles {
		lines += "- Tested with " + title + ".\n"
	}
	return changelog[:at] + lines + changelog[at:], nil
}
