package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/git"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Options are the parameters of [New].
type Options struct {
	Project string   // the absolute path of the project
	Home    string   // the daemon's own folder, which exists
	Environ []string // the environment of git, and what verifiers inherit of it
	// Cache keeps the green runs; nil means that every verifier runs.
	Cache *Cache
}

// A Runner runs verifiers of one project. It is safe for concurrent use: each run has its own
// working tree.
type Runner struct {
	o    Options
	step func(name string) // called after each step that a crash may follow; for tests
}

// New returns a Runner. It creates no files.
func New(o Options) *Runner { return &Runner{o, func(string) {}} }

func (r *Runner) folder() string { return filepath.Join(r.o.Home, "verify") }

func (r *Runner) repo(ctx context.Context) (*git.Repo, error) {
	return git.Find(ctx, "", r.o.Environ, r.o.Project)
}

// A Request asks for a verdict. Commit and Target may be any names that git knows.
type Request struct {
	Name     string // of the verifier
	Settings Settings
	Protect  []string // patterns; see CheckPattern
	Drop     []string // variables that the verifier does not get: NAME, or PREFIX_*
	Commit   string
	Target   string // the commit from which protected files are taken; "" means Commit
	Base     string // the commit at which the work began; "" means the merge base with Target
	Again    bool   // run the verifier even if the cache knows that it is green
}

// Run returns what a verifier says about a commit. When it returns, all processes that it
// started have ended and its working tree is gone. If ctx is done, the verdict is [NotRun] with
// the cause [Cut]. The verdict counts even if there is an error: the error says that the cache
// could not be written, or that a folder could not be removed; the next Sweep tries that again.
func (r *Runner) Run(ctx context.Context, q Request) (v Verdict, err error) {
	began := time.Now()
	v = Verdict{Verifier: q.Name, Commit: q.Commit}
	defer func() {
		v.Ended, v.Took = time.Now().UTC().Round(0), time.Since(began)
		if ctx.Err() != nil && v.Result == NotRun {
			v = v.notRun(Cut, "%v", context.Cause(ctx))
		}
	}()
	g, err := r.repo(ctx)
	if err != nil {
		return v.notRun(NoTree, "%v", err), nil
	}
	commits := map[string]*string{"commit": &q.Commit, "target": &q.Target, "base": &q.Base}
	q.Target = cmp.Or(q.Target, q.Commit)
	for what, name := range commits {
		if *name == "" {
			continue
		}
		full, err := g.Commit(ctx, *name)
		if err != nil {
			return v.notRun(NoTree, "%s %s: %v", what, *name, err), nil
		}
		*name = full
	}
	v.Commit = q.Commit
	if q.Base == "" {
		if q.Base, err = baseOf(ctx, g, q.Commit, q.Target); err != nil {
			return v.notRun(NoTree, "%v", err), nil
		}
	}
	if v.Changed, err = changed(ctx, g, q.Base, q.Commit, q.Protect, q.Settings.isTest); err != nil {
		return v.notRun(NoTree, "%v", err), nil
	}
	p, err := r.reserve()
	if err != nil {
		return v.notRun(NoTree, "%v", err), nil
	}
	r.step("locked")
	v, err = r.at(ctx, p, g, q, v)
	// The caller may have been interrupted, but nothing may stay behind.
	return v, errors.Join(err, p.remove(context.WithoutCancel(ctx), g, r.step))
}

// at runs a verifier at a place.
func (r *Runner) at(ctx context.Context, p *place, g *git.Repo, q Request, v Verdict) (Verdict, error) {
	tree, err := treeOf(ctx, g, p.index, q.Commit, q.Target, q.Protect)
	if err != nil {
		return v.notRun(NoTree, "%v", err), nil
	}
	v.Tree = tree
	r.step("built")
	key := q.Settings.key(q.Name, tree, g.Prefix)
	if _, ok := r.o.Cache.has(key); ok && !q.Again {
		v.Result, v.Cached = Green, true
		return v, nil
	}
	if err := p.make(ctx, g, q.Commit, tree, r.step); err != nil {
		return v.notRun(NoTree, "%v", err), nil
	}
	dir := filepath.Join(p.dir, g.Prefix)
	if err := os.MkdirAll(dir, 0o777); err != nil { // the commit may lack the project's folder
		return v.notRun(NoTree, "%v", err), nil
	}
	v = r.execute(ctx, p, dir, q, v)
	r.step("ended")
	if v.Result != Green {
		return v, nil
	}
	return v, r.o.Cache.add(key, time.Now())
}

// execute runs the command in a folder of the working tree.
func (r *Runner) execute(ctx context.Context, p *place, dir string, q Request, v Verdict) Verdict {
	if err := ctx.Err(); err != nil {
		return v.notRun(Cut, "%v", err)
	}
	out, to, err := capture()
	if err != nil {
		return v.notRun(NoCommand, "%v", err)
	}
	child, err := runner.Start(runner.Command{Args: q.Settings.args(), Dir: dir, Env: environOf(r.o.Environ, q.Drop, p.mark), Stdout: to, Stderr: to})
	_ = to.Close() // the command has it
	if err != nil {
		out.last()
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s was not found", q.Settings.args()[0])
		}
		return v.notRun(NoCommand, "%v", err)
	}
	_ = child.Stdin().Close() // a command that reads gets the end of the file
	r.step("started")
	stopped, why := q.Settings.await(ctx, child, p.mark)
	exit := child.Finish(grace)
	v.Output = out.last()
	switch {
	case stopped != "":
		return v.notRun(stopped, "%s", why)
	case exit.ExitCode == 0:
		v.Result = Green
	case exit.ExitCode == 126, exit.ExitCode == 127: // see sh(1)
		return v.notRun(NoCommand, "the command was not found, or cannot be executed (exit status %d)", exit.ExitCode)
	case exit.Signal != "":
		v.Result, v.Why = Red, "it was ended by a signal: "+exit.Signal
	default:
		v.Result, v.Why = Red, fmt.Sprintf("exit status %d", exit.ExitCode)
	}
	return v
}

// measureEvery is the time between two measurements of the memory.
const measureEvery = time.Second

// await waits until the command ends, or ends it at one of its limits. In that case it says why.
func (s Settings) await(ctx context.Context, child *runner.Child, mark string) (stopped Cause, why string) {
	limit := time.NewTimer(s.Timeout)
	defer limit.Stop()
	if s.Timeout <= 0 {
		limit.Stop()
	}
	var measure <-chan time.Time
	if s.Memory > 0 {
		ticker := time.NewTicker(measureEvery)
		defer ticker.Stop()
		measure = ticker.C
	}
	for stopped == "" {
		select {
		case <-child.Exited():
			return "", ""
		case <-limit.C:
			stopped, why = TimedOut, fmt.Sprintf("stopped after %v", s.Timeout)
		case <-ctx.Done():
			stopped, why = Cut, context.Cause(ctx).Error()
		case <-measure:
			if used := runner.UsageOf(mark).RSS >> 20; used > int64(s.Memory) {
				stopped, why = OutOfRoom, fmt.Sprintf("stopped because it used %d MB of memory, more than %d MB", used, s.Memory)
			}
		}
	}
	child.Terminate()
	select {
	case <-child.Exited():
	case <-time.After(grace):
	}
	return stopped, why
}
