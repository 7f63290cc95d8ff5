package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// version is the program's version, as set by the linker (make build).
var version = "dev"

// Groups of verbs in the help.
const (
	groupMail    = "mail"
	groupTopics  = "topics"
	groupDaemon  = "the daemon"
	groupAgents  = "the agents"
	groupProject = "the project"
)

// jsonFlag returns the flag --json, which is the same for all verbs that support it.
func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print JSON"}
}

// examples returns the end of a verb's description, which contains command lines that
// work unchanged.
func examples(lines ...string) string {
	head := "\n\nExample:\n"
	if len(lines) > 1 {
		head = "\n\nExamples:\n"
	}
	return head + "  " + strings.Join(lines, "\n  ")
}
