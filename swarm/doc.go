// Package swarm is the daemon: it says which agents there are, when each of them works,
// and what a failure, a usage limit or an order means for it.
//
// One goroutine runs one agent; an error of an agent is a state of that agent alone. An
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
// The agent claims a message with package mail, runs a turn for it with package turn, and
// settles what came of it with package mail again:
//
//	step: held? -> mail: Claim, Refuse, TakeNotes -> turn: Run -> mail: Commit, Finish
//	                                                          \-> mail: PutBackAll, GiveUp
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
// Mail lies in the mailboxes of package dropbox. The daemon's other files lie
// in a [journal.Home]: a record and a stream for each turn, the ledger, the windows,
// the sessions, what was paused or stopped. The layout of the first is in
// docs/message-format.md, that of the second in docs/architecture.md, which also says
// where each piece of an agent's state lives.
//
// # Sockets
//
// A swarm runs clients through [runner.Backend], and tells each [mail.Listener] what happens,
// by the list of events of package journal: alerts reach the lead so, and people on IRC see
// what the agents do. What an agent writes this moment is in the [Swarm.Subscribe] feed.
package swarm
