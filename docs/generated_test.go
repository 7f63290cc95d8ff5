package docs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// The reference of the configuration is what the program knows of its keys.
func TestConfigurationPage(t *testing.T) {
	var b strings.Builder
	sections := []struct{ prefix, title string }{
		{"", "The top level"},
		{"agents.NAME.", "An agent"},
		{"log.", "Logs"},
		{"topics.", "Topics"},
		{"audit.", "The audit trail"},
		{"retention.", "Retention"},
	}
	told := 0
	for _, s := range sections {
		fmt.Fprintf(&b, "## %s\n\n| key | type | default | what it does |\n| --- | --- | --- | --- |\n", s.title)
		for _, k := range config.Keys() {
			name, ok := strings.CutPrefix(k.Path, s.prefix)
			if !ok || strings.Contains(name, ".") {
				continue
			}
			told++
			fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s |\n", k.Path, cell(k.Type), cell(k.Default), cell(k.Doc))
		}
		b.WriteString("\n")
	}
	if all := len(config.Keys()); told != all {
		t.Errorf("%d keys are in a section of the page, of %d", told, all)
	}
	fill(t, "configuration.md", "keys", b.String())

	later := config.Later()
	for i, name := range later {
		later[i] = "`" + name + "`"
	}
	fill(t, "configuration.md", "later", strings.Join(later, ", ")+".")
}

// cell makes text fit into a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// The reference of the command line is the program's own help.
func TestCommandLinePage(t *testing.T) {
	var b strings.Builder
	for _, v := range verbs(t).all()[1:] {
		if !strings.Contains(v.help, "\nExample") && len(v.subs) == 0 {
			t.Errorf("help %s has no example", v.name())
		}
		fmt.Fprintf(&b, "## %s\n\n```text\n%s```\n\n", v.name(), visible(v.help))
	}
	fill(t, "command-line.md", "verbs", b.String())
}

// visible is a help text without options that nothing is said about.
func visible(help string) string {
	var b strings.Builder
	for line := range strings.Lines(help) {
		m := entry.FindStringSubmatch(line)
		if m != nil && strings.HasPrefix(m[1], "--") && m[2] == "" && !strings.Contains(strings.TrimSpace(m[1]), " ") {
			continue
		}
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}
