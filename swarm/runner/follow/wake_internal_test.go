package follow

import (
	"context"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A silentClient is a running client that prints nothing.
type silentClient struct{ runner.Client }

func (silentClient) Interrupt()              {}
func (silentClient) Process() runner.Process { return runner.Process{} }
func (silentClient) Exited() <-chan struct{} { return nil }

// plain is a Protocol that does nothing.
type plain struct{}

func (plain) Tick(time.Time)         {}
func (plain) Due() time.Time         { return time.Time{} }
func (plain) Working() bool          { return true }
func (plain) Late(v Verdict) Verdict { return v }
func (plain) Cancel() bool           { return false }

// counted is a Protocol that counts its ticks.
type counted struct {
	plain
	ticks int
}

func (c *counted) Tick(time.Time) { c.ticks++ }

// Wake ends a wait whose next check would be much later.
func TestWakeEndsTheWait(t *testing.T) {
	p := new(counted)
	r := New(context.Background(), runner.Turn{ID: "none-2"}, &runner.Kind{}, p, Options{})
	r.process = silentClient{}
	r.woken.poll.pause, r.woken.poll.most = time.Hour, time.Hour
	defer r.woken.poll.Stop()
	go r.Wake()
	if !r.wait() || p.ticks != 1 {
		t.Errorf("%d ticks after a wake", p.ticks)
	}
}
