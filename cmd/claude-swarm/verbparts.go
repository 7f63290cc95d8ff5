package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// version is set by the linker (make build).
var version = "dev"

// Groups of verbs in the help.
const (
	groupMail    = "mail"
	groupTopics  = "topics"
	groupDaemon  = "the daemon"
	groupAgents  = "the agents"
	groupProject = "the project"
)

// jsonFlag returns the --json flag, which is the same in every verb that prints facts.
func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print JSON"}
}

// examples returns the end of a verb's description: command lines that work unchanged.
func examples(lines ...string) string {
	head := "\n\nExample:\n"
	if len(lines) > 1 {
		head = "\n\nExamples:\n"
	}
	return head + "  " + strings.Join(lines, "\n  ")
}
