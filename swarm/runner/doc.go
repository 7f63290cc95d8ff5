// Package runner defines the contract of a backend: turns, their possible outcomes, and
// their processes.
//
// A turn is one run of an agent's client program for one claimed message. The client is
// started in a separate process group. It writes its standard output and error to the
// turn's files, which the backend reads. A client that outlives its daemon therefore
// loses no output, and a later daemon can follow it. A client can stay for further turns;
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
// The ladder terminates a client that has to stop. It sends SIGINT to the leader (or a
// cancel request, if the client's protocol has one), SIGTERM to the group after 10 s, and
// SIGKILL to the group after another 5 s.
//
// Regardless of how a turn ends, the remaining processes of its group are killed before
// the leader is reaped. Then all processes that still carry the turn's mark ([MarkVar])
// in their environment are terminated, for example a tool's child in a separate session.
// The other processes of that session are terminated as well, even those without the
// mark. For a client that stays, this happens when the client exits, for all of its turns
// together. They share a mark, because the environment of a process cannot change.
//
// On Linux, [BecomeReaper] makes a turn's orphans children of the daemon, so that
// [EndAdopted] can find and terminate them. On macOS, a leftover process can be found
// only by its mark or its session, and only if it belongs to the same user.
//
// Each backend is a separate package below this one and must pass the test suite in
// package runnertest.
package runner
