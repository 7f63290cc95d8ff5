package swarm

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/worktree"
)

// bringMail moves the files that an agent dropped into the mailboxes of its working tree into
// those of the project, where they are taken in as dropped by rec's turn. rec is nil if the turn
// is unknown. A file that the branch has is not mail. No process of the agent may work in the
// tree any more.
func (t *agentTree) bringMail(ctx context.Context, tree worktree.Tree, rec *journal.Record) error {
	store := t.inbox.Service.Store
	here := t.trees.WorkDir(tree, store.Dir())
	// A link would lead out of the tree.
	if real, err := filepath.EvalSymlinks(here); errors.Is(err, fs.ErrNotExist) || err == nil && (real != here || here == t.trees.Path(tree)) {
		return nil
	} else if err != nil {
		return err
	}
	mailboxes, err := store.Mailboxes()
	if err != nil {
		return err
	}
	var tracked map[string]bool
	var errs []error
	for _, mailbox := range mailboxes {
		folder := filepath.Join(here, mailbox)
		info, err := os.Lstat(folder)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			continue
		}
		names, err := dropbox.DropsIn(folder)
		errs = append(errs, err)
		if len(names) > 0 && tracked == nil {
			if tracked, err = t.trees.Tracked(ctx, tree, store.Dir()); err != nil {
				return errors.Join(append(errs, err)...)
			}
		}
		for _, name := range names {
			if !tracked[filepath.Join(folder, name)] {
				errs = append(errs, t.bringFile(folder, mailbox, name, rec))
			}
		}
	}
	return errors.Join(errs...)
}

// bringFile moves one file into a mailbox. It replaces no file there.
func (t *agentTree) bringFile(folder, mailbox, name string, rec *journal.Record) error {
	service := t.inbox.Service
	to := filepath.Join(service.Store.Dir(), mailbox, name)
	if _, err := os.Lstat(to); err == nil {
		ext := filepath.Ext(name)
		to = filepath.Join(filepath.Dir(to), name[:len(name)-len(ext)]+"-"+dropbox.NewID()+ext)
	}
	if rec != nil {
		// The move is a call of the turn, which makes the turn the origin of the file.
		id := "moved " + to
		service.Reach.Began(rec, id, []byte(to), false)
		defer service.Reach.Ended(rec.Agent, id)
	}
	if err := os.Rename(filepath.Join(folder, name), to); err != nil {
		return err
	}
	service.Log.Info("a file in an agent's working tree was moved to its mailbox", keyAgent, t.name, "file", name, "to", mailbox)
	return nil
}
