package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/git"
)

// Branch is the name of the branch that contains the audit trail.
const Branch = "dead-drop"

const ref = "refs/heads/" + Branch

// The errors that a caller can test for with errors.Is.
var (
	// ErrNoRepository reports that the mailboxes are not in a git working tree.
	ErrNoRepository = fmt.Errorf("%w: run git init in the project, or set audit: {git: false}", git.ErrNoRepository)
	// ErrCheckedOut reports that the branch is checked out. The audit records nothing
	// until the person switches to another branch.
	ErrCheckedOut = errors.New("the branch " + Branch + " is checked out: switch to another branch, and the missing turns will be recorded")
	// ErrForeign reports that the branch has commits, but none made by an audit.
	ErrForeign = errors.New("the branch " + Branch + " is not an audit trail: rename that branch with git branch -m " + Branch + " NAME")
)

// Options configures an Audit. The zero value is ready to use.
type Options struct {
	Git     string           // the program; "" means git, looked up in PATH
	Environ []string         // git's environment; variables that specify another repository are removed; nil means the environment of this process
	Log     *slog.Logger     // nil means no log
	Now     func() time.Time // nil means time.Now
	// Secrets finds strings that no commit may contain; nil means that there are none. A
	// file that contains a secret is not recorded, and Record returns a [*SecretError].
	Secrets Secrets
}

// Secrets finds strings that must not be written. It is implemented by *Source in package
// internal/tokens.
type Secrets interface {
	// Hidden returns the text with its secrets replaced by marks, or the same text if it
	// contains no secrets.
	Hidden(text []byte) []byte
}

// A SecretError names the files that contain a secret, relative to the mailboxes. These
// files are not recorded; all others are.
type SecretError struct{ Files []string }

func (e *SecretError) Error() string {
	return fmt.Sprintf("not recorded, because it contains one of the swarm's tokens: %s", strings.Join(e.Files, ", "))
}

// An Audit records one folder of mailboxes in the git repository that contains it. It
// keeps no files or processes open. Only one goroutine at a time may call Record. Several
// audits, in different processes and worktrees, may share a repository.
type Audit struct {
	git branch
	dir string // the mailboxes folder, absolute
	log *slog.Logger
	now func() time.Time

	// The next three fields describe the branch. Only the goroutine that calls Record
	// uses them.
	known  bool   // whether tip and memory are up to date
	tip    string // the newest commit; "" if there is no branch
	memory memory
	warned map[string]bool // files that cannot be recorded; each is logged once

	hidden  Secrets
	secrets []string // files in which this call of Record found a secret
}

// Open finds the git repository that contains the mailboxes folder. It changes
// nothing, and the Audit need not be closed. The error is [git.ErrNoGit], [ErrNoRepository], an
// [*git.OwnerError], or an error from git or the operating system.
func Open(ctx context.Context, deadDrop string, o Options) (*Audit, error) {
	a, err := open(ctx, deadDrop, o)
	if err != nil {
		return nil, fmt.Errorf("audit %s: %w", deadDrop, err)
	}
	return a, nil
}

func open(ctx context.Context, deadDrop string, o Options) (*Audit, error) {
	dir, err := filepath.Abs(deadDrop)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	g, err := git.Find(ctx, o.Git, o.Environ, dir)
	if errors.Is(err, git.ErrNoRepository) {
		return nil, ErrNoRepository
	} else if err != nil {
		return nil, err
	}
	return &Audit{git: branch{g}, dir: dir, log: o.Log, now: o.Now, memory: newMemory(), warned: map[string]bool{}, hidden: o.Secrets}, nil
}

// Record commits all finished mail that is not on the branch yet. If the error is nil, the
// commits are durable. After an error, some of them may exist; the next call continues from
// the state of the branch.
//
// Callers can test for [ErrCheckedOut], [ErrForeign] and [*SecretError]. If the error is a
// SecretError, everything except the files that it names is recorded. All other errors
// come from git or from the disk. If ctx is done, Record stops git. The branch then
// contains either all or none of the commits of each batch.
func (a *Audit) Record(ctx context.Context) error {
	a.secrets = nil
	err := a.record(ctx)
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrCheckedOut) && !errors.Is(err, ErrForeign) {
		// Another process may have moved or locked the branch, or git gc may have removed
		// an object. Such an error is temporary, so retry once with a comparison from
		// scratch.
		a.known = false
		err = a.record(ctx)
	}
	if err != nil {
		a.known = false
		return fmt.Errorf("record in git: %w", err)
	}
	if len(a.secrets) > 0 {
		slices.Sort(a.secrets)
		return &SecretError{slices.Compact(a.secrets)}
	}
	return nil
}

func (a *Audit) record(ctx context.Context) error {
	root, err := os.OpenRoot(a.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	tip, err := a.git.tip(ctx)
	if err != nil {
		return err
	}
	tree, err := a.catchUp(ctx, tip)
	if err != nil {
		return err
	}
	now := a.now()
	f, err := a.look(root, tree, now)
	if err != nil {
		return err
	}
	for len(f.turns) > 0 || len(f.rest) > 0 {
		// The commits are made in batches so that a crash loses at most one batch, and so
		// that each git process ends within git.Timeout.
		batch := f.turns[:min(len(f.turns), maxBatch)]
		f.turns = f.turns[len(batch):]
		var rest []change
		if len(f.turns) == 0 {
			rest, f.rest = f.rest, nil
		}
		if err := a.write(ctx, root, batch, rest); err != nil {
			return err
		}
	}
	a.memory.settle(now, f.open)
	a.known = true
	return nil
}

// catchUp brings the memory up to date with the branch. If this is not possible, it
// returns the branch's whole tree, for a comparison from scratch.
func (a *Audit) catchUp(ctx context.Context, tip string) (tree map[string]string, err error) {
	if a.known && tip != a.tip && tip != "" && a.tip != "" {
		// Usually, an audit in another worktree has moved the branch. If the old commit no
		// longer exists, the branch has been rewritten, and a comparison from scratch is
		// needed.
		added, gone, err := a.git.diff(ctx, a.tip, tip)
		if err == nil && a.memory.follow(added, gone) {
			a.tip = tip
		}
	}
	if a.known && tip == a.tip {
		return nil, nil
	}
	if tip != "" {
		if ours, err := a.git.ours(ctx, tip); err != nil {
			return nil, err
		} else if !ours {
			return nil, ErrForeign
		}
	}
	if tree, err = a.git.tree(ctx, tip); err != nil {
		return nil, err
	}
	a.known, a.tip = false, tip
	a.memory.forgetDone()
	return tree, nil
}
