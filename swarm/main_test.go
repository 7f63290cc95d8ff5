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

// The log rotator of an agent keeps one goroutine for good once it has written;
// that is the library's way. Everything else must have ended.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asClient) != "":
		os.Exit(standin.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	case os.Getenv(asVictim) != "":
		os.Exit(victimMain(os.Getenv(asVictim)))
	}
	// Orphans of the clients become ours, as they do in the daemon.
	if err := runner.BecomeReaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}
