// Package worktree gives the agents of one project working trees of git, so that no agent
// overwrites the files of another, or of a person.
//
//	worktree: agent   .worktrees/coder            branch agent/coder            stays
//	worktree: task    .worktrees/agent-task-ID    branch task/ID                for one task
//	                  .worktrees/agent-task-ID-reviewer, branch task/ID-reviewer: a second
//	                  agent in the same task
//
// A task is everything that began with one message; its ID is the trace of its messages.
// Only the daemon runs git's worktree verbs. It makes the folder before a turn and, for a task,
// removes it when the turn has ended well, nothing in the folder is uncommitted, and the branch
// holds the commit. Nothing is ever forced: git refuses to remove a folder with changes or with
// files that it does not ignore, and then the folder stays. The branch stays, unless nothing was committed on it. A
// further message of the task gets the folder again, with the branch as it is.
//
// # What is promised
//
// The person's own working tree, its index, HEAD, stash and configuration do not change, and no
// hook, filter or other command of the repository runs. Only the branches of the trees above, git's list of worktrees, and one line in
// .git/info/exclude are written.
//
// # What is kept
//
// The ledger, worktrees.json, says for each tree which agent and task it is for, the commit at
// which its branch began, and the branch that was checked out in the project at that time, into
// which a person may merge it. A change of a tree takes two steps in the ledger, so that a later
// daemon finishes what a crash interrupted ([Trees.Reconcile]):
//
//	making     before git worktree add; nobody has worked in the folder yet
//	ready      the folder is complete
//	removing   before git worktree remove
//	removed    the folder is gone; the branch is there
//
// A copy of each entry is in git's own folder of the tree, from which a lost ledger is made again.
//
// Work that is left uncommitted when a task is given up goes into a commit [INCOMPLETE] on the
// tree's branch ([Trees.Incomplete]), unless a merge, a rebase or the like has begun there.
package worktree
