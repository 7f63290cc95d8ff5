package docs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/mcpserver"
)

// The configuration reference is generated from the program's keys.
func TestConfigurationPage(t *testing.T) {
	var b strings.Builder
	sections := []struct{ prefix, title string }{
		{"", "The top level"},
		{"agents.NAME.", "An agent"},
		{"policy.", "Policy"},
		{"budget.", "Budget"},
		{"irc.", "IRC"},
		{"supervisor.", "The supervisor"},
		{"log.", "Logs"},
		{"topics.", "Topics"},
		{"audit.", "The audit trail"},
		{"retention.", "Retention"},
		{"hours.", "Hours"},
		{"notices.", "Notices"},
	}
	told := 0
	for _, s := range sections {
		fmt.Fprintf(&b, "## %s\n\n| key | type | default | what it does |\n| --- | --- | --- | --- |\n", s.title)
		for _, k := range config.Keys() {
			name, ok := strings.CutPrefix(k.Path, s.prefix)
			if !ok || s.prefix == "" && strings.Contains(name, ".") {
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
}

// cell escapes text for use in a table cell.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// The command-line reference consists of the program's own help texts.
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

// The page on the agents' tools is generated from the MCP server.
func TestToolsPage(t *testing.T) {
	var b strings.Builder
	explained := map[string]string{}
	for _, tool := range mcpserver.New(mcpserver.Options{IRC: true, Budget: true}).Tools() {
		fmt.Fprintf(&b, "### %s\n\n%s\n\n", tool.Name, tool.Description)
		in := tool.Input
		if len(in.Properties) > 0 {
			b.WriteString("| argument | type | what it is |\n| --- | --- | --- |\n")
			for _, p := range in.Properties {
				need := ""
				if slices.Contains(in.Required, p.Name) {
					need = ", required"
				}
				if p.Description == "" {
					t.Errorf("%s says nothing of its argument %s", tool.Name, p.Name)
				}
				fmt.Fprintf(&b, "| `%s` | %s%s | %s |\n", p.Name, cell(schemaType(p.Schema)), need, cell(p.Description))
			}
			b.WriteString("\n")
		}
		b.WriteString("Returns " + partsOf(tool.Output, explained) + ".\n\n")
	}
	fill(t, "agents-tools.md", "tools", b.String())
}

// schemaType describes the allowed values of a schema.
func schemaType(s *mcpserver.Schema) string {
	switch {
	case len(s.Enum) > 0:
		return strings.Join(s.Enum, " | ")
	case s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf("%s, %v to %v", s.Type, *s.Minimum, *s.Maximum)
	case s.Type == "array":
		return "list of " + s.Items.Type + "s"
	}
	return s.Type
}

// partsOf lists the fields of a result, including nested fields. A field is only named if
// the last explanation of a field with this name applies here as well.
func partsOf(s *mcpserver.Schema, explained map[string]string) string {
	var list []string
	for _, property := range s.Properties {
		p, text := property.Schema, "`"+property.Name+"`"
		if p.Items != nil && len(p.Items.Properties) > 0 {
			p = p.Items
		}
		if p.Description != "" && explained[property.Name] != p.Description {
			explained[property.Name] = p.Description
			text += " (" + p.Description + ")"
		}
		if len(p.Properties) > 0 {
			text += ": {" + partsOf(p, explained) + "}"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// visible returns a help text with only those options that have a description.
func visible(help string) string {
	var b strings.Builder
	lines := slices.Collect(strings.Lines(help))
	for i, line := range lines {
		m := entry.FindStringSubmatch(line)
		said := i+1 < len(lines) && strings.HasPrefix(lines[i+1], "     ") // the description is on the next line, below a long name
		if m != nil && strings.HasPrefix(m[1], "--") && m[2] == "" && !said {
			continue
		}
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}
