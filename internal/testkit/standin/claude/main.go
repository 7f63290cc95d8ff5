// Claude runs the stand-in of package standin as a program. Tests, torture and the script
// that records testdata/project-v1 run it in place of Claude Code.
//
//	go build -o bin/ ./internal/testkit/standin/claude
package main

import (
	"os"

	"github.com/claude-swarm/claude-swarm/internal/testkit/standin"
)

func main() {
	os.Exit(standin.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
