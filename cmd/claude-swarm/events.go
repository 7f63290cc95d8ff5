package main

import (
	"context"
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// ringOnEvents rings whenever the daemon tells of a change, comes or goes, until
// ctx is done.
func ringOnEvents(ctx context.Context, c *cli.Context, rung chan<- struct{}) {
	ring := func(ev swarm.FeedEvent) {
		if ev.Kind == swarm.FeedLine {
			return // once a second is enough for the last word
		}
		select {
		case rung <- struct{}{}:
		default:
		}
	}
	for ctx.Err() == nil {
		if err := followEvents(ctx, c, swarm.Filter{}, ring); errors.Is(err, context.Canceled) {
			return
		}
		ring(swarm.FeedEvent{})
		wait(ctx, 2*time.Second)
	}
}

// followEvents calls f with what happens until the daemon ends or ctx is done;
// first with an empty event, when it begins to listen.
func followEvents(ctx context.Context, c *cli.Context, filter swarm.Filter, f func(swarm.FeedEvent)) error {
	p, err := locate(c)
	if err != nil {
		return err
	}
	client, err := p.connect(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	stream, err := client.Subscribe(ctx, filter)
	if err != nil {
		return err
	}
	defer stream.Close()
	f(swarm.FeedEvent{})
	for {
		ev, err := stream.Next(ctx)
		if err != nil {
			return err
		}
		f(ev)
	}
}

// wait sleeps, but not longer than ctx.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
