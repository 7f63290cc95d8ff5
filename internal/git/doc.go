// Package git keeps the audit trail of a swarm: the finished mail in its mailboxes, as
// commits on a separate branch, dead-drop.
//
//	.dead-drop/                           refs/heads/dead-drop
//	    coder/done/2026-11-21/                 * coder: Do PERF-015
//	        1-….md, 1-….receipt.yaml  --+      |   Author: coder
//	    board/status.md                 |      |   Message-Id: k7f3q9m2xd
//	    coder/dead/…                  --+----> |   Turn: …  Trace: …  Cost-USD: …
//	    attach/<sha256>/NAME            |      * reviewer: Look at PERF-014
//	    version, .gitignore           --+      * swarm: record 2 files
//
// Each finished turn is one commit: the message, its receipt, the notes that were in the
// same prompt and the attachments that they name. Its author is the agent, its author date
// the end of the turn, and its committer date the time of recording. Other changes are
// part of the newest of these commits, or of a commit by swarm if there is no turn. Paths
// are as in the working tree.
//
// # What is promised
//
// Only this branch, its reflog and the repository's objects change. The index, HEAD and its
// reflog, the branch that is checked out, the working tree and its status stay as they are;
// no hook runs; nothing is fetched or pushed. The branch moves only forward, and only from
// the commit that the audit has read. If somebody else moves it at the same moment, their
// commits stay, and the audit's commits follow them. While the branch is checked out
// somewhere, it does not move, because that would change a person's view; the missing turns
// are recorded later.
//
// The branch itself shows what is recorded. So a crash at any point, a daemon that ran
// without the audit for a while, and a deleted branch are all handled the same way: the
// next [Audit.Record] records what is missing, one commit for each turn, in the order in
// which the turns ended.
//
// # What is recorded
//
// The audit records what .dead-drop/.gitignore does not ignore: done/, dead/, board/,
// attach/, version and .gitignore; ignore files outside of .dead-drop have no effect. It
// records regular files up to 64 MiB, and leaves out symlinks, folders in dead/, hidden
// files and names that git refuses in a tree. A file that is removed from board/ or dead/
// while the daemon runs is removed from the newest tree as well and stays in the history.
// On the branch, done/ and attach/ only grow, so the retention of done/ removes nothing
// there.
//
// # What it costs
//
// A turn costs two git processes, for-each-ref and fast-import, and one listing each of
// dead/, of board/ and of the last two days of done/. Only the first Record, and a Record
// after an error or after a rewrite of the branch, compare the whole history. The repository
// gets loose objects, as from commits made by hand; git's gc packs them. The audit needs git
// 2.25 or newer.
package git
