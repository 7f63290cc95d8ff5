//go:build linux

package main

import (
	"fmt"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/compat"
)

// pageOf returns the documentation page: a table of the recorded answers of two versions,
// the oldest and the newest, and the shapes in which they differ.
func pageOf(versions []string, all map[string]compat.Recording) string {
	return fmt.Sprintf(`# Compatibility

claude-swarm works with Claude Code %[1]s to %[2]s. The end-to-end tests run with the oldest and the newest of these
versions. `+"`claude-swarm doctor`"+` prints the version that it finds. It reports an older version as an error. For a newer
version, it says what [`+"`claude-swarm compat`"+`](#your-own-client) has found out about it on your machine.

`+"```console"+`
$ npm install -g @anthropic-ai/claude-code@%[2]s
`+"```"+`

The table lists the facts on which claude-swarm relies, and how each version behaves. `+"`make compat`"+` runs the experiment
of each fact with the real programs, against a scripted API, in a network namespace with loopback only. If claude-swarm
does not work with a version's behavior, the cell is **bold**, and `+"`make compat`"+` fails.

%[3]s
%[4]s## Your own client

`+"[`claude-swarm compat`](../command-line.md#compat)"+` runs the same experiments with your client, without an account. If it says
**differs**, claude-swarm works with the answer, but a model may react differently to the form of the request or output.

## Other versions

You can also test versions outside the range. `+"`make newest`"+` asks npm for the newest version of each client, tests it, and
either moves the range or prints what differs.

`+"```console"+`
$ make compat VERSIONS="%[1]s %[2]s"
$ make newest
`+"```"+`
`, versions[0], versions[1], table(versions, all), forms(versions, all))
}

// table returns a Markdown table with a row for each fact and a column for each version.
func table(versions []string, all map[string]compat.Recording) string {
	var b strings.Builder
	b.WriteString("| fact | needed for |")
	for _, v := range versions {
		b.WriteString(" " + v + " |")
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" --- |", len(versions)) + "\n")
	for _, f := range compat.Facts() {
		fmt.Fprintf(&b, "| %s | %s |", f.Claim, f.Need)
		for _, v := range versions {
			got := all[v].Facts[f.Name]
			text := strings.ReplaceAll(got.Text, "|", `\|`)
			if !f.Good(got.Text) {
				text = "**" + text + "**"
			}
			b.WriteString(" " + text + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// longest is the length of a line of a form, in runes. The recordings have the whole text.
const longest = 200

// forms returns the section with the facts whose shapes differ between the versions.
func forms(versions []string, all map[string]compat.Recording) string {
	var b strings.Builder
	for _, f := range compat.Facts() {
		was, is := all[versions[0]].Facts[f.Name].Shape, all[versions[1]].Facts[f.Name].Shape
		if was == is {
			continue
		}
		fmt.Fprintf(&b, "%s:\n\n```diff\n", f.Claim)
		for _, line := range compat.Difference(was, is) {
			if begin := []rune(line); len(begin) > longest {
				line = string(begin[:longest]) + "…"
			}
			b.WriteString(line + "\n")
		}
		b.WriteString("```\n\n")
	}
	if b.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("## The forms that changed\n\nThese requests and outputs of %[1]s (-) and %[2]s (+) have different forms. Their texts are shortened (the\nrecordings in internal/compat have more); ids, paths, dates, numbers and versions are replaced by words.\n\n%[3]s", versions[0], versions[1], b.String())
}
