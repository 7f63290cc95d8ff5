package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// limit is how long the demo may take.
const limit = 3 * time.Minute

// Columns and lines of the pane. All that the demo prints must fit, because the capture
// does not include what has scrolled away.
const (
	columns = 80
	lines   = 150
)

// play runs PROGRAM demo in a new tmux server and returns what is on the screen at the end,
// with its escape sequences.
func play(ctx context.Context, program string) (string, error) {
	program, err := filepath.Abs(program)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dir, err := os.MkdirTemp("", "picture")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	tmux := func(ctx context.Context, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "tmux", append([]string{"-f", os.DevNull, "-S", filepath.Join(dir, "socket")}, args...)...)
		var failed bytes.Buffer
		cmd.Stderr = &failed
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("tmux %s: %w %s", args[0], err, strings.TrimSpace(failed.String()))
		}
		return string(out), nil
	}
	// The pane stays until the server ends, so the screen can be captured after the demo.
	const script = `"$1" demo; echo $? >"$2"/status; tmux wait-for -S played; exec sleep 600`
	_, err = tmux(ctx, "new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(lines), "--", "sh", "-c", script, "sh", program, dir)
	if err != nil {
		return "", err
	}
	defer tmux(context.WithoutCancel(ctx), "kill-server")
	if _, err := tmux(ctx, "wait-for", "played"); err != nil {
		return "", err
	}
	screen, err := tmux(ctx, "capture-pane", "-e", "-p")
	if err != nil {
		return "", err
	}
	if status, err := os.ReadFile(filepath.Join(dir, "status")); err != nil || strings.TrimSpace(string(status)) != "0" {
		return "", errors.Join(err, fmt.Errorf("the demo failed with the exit status %s:\n%s", strings.TrimSpace(string(status)), screen))
	}
	return screen, nil
}
