// Package swarm is the daemon: it owns the agents, wakes them for their mail,
// runs their turns, and files what comes of it.
//
// One goroutine owns one agent; its error is its state, never another's. An
// agent works on one message at a time:
//
//	         mail                 place free             good end
//	idle ---------> queued -----------------> working -------------> idle
//	 ^                ^                          |
//	 |                |      failed              v
//	 |                +---------------------- backoff
//	 |                |      usage limit         |
//	 |                +---------------------- limited
//	 |   resume                                  |
//	 +---------- paused  <--- by hand            |
//	 |   start                                   |
//	 +---------- stopped <--- by hand, or the breaker after failures
//
// # What is promised
//
// A message that was accepted is done, or ends in dead/ with the reason and
// somebody is told. It is claimed at the start of a turn and acknowledged at
// its good end; whatever cuts in between, the next start of the daemon finds
// out from the files how far it came, and goes on from there (see takeup.go).
// The commit point of a turn is its receipt, durable beside the message in
// cur/: before it the message is put back, after it only filed.
//
// # Files
//
// Mail lies in the mailboxes of package dropbox. The daemon's own files lie
// in a [Home]: a record and a stream for each turn, the ledger, the windows,
// the sessions, what was paused or stopped. The layout of the first is in
// docs/message-format.md, that of the second in docs/architecture.md.
//
// # Sockets
//
// A swarm runs clients through [runner.Backend], and tells each [Listener] what happens,
// by the list of events of package journal: alerts reach the lead so, and people on IRC see
// what the agents do. What an agent writes this moment is in the [Swarm.Subscribe] feed.
package swarm
