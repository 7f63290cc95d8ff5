package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/git"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/verify"
)

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name: "verify", Category: groupProject, ArgsUsage: "NAME [COMMIT]",
		Usage: "run a verifier on a commit",
		Description: `Runs a command from verifiers in claude-swarm.yaml, such as your tests, in a
clean working tree at a commit, and removes the tree. COMMIT is any name that
git knows, such as a branch; without it, HEAD. Changes that are not committed
are not part of it. The command runs as your user.

The exit status is 0 if the command ended well (green), 1 if not (red), and
otherwise if it was stopped at its timeout or could not be run. If the same
files were green before, it does not run again. Files in protect are those of
the commit that --target names.` +
			examples("claude-swarm verify test", "claude-swarm verify test task/k7f3q9m2xd --json"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "target", Value: "HEAD", Usage: "take protected files from `COMMIT`, into which the work goes"},
			&cli.BoolFlag{Name: "again", Usage: "run it even if the same files were green before"},
			jsonFlag(),
		},
		Action: runVerifier,
	}
}

func runVerifier(c *cli.Context) error {
	p, err := loadProject(c)
	if err != nil {
		return err
	}
	settings, err := verifierOf(c, p.file)
	if err != nil {
		return err
	}
	name, commit := c.Args().Get(0), cmp.Or(c.Args().Get(1), "HEAD")
	// If one of these signals arrives, the command ends before this program does.
	ctx, stop := signal.NotifyContext(c.Context, syscall.SIGTERM, syscall.SIGHUP, os.Interrupt)
	defer stop()
	if err := knownCommits(ctx, p.dir, commit, c.String("target")); err != nil {
		return err
	}
	if err := runner.BecomeReaper(); err != nil { // to find what a verifier hides from its mark
		return err
	}
	defer runner.EndAdopted(orphanGrace)
	if err := p.home.Make(); err != nil {
		return err
	}
	cache, err := verify.OpenCache(p.home.Files(), p.home.VerifiedFile())
	if err != nil {
		return err
	}
	r := verify.New(verify.Options{Project: p.dir, Home: p.home.Dir(), Environ: os.Environ(), Cache: cache})
	if _, err := r.Sweep(ctx); err != nil {
		return err
	}
	v, err := r.Run(ctx, verify.Request{
		Name: name, Settings: settings, Protect: p.file.Protect, Drop: p.file.VerifierDrop(),
		Commit: commit, Target: c.String("target"), Again: c.Bool("again"),
	})
	return errors.Join(sayVerdict(c, v), err)
}

// verifierOf returns the settings of the verifier that the first argument names.
func verifierOf(c *cli.Context, f *config.File) (verify.Settings, error) {
	name, known := c.Args().First(), slices.Sorted(maps.Keys(f.Verifiers))
	switch {
	case len(known) == 0:
		return verify.Settings{}, fail(exitUnknown, "verifiers: {test: {run: make test}} in "+config.Name, "the configuration has no verifiers")
	case name == "" || c.NArg() > 2:
		return verify.Settings{}, usagef("claude-swarm verify "+known[0], "verify takes the name of a verifier, %s, and at most one commit", strings.Join(known, " or "))
	}
	settings, ok := f.Verifiers[name]
	if !ok {
		return settings, unknownVerifier(name, known)
	}
	return settings, nil
}

func unknownVerifier(name string, known []string) error {
	return fail(exitUnknown, "claude-swarm verify "+known[0], "no verifier named %q here, only %s", name, strings.Join(known, ", "))
}

// knownCommits returns an error if git does not know one of the commits.
func knownCommits(ctx context.Context, dir string, names ...string) error {
	g, err := git.Find(ctx, "", os.Environ(), dir)
	if errors.Is(err, git.ErrNoRepository) {
		return fail(exitFailed, "git init, and commit your files", "a verifier runs on a commit, but %s is not in a git repository", dir)
	} else if owner, ok := errors.AsType[*git.OwnerError](err); ok {
		return hint(err, "%s", owner.Next())
	} else if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := g.Commit(ctx, name); errors.Is(err, git.ErrNoCommit) && name == "HEAD" {
			return fail(exitFailed, "git add . && git commit", "a verifier runs on a commit, and the repository has none yet")
		} else if errors.Is(err, git.ErrNoCommit) {
			return fail(exitUnknown, "git branch --all", "no commit is called %s", name)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// sayVerdict prints a verdict, and returns an error unless it is green.
func sayVerdict(c *cli.Context, v verify.Verdict) error {
	var err error
	if c.Bool("json") {
		err = printJSON(c.App.Writer, struct {
			V int `json:"v"`
			verify.Verdict
			Seconds float64 `json:"seconds"`
		}{1, v, v.Took.Seconds()})
	} else {
		err = writeVerdict(c.App.Writer, v)
	}
	name := v.Verifier
	switch {
	case err != nil:
		return err
	case v.Result == verify.Green:
		return nil
	case v.Result == verify.Red:
		return fail(exitFailed, "git show --stat "+short(v.Commit), "%s is red: %s", name, v.Why)
	case v.Cause == verify.Cut:
		return fail(exitInterrupted, "", "%s was stopped before it was done", name)
	case v.Cause == verify.TimedOut:
		return fail(exitTimeout, fmt.Sprintf("timeout: 30m for %s in verifiers in %s", name, config.Name), "%s says nothing: %s", name, v.Why)
	case v.Cause == verify.OutOfRoom:
		return fail(exitUnknown, "a larger memory_mb in verifiers in "+config.Name, "%s says nothing: %s", name, v.Why)
	case v.Cause == verify.NoCommand:
		return fail(exitUnknown, "run and run_in of "+name+" in "+config.Name, "%s says nothing: %s", name, v.Why)
	}
	return fail(exitUnknown, "git worktree list; df -h .", "%s says nothing: %s", name, v.Why)
}

// writeVerdict prints a verdict for a person.
func writeVerdict(w io.Writer, v verify.Verdict) error {
	for _, line := range v.Output {
		if _, err := fmt.Fprintln(w, screen.Visible(line)); err != nil {
			return err
		}
	}
	if len(v.Changed) > 0 {
		const most = 5
		named := strings.Join(v.Changed[:min(len(v.Changed), most)], ", ")
		if more := len(v.Changed) - most; more > 0 {
			named += fmt.Sprintf(" and %d more", more)
		}
		if _, err := fmt.Fprintf(w, "tests changed: %s\n", screen.Visible(named)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s at %s, %s\n", v, short(v.Commit), screen.Span(v.Took.Round(time.Millisecond)))
	return err
}

// short returns the beginning of the name of a commit.
func short(commit string) string { return commit[:min(len(commit), 12)] }
