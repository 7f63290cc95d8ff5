//go:build linux

package main

import (
	"fmt"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// pageOf returns the documentation page that contains the table.
func pageOf(versions []string, answers [][]answer) string {
	return fmt.Sprintf(`# Compatibility

claude-swarm works with Claude Code %[1]s to %[2]s. The end-to-end tests run with the oldest and the newest of these
versions. `+"`claude-swarm doctor`"+` prints the version that it finds. It reports an older version as an error. For a newer
version, which may work, it prints only a remark; if something does not work, please report it with the version.

`+"```console"+`
$ npm install -g @anthropic-ai/claude-code@%[2]s
`+"```"+`

`+"`make compat`"+` prints the table. It runs each experiment with the real programs, against a scripted API, in a network
namespace with loopback only. The table lists the facts on which claude-swarm relies, and how each version behaved.
If claude-swarm did not work with a version's behavior, the cell would be **bold**, and `+"`make compat`"+` would fail.

%[3]s
You can also test versions outside the range:

`+"```console"+`
$ make compat VERSIONS="%[1]s %[2]s"
`+"```"+`
`, claude.Oldest, claude.Newest, table(versions, answers))
}

// table returns a Markdown table with a row for each fact and a column for each version.
func table(versions []string, answers [][]answer) string {
	var b strings.Builder
	b.WriteString("| fact | needed for |")
	for _, v := range versions {
		b.WriteString(" " + v + " |")
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" --- |", len(versions)) + "\n")
	for j, f := range facts {
		fmt.Fprintf(&b, "| %s | %s |", f.claim, f.need)
		for i := range versions {
			a := answers[i][j]
			text := strings.ReplaceAll(a.text, "|", `\|`)
			if !a.good {
				text = "**" + text + "**"
			}
			b.WriteString(" " + text + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}
