package follow

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// noTools is a runner.Tools that cannot interpret any tool call.
type noTools struct{ runner.Tools }

func (noTools) Changes(string, []byte) string { return "" }
func (noTools) Runs(string, []byte) string    { return "" }
func (noTools) Looks(string, []byte) bool     { return false }
func (noTools) Waits(string, []byte) bool     { return false }

// Once the disk has been full, a silent turn is stopped sooner, because its client may
// already have finished even if a tool call seems to be open.
func TestAFullDiskMayHaveTakenTheLastWord(t *testing.T) {
	for name, c := range map[string]struct {
		cramped bool
		after   time.Duration
		want    runner.End // "" if the turn continues
	}{
		"the disk was full":                  {true, 61 * time.Second, runner.Stopped},
		"the disk was full a moment ago":     {true, 50 * time.Second, ""},
		"there was room, and a tool is open": {false, time.Hour, ""},
	} {
		t.Run(name, func(t *testing.T) {
			turn := runner.Turn{ID: "none-1", Files: runner.Files{Stdout: filepath.Join(t.TempDir(), "out")}, Spec: runner.Spec{Stall: 10 * time.Minute}}
			r := New(context.Background(), turn, &runner.Kind{Tools: noTools{}}, plain{}, Options{})
			r.process = silentClient{}
			r.Account.Observe(&streamjson.Event{Kind: streamjson.KindAssistant, Blocks: []streamjson.Block{{Kind: streamjson.BlockToolUse, ID: "toolu_1", Name: "Bash"}}})
			r.Heard(time.Now())
			if r.Account.OpenCalls() != 1 {
				t.Fatal("no tool call is open")
			}
			r.output.cramped = c.cramped
			at := r.quiet.last.Add(c.after)
			r.tick(at)
			r.tick(at.Add(r.options.Timing.Sample + time.Second)) // the second check of the CPU time
			if r.cause.End != c.want {
				t.Errorf("after %v: ended %q (%s), want %q", c.after, r.cause.End, r.cause.Reason, c.want)
			}
		})
	}
}

// A turn begins only if there is disk space for its client's output.
func TestNoTurnBeginsWithoutRoom(t *testing.T) {
	var o output
	if err := o.makeRoom("/dev/full"); err == nil {
		t.Error("there is room on a device that is always full")
	}
}
