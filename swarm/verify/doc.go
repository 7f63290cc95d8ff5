// Package verify runs verifiers. A verifier is a command line from the configuration, such as
// "make test", that judges a commit. It runs in a clean, detached working tree of git at that
// commit, and its exit status decides:
//
//	green    status 0
//	red      another status, or a signal
//	not run  it was stopped at its time or memory limit, its command does not exist, or the
//	         working tree could not be made; nothing is known about the commit
//
// # What is run
//
// A verifier executes the code of the commit, and so the code of an agent, as the user of the
// daemon. Only its command line is protected: it comes from the configuration of the project, never
// from the commit. Files that match the patterns in protect are taken from the target, the commit
// into which the work is to be merged. An agent that edits a protected test gains nothing.
//
// The command does not get the project's tokens or the turn of an agent. It carries a mark that
// begins with [runner.VerifierMark]; whoever has it may not use the swarm. Its standard input is
// empty. The last lines of its output are kept; the rest costs neither memory nor disk. At the
// end, all processes that it started are ended: its process group, those with its mark, and the
// sessions that they started.
//
// # What is kept
//
// The verdict of a green run is cached. The key consists of the tree that was run, with the
// protected files of the target, and of the verifier's own lines. A red verdict is not cached, and
// a verifier is not repeated, so a test that passes only the second time is red.
//
// # The working tree
//
// Each run has a folder, its lock and an index in the folder verify of the daemon's own folder,
// which git ignores:
//
//	ID.lock   locked by the process that runs the verifier, from before the folder exists until
//	          everything is removed; created and locked under the lock of the folder verify.
//	          It contains that process, so that no descendant of it counts as a person
//	ID.index  the tree that is run; only while it is built
//	ID        the working tree
//
// The process may be killed at each step. [Runner.Sweep] finds the locks that nobody holds, ends
// the processes with the mark ID, and removes what is there.
package verify
