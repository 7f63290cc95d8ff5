package claude

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A silentClient lives and says nothing.
type silentClient struct{ runner.Client }

func (silentClient) Interrupt()              {}
func (silentClient) Process() runner.Process { return runner.Process{} }
func (silentClient) Exited() <-chan struct{} { return nil }

// A turn whose disk was full is not waited for as long as others: its client may
// have said its last word already, also while a tool call seems open.
func TestAFullDiskMayHaveTakenTheLastWord(t *testing.T) {
	for name, c := range map[string]struct {
		cramped bool
		after   time.Duration
		want    runner.End // "": it goes on
	}{
		"the disk was full":                  {true, 61 * time.Second, runner.Stopped},
		"the disk was full a moment ago":     {true, 50 * time.Second, ""},
		"there was room, and a tool is open": {false, time.Hour, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := New(Options{}).(*backend)
			r := b.newFollower(context.Background(), runner.Turn{ID: "none-1", Files: runner.Files{Stdout: filepath.Join(t.TempDir(), "out")}, Spec: runner.Spec{Stall: 10 * time.Minute}})
			r.client.process = silentClient{}
			r.observe(&streamjson.Event{Kind: streamjson.KindAssistant, Blocks: []streamjson.Block{{Kind: streamjson.BlockToolUse, ID: "toolu_1", Name: "Bash"}}})
			if r.account.OpenCalls() != 1 {
				t.Fatal("no tool call is open")
			}
			r.watch.cramped = c.cramped
			at := r.seen.last.Add(c.after)
			r.tick(at)
			r.tick(at.Add(r.timing.Sample + time.Second)) // the second look at the processor
			if r.cause.end != c.want {
				t.Errorf("after %v: ended %q (%s), want %q", c.after, r.cause.end, r.cause.reason, c.want)
			}
		})
	}
}

// No turn begins without room for what its client will print.
func TestNoTurnBeginsWithoutRoom(t *testing.T) {
	r := New(Options{}).(*backend).newFollower(context.Background(), runner.Turn{Files: runner.Files{Stdout: "/dev/full"}})
	if err := r.makeRoom(); err == nil {
		t.Error("there is room on a device that is always full")
	}
}
