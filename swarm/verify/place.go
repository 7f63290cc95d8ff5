package verify

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/git"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A place is where one run happens: a working tree, its lock and an index. The name of the folder
// is also the mark of all processes of the run.
type place struct {
	mark  string
	dir   string // the working tree
	index string
	lock  *flock.Flock
}

func placeIn(folder, mark string) *place {
	at := filepath.Join(folder, mark)
	return &place{mark: mark, dir: at, index: at + ".index", lock: flock.New(at+".lock", flock.SetPermissions(0o600))}
}

// reserve creates a place and locks it.
func (r *Runner) reserve() (*place, error) {
	if err := discovery.MakeInHome(r.folder()); err != nil {
		return nil, err
	}
	p := placeIn(r.folder(), runner.VerifierMark+strings.ToLower(rand.Text()[:12]))
	me, err := runner.Identify(os.Getpid())
	if err != nil {
		return nil, err
	}
	return p, r.exclusively(func() error {
		if err := p.lock.Lock(); err != nil {
			return err
		}
		return os.WriteFile(p.lock.Path(), fmt.Appendln(nil, me.PID, me.Start), 0o600)
	})
}

// exclusively runs f while no other process creates or sweeps a place.
func (r *Runner) exclusively(f func() error) (err error) {
	lock := flock.New(filepath.Join(r.folder(), "lock"), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	return f()
}

// make makes the working tree: HEAD is the commit, the index and the files are those of the tree.
func (p *place) make(ctx context.Context, g *git.Repo, commit, tree string, step func(string)) error {
	if _, err := g.Run(ctx, "worktree", "add", "--quiet", "--detach", "--no-checkout", p.dir, commit); err != nil {
		return err
	}
	step("added")
	admin, err := adminOf(ctx, g, p.mark)
	if err != nil {
		return err
	}
	if _, err := g.RunTree(ctx, admin, p.dir, "read-tree", "--reset", "-u", tree); err != nil {
		return err
	}
	step("checked out")
	return nil
}

// adminOf returns git's own folder for the working tree with this name.
func adminOf(ctx context.Context, g *git.Repo, name string) (string, error) {
	out, err := g.Run(ctx, "rev-parse", "--git-common-dir")
	if err != nil {
		return "", err
	}
	common := strings.TrimSuffix(string(out), "\n")
	if !filepath.IsAbs(common) {
		common = filepath.Join(g.GitDir, common)
	}
	return filepath.Join(common, "worktrees", name), nil
}

// remove removes everything at a place, and then unlocks it. No process of the run is left. It may
// be repeated, and works with whatever a verifier left: folders that cannot be written, a changed
// .git, lock files of git, no working tree at all.
func (p *place) remove(ctx context.Context, g *git.Repo, step func(string)) error {
	if err := errors.Join(removeAll(p.dir), removeAll(p.index), removeAll(p.index+".lock")); err != nil {
		return errors.Join(fmt.Errorf("remove the working tree of a verifier: %w", err), p.lock.Unlock())
	}
	step("emptied")
	if g != nil {
		admin, err := adminOf(ctx, g, p.mark)
		if err == nil {
			// Not git worktree remove: it refuses what a verifier changed there. No other worktree
			// has this name.
			err = removeAll(admin)
			_ = os.Remove(filepath.Dir(admin)) // as git does after the last worktree; others are usually there
		}
		if err != nil {
			return errors.Join(fmt.Errorf("remove the working tree of a verifier: %w", err), p.lock.Unlock())
		}
	}
	step("forgotten")
	return errors.Join(os.Remove(p.lock.Path()), p.lock.Unlock())
}

// removeAll removes a file or a folder, even if folders in it cannot be written.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			return os.Chmod(at, 0o700)
		}
		return nil
	}) // RemoveAll reports what is left
	return os.RemoveAll(path)
}

// Sweep ends and removes what runs have left behind whose process was killed. It does not disturb
// runs of other processes. It returns how many it found.
func (r *Runner) Sweep(ctx context.Context) (found int, err error) {
	if _, err := os.Stat(r.folder()); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	err = r.exclusively(func() error {
		files, err := os.ReadDir(r.folder())
		if err != nil {
			return err
		}
		var repo *git.Repo
		if g, err := r.repo(ctx); err == nil {
			repo = g
		} // without a repository there are only folders
		var all []error
		for _, f := range files {
			mark, ok := strings.CutSuffix(f.Name(), ".lock")
			if !ok || !strings.HasPrefix(mark, runner.VerifierMark) {
				continue
			}
			p := placeIn(r.folder(), mark)
			if free, err := p.lock.TryLock(); err != nil || !free {
				all = append(all, err)
				continue
			}
			found++
			runner.EndLeftovers(mark, grace)
			all = append(all, p.remove(ctx, repo, r.step))
		}
		return errors.Join(all...)
	})
	return found, err
}

// grace is the time between SIGTERM and SIGKILL.
const grace = 2 * time.Second
