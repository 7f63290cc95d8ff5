package swarm_test

import (
	"testing"

	"go.uber.org/goleak"
)

// The log rotator of an agent keeps one goroutine for good once it has written;
// that is the library's way. Everything else must have ended.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).millRun"))
}
