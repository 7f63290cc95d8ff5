package swarm_test

import (
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// bubbles contains the *testing.T of every test that runs in a bubble.
var bubbles sync.Map

// inBubble runs a test whose clock is fake: it stands still while the daemon works, and
// jumps to the next timer when nothing is left to do. As a result, a wait takes no time, it
// has its exact length on any machine, and an event that has not occurred when it ends does
// not occur at all. The clock begins at the real time, because the files that the daemon
// compares with it get their times from the system.
//
// In a bubble, a field's daemon watches no folder, and finds mail by the periodic check
// alone. The test must not start a process.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	now := time.Now()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(now))
		bubbles.Store(t, true)
		defer bubbles.Delete(t)
		test(t)
	})
}

// A plainLog is an agent's log that is not rotated.
type plainLog string

func (path plainLog) Write(p []byte) (int, error) {
	f, err := os.OpenFile(string(path), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.Write(p)
}

func (plainLog) Close() error { return nil }
