//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A rig is the equipment for fault injection: the program, built as it is shipped; the
// stand-in for the agents' client; and a folder for the arenas. It is safe for concurrent
// use.
type rig struct {
	program string
	client  string // the stand-in
	scratch string
	soak    time.Duration // duration of a soak
	arenas  atomic.Int32
}

// newRig builds the programs. The caller must close the rig.
func newRig(ctx context.Context, soak time.Duration) (*rig, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	// The path is short because the length of a control socket's path is limited.
	scratch, err := os.MkdirTemp("", "torture")
	if err != nil {
		return nil, err
	}
	bin := filepath.Join(scratch, "bin")
	r := &rig{program: filepath.Join(bin, "claude-swarm"), client: filepath.Join(bin, "claude"), scratch: scratch, soak: soak}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "urfave_cli_no_docs", "-o", bin+"/",
		"./cmd/claude-swarm", "./internal/testkit/standin/claude")
	build.Dir = strings.TrimSpace(string(out))
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		os.RemoveAll(scratch)
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return r, nil
}

// close deletes the programs and the files that the arenas left behind.
func (r *rig) close() error { return os.RemoveAll(r.scratch) }

// newDir returns a new folder for an arena.
func (r *rig) newDir() (string, error) {
	dir := filepath.Join(r.scratch, strconv.Itoa(int(r.arenas.Add(1))))
	return dir, os.Mkdir(dir, 0o700)
}
