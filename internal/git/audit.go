package git

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
)

// Branch is the branch with the audit trail.
const Branch = "dead-drop"

const (
	ref = "refs/heads/" + Branch
	// mailHost is the end of every author's e-mail address. The top-level domain is
	// reserved and never exists, so no mail can go there.
	mailHost = "@claude-swarm.invalid"
	// auditor is the author of changes outside turns.
	auditor = "swarm"
)

// The errors that a caller may test for with errors.Is.
var (
	// ErrNoGit reports that there is no git program.
	ErrNoGit = errors.New("git is not installed")
	// ErrNoRepository reports that the mailboxes are not in a working tree of git.
	ErrNoRepository = errors.New("not in a git repository: run git init in the project, or set audit: {git: false}")
	// ErrCheckedOut reports that the branch is checked out: nothing is recorded until the
	// person switches to another branch.
	ErrCheckedOut = errors.New("the branch " + Branch + " is checked out: switch to another branch, and the missing turns are recorded")
	// ErrForeign reports that the branch has commits, but none by an audit.
	ErrForeign = errors.New("the branch " + Branch + " is not an audit trail: rename that branch with git branch -m " + Branch + " NAME")
)

// Options tune an Audit. The zero value is ready to use.
type Options struct {
	Git     string           // the program; "" means git, looked up in PATH
	Environ []string         // environment of git, from which variables that name another repository are removed; nil means this process's
	Log     *slog.Logger     // nil discards it
	Now     func() time.Time // nil is time.Now
	// Secrets finds strings that no commit may contain; nil means none. A file with a
	// secret is not recorded, and Record returns a [*SecretError].
	Secrets Secrets
}

// Secrets finds strings that must not be written, as *Source of package internal/tokens
// does.
type Secrets interface {
	// Hidden returns the text with marks in place of secrets, or the same text if it has no
	// secrets.
	Hidden(text []byte) []byte
}

// A SecretError names the files that contain a secret, relative to the mailboxes. They are
// not recorded; everything else is.
type SecretError struct{ Files []string }

func (e *SecretError) Error() string {
	return fmt.Sprintf("not recorded, because it contains a token of the swarm: %s", strings.Join(e.Files, ", "))
}

// An Audit records one folder of mailboxes in the git repository around it. It keeps
// nothing open. Only one goroutine at a time may call Record. Several audits, in different
// processes and worktrees, may share a repository.
type Audit struct {
	git *program
	dir string // the mailboxes, absolute
	log *slog.Logger
	now func() time.Time

	// The next three describe the branch. They belong to the goroutine of Record.
	known  bool   // whether tip and memory are up to date
	tip    string // "" while there is no branch
	memory memory
	warned map[string]bool // files that cannot be recorded; each is logged once

	hidden  Secrets
	secrets []string // files with a secret that this call of Record found
}

// OpenAudit finds the git repository around the folder of mailboxes, and changes nothing.
// The Audit need not be closed. The error is [ErrNoGit], [ErrNoRepository], or an error from
// git or the operating system.
func OpenAudit(ctx context.Context, deadDrop string, o Options) (*Audit, error) {
	a, err := openAudit(ctx, deadDrop, o)
	if err != nil {
		return nil, fmt.Errorf("audit %s: %w", deadDrop, err)
	}
	return a, nil
}

func openAudit(ctx context.Context, deadDrop string, o Options) (*Audit, error) {
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
	g, err := findRepository(ctx, o.Git, o.Environ, dir)
	if err != nil {
		return nil, err
	}
	return &Audit{git: g, dir: dir, log: o.Log, now: o.Now, memory: newMemory(), warned: map[string]bool{}, hidden: o.Secrets}, nil
}

// Record commits finished mail that is not on the branch yet, if there is any. When the
// error is nil the commits are durable. After an error some of them may exist, and the next
// call continues from the state of the branch.
//
// The errors to test for are [ErrCheckedOut], [ErrForeign] and [*SecretError]. After a
// SecretError everything except the files that it names is recorded. All other errors come
// from git or from the disk. If ctx is done, Record stops git. The branch then has all or
// none of the commits of each batch.
func (a *Audit) Record(ctx context.Context) error {
	a.secrets = nil
	err := a.record(ctx)
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrCheckedOut) && !errors.Is(err, ErrForeign) {
		// Another process may have moved or locked the branch, or git's gc may have removed
		// an object. Such an error is temporary, so try once more with a comparison from
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
		// A batch limits what a crash can lose, and fits into gitTimeout.
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

// catchUp brings the memory up to date with the branch. If it cannot, it returns the
// branch's whole tree, for a comparison from scratch.
func (a *Audit) catchUp(ctx context.Context, tip string) (tree map[string]string, err error) {
	if a.known && tip != a.tip && tip != "" && a.tip != "" {
		// Usually an audit in another worktree moved the branch. If the old commit is gone,
		// the branch was rewritten, and the comparison from scratch decides.
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
