// Acp is the stand-in from package acpstandin, built as a program. Tests run it in place of
// an agent that supports the Agent Client Protocol.
//
//	go build -o bin/ ./internal/testkit/acpstandin/acp
package main

import (
	"os"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acpstandin"
)

func main() {
	os.Exit(acpstandin.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
