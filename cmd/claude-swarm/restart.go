package main

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

// These are the delays before a failed service is restarted. After firstRestart, the status
// no longer shows the service's error.
const (
	firstRestart = 5 * time.Second
	lastRestart  = 5 * time.Minute
)

// restartDelay returns the delay before the next restart, given the previous delay and how
// long the service ran after it. Only panics make the delay double: a person may be about to
// remove the cause of an error. After a run that was longer than lastRestart, the delays
// start again.
func restartDelay(previous, ran time.Duration, panicked bool) time.Duration {
	if previous == 0 || ran > lastRestart || !panicked {
		return firstRestart
	}
	return min(2*previous, lastRestart)
}

// keepRunning runs a service, and restarts it if it fails or panics, until ctx is done.
// While the service is failing, trouble contains the text for the status, which begins with
// name.
func keepRunning(ctx context.Context, log *slog.Logger, name string, trouble *word, run func(context.Context) error) {
	var delay time.Duration
	for ctx.Err() == nil {
		begun := time.Now()
		panicked, err := runOnce(ctx, log, name, trouble, run)
		if ctx.Err() != nil {
			return
		}
		delay = restartDelay(delay, time.Since(begun), panicked)
		log.Error("service failed, and will be restarted", "service", name, "err", err, "delay", delay)
		trouble.set(name + ": " + firstLine(fmt.Sprint(err)))
		select {
		case <-time.After(delay):
		case <-ctx.Done():
		}
	}
}

// runOnce runs a service until it ends. It converts a panic to an error, so that the panic
// does not affect the agents.
func runOnce(ctx context.Context, log *slog.Logger, name string, trouble *word, run func(context.Context) error) (panicked bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("service panicked", "service", name, "err", fmt.Sprint(p), "stack", string(debug.Stack()))
			panicked, err = true, fmt.Errorf("an internal error in claude-swarm: %s", firstLine(fmt.Sprint(p)))
		}
	}()
	healthy := time.AfterFunc(firstRestart, func() { trouble.set("") })
	defer healthy.Stop()
	return false, run(ctx)
}
