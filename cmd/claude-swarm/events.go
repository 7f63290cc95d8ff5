package main

import (
	"context"
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// wakeOnEvents sends on wake whenever the daemon reports a change, starts or exits. While
// no daemon can be reached, it sends every two seconds. It returns when ctx is done. It
// does not block if the receiver is not ready.
func wakeOnEvents(ctx context.Context, c *cli.Context, wake chan<- struct{}) {
	tell := func(ev swarm.FeedEvent) {
		if ev.Kind == swarm.FeedLine {
			return // the status is redrawn every second anyway, which is often enough for log lines
		}
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	for ctx.Err() == nil {
		if err := followEvents(ctx, c, swarm.Filter{}, tell); errors.Is(err, context.Canceled) {
			return
		}
		tell(swarm.FeedEvent{})
		wait(ctx, 2*time.Second)
	}
}

// followEvents calls f with each event until the daemon exits or ctx is done. The first
// event is empty and means that followEvents is connected.
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

// wait sleeps for d or until ctx is done, whichever comes first.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
