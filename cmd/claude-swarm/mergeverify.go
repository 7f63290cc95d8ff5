package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/merge"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/verify"
)

// verifyMerge runs all verifiers of the configuration on a merge, until one is not green.
func (m *merger) verifyMerge(c *cli.Context) func(ctx context.Context, commit, target string) (merge.Verdict, error) {
	names := slices.Sorted(maps.Keys(m.file.Verifiers))
	if len(names) == 0 {
		return nil
	}
	return func(ctx context.Context, commit, target string) (merge.Verdict, error) {
		if err := runner.BecomeReaper(); err != nil { // to find what a verifier hides from its mark
			return merge.Verdict{}, err
		}
		defer runner.EndAdopted(orphanGrace)
		cache, err := verify.OpenCache(m.home.Files(), m.home.VerifiedFile())
		if err != nil {
			return merge.Verdict{}, err
		}
		r := verify.New(verify.Options{Project: m.dir, Home: m.home.Dir(), Environ: os.Environ(), Cache: cache})
		if _, err := r.Sweep(ctx); err != nil {
			return merge.Verdict{}, err
		}
		for i, name := range names {
			v, err := r.Run(ctx, verify.Request{
				Name: name, Settings: m.file.Verifiers[name], Protect: m.file.Protect, Drop: m.file.VerifierDrop(),
				Commit: commit, Target: target,
			})
			if err != nil {
				return merge.Verdict{}, err
			}
			if i == 0 && len(v.Changed) > 0 {
				fmt.Fprintf(c.App.ErrWriter, "claude-swarm: tests changed: %s\n", screen.Visible(strings.Join(v.Changed, ", ")))
			}
			switch v.Result {
			case verify.Green:
			case verify.Red:
				return merge.Verdict{Result: merge.Fail, By: name, Why: fmt.Sprintf("%s is red: %s", name, v.Why), Output: v.Output}, nil
			default:
				return merge.Verdict{Result: merge.NotRun, By: name, Why: fmt.Sprintf("%s says nothing: %s", name, v.Why), Output: v.Output}, nil
			}
		}
		return merge.Verdict{Result: merge.Green, By: strings.Join(names, ", ")}, nil
	}
}
