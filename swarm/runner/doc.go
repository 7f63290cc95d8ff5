// Package runner is the contract of a backend: what a turn is, what may come of
// it, and the processes below it.
//
// A turn is one run of an agent's client program for one claimed message. Its
// client is started in a process group of its own, writes its standard output
// and error into files of the turn, and is followed there; so a client that
// outlives its daemon loses nothing, and a later daemon takes it up again. A
// client can stay for further turns, see [Resident].
//
//	           Started            Event…            result
//	start ────────┬────────────────┬─────────────────┬───────── stdin closed ── exit ── Done
//	  │           │                │                 │                           │
//	  │ Refused   │ NoFirstEvent   │ Failed, Limited │ (10 s: the group is       │
//	  │           │ NoSession      │ Refused         │  killed; still Done)      │
//	              │ PromptNotRun   │ NoSession       │
//	                               │ Stalled, TimedOut, Stopped ── ladder ── exit
//
// The ladder ends a client that was told to end: SIGINT to the leader, 10 s,
// SIGTERM to its group, 5 s, SIGKILL to its group. However a turn ends, what is
// left of its group is killed before the leader is reaped, and then whatever
// still carries the turn's mark ([MarkVar]) in its environment; a tool's child
// has a separate session and is reached by nothing else. Of a client that
// stays, this is done at its own end, for all of its turns: they share a mark,
// since the environment of a process cannot change.
//
// The promise that nothing is left is kept on Linux best with [BecomeReaper],
// which makes orphans of a turn children of the daemon. On macOS a leftover is
// found by its mark alone, and only among the processes of the same user.
//
// A backend lives in a separate package below this one, and passes the suite
// of package runnertest.
package runner
