// Package git keeps the audit trail of a swarm: what lies finished in its
// mailboxes, as commits on a separate branch, dead-drop.
//
//	.dead-drop/                           refs/heads/dead-drop
//	    coder/done/2026-11-21/                 * coder: Do PERF-015
//	        1-….md, 1-….receipt.yaml  --+      |   Author: coder
//	    board/status.md                 |      |   Message-Id: k7f3q9m2xd
//	    coder/dead/…                  --+----> |   Turn: …  Trace: …  Cost-USD: …
//	    attach/<sha256>/NAME            |      * reviewer: Look at PERF-014
//	    version, .gitignore           --+      * swarm: record 2 files
//
// There is one commit for each finished turn: the message, its receipt, the notes
// that rode along and the attachments that they name. Its author is the agent, its
// author date the end of the turn, and its committer date when it was recorded.
// Whatever else changed rides along with the newest of them, or makes a commit by
// swarm if there is none. Paths are those of the working tree.
//
// # What is promised
//
// Only this branch, its own reflog and the repository's objects change. The index,
// HEAD and its reflog, the branch that is checked out, the working tree and its
// status stay as they are; no hook runs; nothing is fetched or pushed. The branch
// moves only forward, and only from where it was seen: if somebody else moves it at
// the same moment, what they did stays and ours comes on top. While it is checked
// out somewhere it does not move at all, since that would change what a person
// looks at; what was missed is recorded later.
//
// The branch itself says what is recorded. So a crash at any point, a
// daemon that ran without the audit for a while, and a branch that was deleted all
// end the same way: the next [Audit.Record] makes up for what is missing, one
// commit for each receipt, in the order in which the turns ended.
//
// # What is recorded
//
// It records what .dead-drop/.gitignore leaves: done/, dead/, board/, attach/, version and
// .gitignore, whatever the ignore files outside of .dead-drop say. Of that,
// regular files up to 64 MiB; symlinks, folders in dead/, hidden files and names
// that git refuses in a tree are left out. A file that a person sees vanish from
// board/ or dead/ while the daemon runs vanishes from the newest tree as well and
// stays in the history; done/ and attach/ only ever grow, so a retention of done/
// takes nothing away here.
//
// # What it costs
//
// A turn costs two git processes, for-each-ref and fast-import, and a listing of
// the last two days of done/, of dead/ and of board/. History is compared as a
// whole only by the first Record, and when the branch was rewritten. The
// repository gets loose objects, as from commits made by hand; packing them is
// left to git's own gc. It needs git 2.25 or newer.
package git
