// Package runner is the contract of a backend: a turn, its possible outcomes, and its
// processes.
//
// A turn is one run of an agent's client program for one claimed message. Its client is
// started in a separate process group and writes its standard output and error to files
// of the turn, from which the backend reads. So a client that outlives its daemon loses
// no output, and a later daemon can follow it again. A client can stay for more turns;
// see [Resident].
//
//	           Started            Event…            result
//	start ────────┬────────────────┬─────────────────┬───────── stdin closed ── exit ── Done
//	  │           │                │                 │                           │
//	  │ Refused   │ NoFirstEvent   │ Failed, Limited │ (10 s: the group is       │
//	  │           │ NoSession      │ Refused         │  killed; still Done)      │
//	              │ PromptNotRun   │ NoSession       │
//	                               │ Stalled, TimedOut, Stopped ── ladder ── exit
//
// The ladder ends a client that has to stop: SIGINT to the leader (or a cancel request, if
// the protocol of the client has one), 10 s, SIGTERM to its group, 5 s, SIGKILL to its group.
//
// However a turn ends, the rest of its group is killed before the leader is reaped. Then
// all processes that still carry the turn's mark ([MarkVar]) in their environment are
// ended, for example a tool's child in a separate session. The other processes of that
// session are ended too, even those without the mark. For a client that stays, this
// happens when the client ends, for all of its turns: they share a mark, because the
// environment of a process cannot change.
//
// On Linux, [BecomeReaper] helps to keep the promise that nothing is left behind: a
// turn's orphans become children of the daemon. On macOS a leftover can be found only by
// its mark or its session, and only if it belongs to the same user.
//
// Each backend is a separate package below this one, and passes the test suite of package
// runnertest.
package runner
