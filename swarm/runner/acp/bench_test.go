package acp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// BenchmarkWarmTurn measures a turn in a client that stays. It compares a minimal
// implementation of the protocol with the backend, which also reads the output from a
// file, converts it to events, judges the turn and decides whether the client can stay.
func BenchmarkWarmTurn(b *testing.B) {
	b.Run("floor", func(b *testing.B) {
		c := newBare(b)
		var times []time.Duration
		for i := 0; b.Loop(); i++ {
			begun := time.Now()
			c.call(fmt.Sprint("turn-", i), "session/prompt", map[string]any{"sessionId": c.session, "prompt": []any{map[string]any{"type": "text", "text": "@say ready"}}})
			times = append(times, time.Since(begun))
		}
		median(b, times)
	})
	b.Run("ours", func(b *testing.B) {
		backend := backend(b, "acp").(runner.Resident)
		turn := newTurn(b, "acp", "@say ready")
		out, warm := backend.Serve(b.Context(), turn, nil)
		first := turn.ID
		var times []time.Duration
		for b.Loop() {
			if warm == nil {
				b.Fatalf("ended %s (%s), and no client stays", out.End, out.Reason)
			}
			turn.Client, turn.From, turn.UUID = first, warm.Place(), runnertest.NewUUID()
			turn.Session = runner.Session{ID: out.Session, How: runner.Resume}
			begun := time.Now()
			out, warm = backend.Serve(b.Context(), turn, warm)
			times = append(times, time.Since(begun))
		}
		median(b, times)
		if warm != nil {
			warm.Close(b.Context())
		}
	})
}

// median reports the median, because other load on the machine would distort the mean.
func median(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2]), "p50-ns")
}

// bare is a minimal implementation of our side of the protocol.
type bare struct {
	b       *testing.B
	in      io.Writer
	lines   *bufio.Reader
	session string
}

func newBare(b *testing.B) *bare {
	turn := newTurn(b, "acp", "")
	cmd := exec.Command(turn.Spec.Command[0])
	cmd.Dir, cmd.Env = turn.Spec.Dir, turn.Env
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
	})
	c := &bare{b: b, in: in, lines: bufio.NewReader(out)}
	c.call("init", "initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}})
	var opened struct {
		Session string `json:"sessionId"`
	}
	if err := json.Unmarshal(c.call("new", "session/new", map[string]any{"cwd": turn.Spec.Dir, "mcpServers": []any{}}), &opened); err != nil {
		b.Fatal(err)
	}
	c.session = opened.Session
	return c
}

// call sends a request and reads the output up to its answer.
func (c *bare) call(id, method string, params any) json.RawMessage {
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err == nil {
		_, err = c.in.Write(append(line, '\n'))
	}
	if err != nil {
		c.b.Fatal(err)
	}
	for {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			c.b.Fatal(err)
		}
		var m struct {
			ID     any             `json:"id"`
			Result json.RawMessage `json:"result"`
		}
		if !strings.Contains(line, id) || json.Unmarshal([]byte(line), &m) != nil || m.ID != id {
			continue
		}
		return m.Result
	}
}
