package swarm_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/claude-swarm/claude-swarm/internal/testkit/standin"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// asClient makes the test binary the stand-in client when it is set.
const asClient = "SWARM_TEST_CLIENT"

// The log rotator of an agent starts one goroutine that never ends; its library has no way
// to stop it. Every other goroutine must have ended.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asClient) != "":
		os.Exit(standin.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	case os.Getenv(asVictim) != "":
		os.Exit(victimMain(os.Getenv(asVictim)))
	}
	// This process adopts the orphans of the clients, as the daemon does.
	if err := runner.BecomeReaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}
