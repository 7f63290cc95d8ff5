package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// BenchmarkTools reports the time from the fork of the tool server until a client has
// received the list of tools. This time matters because a client drops a slow server. It
// also reports the server's resident memory at that moment, in MiB.
func BenchmarkTools(b *testing.B) {
	path := shipped(b)
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "claude-swarm.yaml"), []byte("agents:\n  coder:\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	if err := dropbox.Create(filepath.Join(dir, ".dead-drop")); err != nil {
		b.Fatal(err)
	}
	var times []time.Duration
	memory := 0.0
	for b.Loop() {
		began := time.Now()
		cmd := exec.Command(path, "mcp")
		cmd.Dir = dir
		client, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).
			Connect(b.Context(), &mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := client.ListTools(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(began))
		memory = max(memory, field(b, fmt.Sprintf("/proc/%d/status", cmd.Process.Pid), "VmRSS:"))
		if err := client.Close(); err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2]), "p50-ns")
	b.ReportMetric(memory/1024, "MiB")
}
