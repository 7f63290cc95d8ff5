package swarm

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/git"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

const (
	// driftPause is the length of a pause between two turns after which a person may have
	// changed files. In a shorter one, only a commit or another agent's turn counts.
	driftPause = time.Minute
	// driftTime limits how long a turn waits for git. A slow git must not hold the turn.
	driftTime = 2 * time.Second
	// driftCommits is the maximum number of commits that are counted.
	driftCommits = 50
)

// fileWrites remembers which files the turns of this daemon wrote. The files are those of the
// receipts. It is safe for concurrent use.
type fileWrites struct {
	mu sync.Mutex
	by map[string][]fileWrite // by agent, oldest first
}

type fileWrite struct {
	at    time.Time
	files []string
}

// maxWrites is the number of turns that are remembered for each agent.
const maxWrites = 32

// add adds a turn that ended.
func (w *fileWrites) add(agent string, at time.Time, files []string) {
	if len(files) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by == nil {
		w.by = map[string][]fileWrite{}
	}
	all := append(w.by[agent], fileWrite{at, files})
	w.by[agent] = all[max(0, len(all)-maxWrites):]
}

// since returns the files that an agent's turns wrote that ended after a time, sorted.
func (w *fileWrites) since(agent string, t time.Time) (files []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.by[agent] {
		if one.at.After(t) {
			files = append(files, one.files...)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// treeDrift finds out how an agent's folder has changed since its last turn. It keeps nothing:
// the ledger knows when the turn ended, and git's reflog where HEAD was then.
type treeDrift struct {
	name   string
	ledger *journal.Ledger
	writes *fileWrites
	plan   func() Plan
	skip   []string // folders with files of our own
	log    *slog.Logger
	failed bool // that git does not answer was logged
}

// text returns the lines of the prompt about the drift, or "". It starts at most two git
// processes, and none if nothing can have changed, or if the folder is in no repository.
func (d *treeDrift) text(ctx context.Context, s turn.Settings, now time.Time) string {
	last, ok := d.ledger.Last(d.name)
	if !ok || s.Session == turn.SessionFresh { // a fresh session remembers no state that could have changed
		return ""
	}
	dir := s.Client.Dir
	moves, inTree, err := git.MovesSince(dir, last.At)
	if err == nil && !inTree {
		return ""
	}
	drift := mail.Drift{Since: last.At, From: moves.From, To: moves.To, FromBranch: moves.FromBranch, ToBranch: moves.ToBranch}
	busy := d.others(&drift, dir, last.At)
	if err == nil && moves.From == "" && !busy && now.Sub(last.At) < driftPause {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, driftTime)
	defer cancel()
	if err == nil {
		err = d.ask(ctx, &drift, moves, dir)
	}
	if err != nil && !errors.Is(err, git.ErrNoGit) && !d.failed && !errors.Is(context.Cause(ctx), context.Canceled) {
		d.failed = true
		d.log.Warn("git did not tell in time what has changed since the last turn; this is logged only once", keyErr, err)
	}
	return drift.Text()
}

// others adds the files that other agents wrote, and reports whether one of them had a turn.
func (d *treeDrift) others(drift *mail.Drift, dir string, since time.Time) (busy bool) {
	for _, a := range d.plan().Agents {
		if a.Name == d.name {
			continue
		}
		if l, ok := d.ledger.Last(a.Name); ok && l.At.After(since) {
			busy = true
		}
		files := d.writes.since(a.Name, since)
		for i, f := range files {
			files[i] = pathBelow(dir, f)
		}
		if len(files) > 0 {
			drift.Agents = append(drift.Agents, mail.AgentFiles{Agent: a.Name, Files: files})
		}
	}
	return busy
}

// ask asks git about the commits, and about the files that are not in them.
func (d *treeDrift) ask(ctx context.Context, drift *mail.Drift, moves git.HeadMoves, dir string) error {
	environ := os.Environ()
	committed := map[string]bool{}
	if moves.From != "" && moves.From != moves.To {
		authors, paths, err := git.CommitsBetween(ctx, environ, dir, moves.From, moves.To, driftCommits+1)
		if err != nil {
			return err
		}
		drift.Commits, drift.More = min(len(authors), driftCommits), len(authors) > driftCommits
		slices.Sort(authors)
		drift.Authors, committed = slices.Compact(authors), paths
	}
	if moves.From != "" && !moves.Commits {
		return nil // a switch of branches has written files, too
	}
	files, err := git.WrittenSince(ctx, environ, dir, drift.Since)
	if err != nil {
		return err
	}
	drift.Files = slices.DeleteFunc(files, func(path string) bool {
		full := filepath.Join(dir, path)
		return slices.ContainsFunc(d.skip, func(folder string) bool { return pathBelow(folder, full) != full }) ||
			slices.ContainsFunc(drift.Agents, func(a mail.AgentFiles) bool { return slices.Contains(a.Files, path) }) ||
			isCommitted(committed, path)
	})
	return nil
}

// isCommitted reports whether commits contain a file. The paths in commits begin at the root of
// the tree, and path may begin at a folder in it.
func isCommitted(committed map[string]bool, path string) bool {
	if committed[path] {
		return true
	}
	for c := range committed {
		if strings.HasSuffix(c, "/"+path) {
			return true
		}
	}
	return false
}

// pathBelow returns a path relative to a folder if it is in it, and otherwise unchanged.
func pathBelow(dir, path string) string {
	if rel, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/")+"/"); ok {
		return rel
	}
	return path
}
