package swarm_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"github.com/claude-swarm/claude-swarm/internal/testkit/standin"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// If the environment variable asClient is set, the test binary acts as the stand-in
// client.
const asClient = "SWARM_TEST_CLIENT"

// An agent's log rotator starts one goroutine that never ends, because the library
// provides no way to stop it. Every other goroutine must have ended.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asClient) != "":
		os.Exit(standin.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	case os.Getenv(asVictim) != "":
		os.Exit(victimMain(os.Getenv(asVictim)))
	}
	// Like the daemon, this process adopts the orphaned processes of the clients.
	if err := runner.BecomeReaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Most of the parallel tests wait for a client's timer, not for a processor.
	flag.Parse()
	if n := flag.Lookup("test.parallel"); n.Value.String() == n.DefValue {
		if err := n.Value.Set(strconv.Itoa(3 * runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}
