package follow_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if err := runner.BecomeReaper(); err != nil { // as the daemon does
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
