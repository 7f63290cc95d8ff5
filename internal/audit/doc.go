// Package audit keeps a swarm's audit trail: it records the finished mail in the
// mailboxes as commits on a separate branch, dead-drop.
//
//	.dead-drop/                           refs/heads/dead-drop
//	    coder/done/2026-11-21/                 * coder: Do PERF-015
//	        1-….md, 1-….receipt.yaml  --+      |   Author: coder
//	    board/status.md                 |      |   Message-Id: k7f3q9m2xd
//	    coder/dead/…                  --+----> |   Turn: …  Trace: …  Cost-USD: …
//	    attach/<sha256>/NAME            |      * reviewer: Look at PERF-014
//	    version, .gitignore           --+      * swarm: record 2 files
//
// Each finished turn becomes one commit, which contains the message, its receipt, the
// notes that were in the same prompt, and the attachments of these messages. Its author is
// the agent, its author date is the end of the turn, and its committer date is the time of
// recording. Other changes become part of the newest of these commits or, if there is no
// turn, of a separate commit by swarm. Paths are the same as in the working tree.
//
// # What is promised
//
// Only this branch, its reflog and the repository's objects change. The index, HEAD and its
// reflog, the branch that is checked out, the working tree and its status do not change. No
// hook runs, and nothing is fetched or pushed. The branch moves only forward, and only from
// the commit that the audit has read. If another program moves it at the same time, that
// program's commits are kept, and the audit's commits follow them. While the branch is
// checked out somewhere, the audit does not move it, because that would affect a person's
// working tree; the missing turns are recorded later.
//
// The branch itself shows what has been recorded. A crash at any point, a daemon that ran
// without the audit for a while, and a deleted branch are therefore all handled in the
// same way: the next [Audit.Record] records the missing changes, with one commit for each
// turn, in the order in which the turns ended.
//
// # What is recorded
//
// The audit records what .dead-drop/.gitignore does not ignore, which is done/, dead/,
// board/ and attach/, and also version and .gitignore, so that a checkout of the branch
// contains mailboxes that can be opened. Git's ignore files outside .dead-drop have no effect.
// The audit records regular files up to 64 MiB, and leaves out symbolic links, folders in
// dead/, hidden files, and files whose names git refuses in a tree. A file that is
// removed from board/ or dead/ while the daemon is running is also removed from the
// newest tree, but remains in the history. On the branch, files are only added to done/
// and attach/; files that retention removes from done/ remain there.
//
// # What it costs
//
// For each turn, the audit starts two git processes, for-each-ref and fast-import, and lists
// dead/, board/ and the last two days of done/ once. Only the first Record, and a Record
// after an error or after a rewrite of the branch, compare the whole history. The audit adds
// loose objects to the repository, just as manual commits do; git's gc packs them. The audit
// needs git 2.25 or newer.
package audit
