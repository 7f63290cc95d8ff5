// Package merge brings the branches of finished tasks into their target, one at a time.
//
// Each merge is one JSON file, and each change of its state is one rename:
//
//	new --take--> cur --> done     the target contains the branch
//	 ^             |\---> dead     a conflict, a red verifier, or the branch is not as it was
//	 \----wait-----/               the target cannot be written now; the file says why
//
// A merge happens in a temporary working tree, so that nobody's files change before it is known
// to be good. Only then is the target written:
//
//	work tree   git worktree add --detach TARGET; git merge COMMIT; write-tree
//	verify      the merged files, if a verifier is configured
//	commit      a merge commit with the trailers Task, Agent, Verified and Merge-Id
//	publish     no working tree has the target: git update-ref TARGET NEW OLD
//	            one has it, and is clean:        git merge --ff-only NEW, there
//	            it has changes:                  the merge waits
//
// If the target moves meanwhile, publishing fails and the merge begins again from the new target.
// Nothing is forced, and no hook runs.
//
// # Who runs it
//
// The program that a person started runs the queue itself, under a lock file; the daemon takes no
// part. A merge is a person's decision, and its result concerns the person's own folder: so the
// error, the wait and Ctrl-C belong to the person's command, and a merge works the same without a
// daemon. A second program waits for the lock, and finds its merge done or does it.
//
// # What a crash leaves
//
// A program that is killed at any point loses no merge and makes none twice. The next one first
// finishes what is in cur: it asks git whether the target contains the commit, and does not
// believe its own notes. It also removes the temporary working tree. A git process that the
// killed program had started may still be running; it can only move the target from the commit
// that it knew.
package merge
