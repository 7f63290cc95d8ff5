package provision

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// trialTime is the timeout of the trial, which usually takes about a second.
const trialTime = 60 * time.Second

// word is the agent's answer in the trial.
const word = "the round trip works"

// trial makes a round trip in a scratch project: it starts a daemon and an agent whose
// client is a shell, sends a message, and waits for the turn's answer. This distinguishes
// problems with the machine from problems with the project.
func (e *checkup) trial(ctx context.Context) {
	const name = "round trip"
	if e.Program == "" {
		return
	}
	began := time.Now()
	if err := e.trialRound(ctx); err != nil {
		e.wrong(name, "claude-swarm demo, which shows where it stops", "a message to a scripted agent in a scratch project was not answered: %v", err)
		return
	}
	e.good(name, "a message to a scripted agent in a scratch project was answered in %v", time.Since(began).Round(10*time.Millisecond))
}

func (e *checkup) trialRound(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	dir, err := os.MkdirTemp("", "cs-doctor-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// A shell plays the role of the client, so a failed trial shows that something other
	// than the client is broken.
	kind := backends.Kinds()[0]
	text := fmt.Sprintf("agents:\n  probe: {mcp: false, command: [sh, -c, %s]}\n", yamlQuote(kind.Echo(word)))
	if _, err := Init(dir, Options{Config: text}); err != nil {
		return err
	}
	if _, err := e.trialVerb(ctx, dir, "start"); err != nil {
		return err
	}
	defer func() {
		// Stop the daemon even after a timeout, regardless of what happened to the
		// message.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), trialTime)
		defer cancel()
		_, stopErr := e.trialVerb(ctx, dir, "stop", "--now")
		err = errors.Join(err, stopErr)
	}()
	out, err := e.trialVerb(ctx, dir, "send", "probe", "Are you there?", "--wait=30s")
	if err == nil && !strings.Contains(out, word) {
		err = fmt.Errorf("the answer is %q", firstLine(out))
	}
	return err
}

// trialVerb runs a claude-swarm verb in the scratch project.
func (e *checkup) trialVerb(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, e.Program, append([]string{"--config", filepath.Join(dir, "claude-swarm.yaml")}, args...)...)
	cmd.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CLAUDE_SWARM_") && !strings.HasPrefix(v, "ANTHROPIC_") { // prevents model calls
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.WaitDelay = time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("claude-swarm %s: %w: %s", args[0], err, firstLine(said.String()))
	}
	return out.String(), nil
}
