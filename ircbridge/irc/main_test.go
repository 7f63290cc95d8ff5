package irc_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No goroutine of the library outlives its connection or client.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
